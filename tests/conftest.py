"""Fixtures that several files share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
import torch

# How long an example takes says nothing of the code; and what fails does so in every run, or in none.
hypothesis.settings.register_profile("patient", deadline=None, derandomize=True)
hypothesis.settings.load_profile("patient")

# Files that take longest, the longest first: a long one that began last would leave the other processors idle. (Left to
# itself, pytest-xdist begins with the files of most tests, and ends with those of few that take minutes.)
LONGEST = (
    "workflow/test_workflow.py",
    "test_readers.py",
    "workflow/test_study_workflow.py",
    "test_resealed_readers.py",
    "test_templates_loaded.py",
    "workflow/test_tables_workflow.py",
    "front_ends/test_uci.py",
    "search/test_forms.py",
    "workflow/test_conda.py",
    "search/test_conservation.py",
    "truth/test_problems.py",
    "test_devices.py",
    "kernels/test_compile.py",
    "commands/test_without_torch.py",
    "commands/test_command_line.py",
    "search/test_mcts.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests = Path(__file__).parent
    order = {(tests / name).resolve(strict=True): place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path, len(order)))


@pytest.fixture
def quick_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that is written need outlast the machine, where a test writes thousands of files."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def database4(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a database of 4×4 Othello, which nobody may change."""
    from made_database import make

    folder = tmp_path_factory.mktemp("database") / "othello-size4"
    make(folder)
    return folder
