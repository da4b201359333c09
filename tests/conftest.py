"""Fixtures that several files share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
import torch

hypothesis.settings.register_profile("patient", deadline=None)  # how long an example takes says nothing of the code
hypothesis.settings.load_profile("patient")


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
