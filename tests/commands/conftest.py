"""A finished run of the commands, and copies of its inputs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from pipeline import Commands, tiny


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """Commands choose their number of threads; the next test has its own."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Commands:
    commands = Commands(tmp_path_factory.mktemp("run"), tiny())
    assert commands.init() == 0
    assert commands.selfplay(0) == 0 and commands.selfplay(1) == 0
    assert commands.train("shard0.safetensors", "shard1.safetensors") == 0
    assert commands.match() == 0
    return commands


@pytest.fixture
def copy(finished: Commands, tmp_path: Path) -> Commands:
    """The inputs of a finished run in a folder of their own."""
    for name in ("0000.safetensors", "opt0.safetensors", "shard0.safetensors"):
        (tmp_path / name).write_bytes((finished.folder / name).read_bytes())
    return Commands(tmp_path, tiny())
