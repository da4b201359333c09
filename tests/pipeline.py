"""The pipeline by hand: its commands one by one, at the smallest scale, and how they must refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from probzero.__main__ import main
from probzero.files import SEALS

ROOT = Path(__file__).parents[1]
TINY = {
    "experiment": "test",
    "seeds": [3],
    "game": {"size": 4},
    "network": {"blocks": 1, "channels": 8},
    "selfplay": {"games": 2, "particles": 2, "batches": 2, "capacity": 5000},
    "training": {"iterations": 2, "batch_size": 16, "samples": 64, "replay_window": 2},
    "arena": {"checkpoints": [0, 1], "openings": 2, "opening_plies": 2, "particles": 2, "batches": 1, "capacity": 5000},
}


def tiny(**changes: dict[str, Any]) -> str:
    """The smoke scale on 4×4 boards, small enough for a test, with changes by section; as JSON."""
    raw = yaml.safe_load((ROOT / "config" / "smoke.yaml").read_text(encoding="utf-8"))
    for part in (TINY, changes):
        for name, value in part.items():
            raw[name] = {**raw[name], **value} if isinstance(value, dict) else value
    return json.dumps(raw)


def files(folder: Path) -> list[str]:
    """The files of a folder but for their seals."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.parent.name != SEALS)
    return sorted(str(path.relative_to(folder)) for path in found)


class Commands:
    """A run of the pipeline by hand, each method one command."""

    def __init__(self, folder: Path, settings: str) -> None:
        self.folder = folder
        self.common = ["--config", settings, "--seed", "3"]

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def init(self) -> int:
        outputs = ["--checkpoint", self.path("0000.safetensors"), "--optimizer", self.path("opt0.safetensors")]
        return main(["init", *self.common, *outputs])

    def selfplay(self, shard: int = 0, checkpoint: str = "0000.safetensors") -> int:
        kinds = {"dataset": "safetensors", "games": "csv", "metrics": "json"}
        outputs = [f"--{name}={self.path(f'shard{shard}.{kind}')}" for name, kind in kinds.items()]
        outputs.append(f"--costs={self.path(f'costs/shard{shard}.json')}")
        where = ["--iteration", "1", "--iterations", "2", "--shard", str(shard), "--checkpoint", self.path(checkpoint)]
        return main(["selfplay", *self.common, *where, *outputs])

    def train(self, *datasets: str) -> int:
        inputs = ["--checkpoint", self.path("0000.safetensors"), "--optimizer", self.path("opt0.safetensors")]
        outputs = ["--new-checkpoint", self.path("0001.safetensors"), "--new-optimizer", self.path("opt1.safetensors")]
        data = ["--datasets", *map(self.path, datasets), "--metrics", self.path("train.json")]
        outputs += ["--costs", self.path("costs/train.json")]
        return main(["train", *self.common, "--iteration", "1", *inputs, *outputs, *data])

    def match(self, *more: str) -> int:
        players = [f"iteration-{number:04}={self.path(f'{number:04}.safetensors')}" for number in (1, 0)]
        where = ["--player", players[0], "--against", players[1], "--output", self.path("iteration-0001.csv")]
        return main(["tournament", *self.common, *where, *more])

    def truth(self, *more: str) -> int:
        outputs = [f"--{name}={self.path(f'{name}.csv')}" for name in ("kept", "calibration", "perfect")]
        inputs = ["--checkpoint", self.path("0000.safetensors"), "--positions", self.path("positions.csv")]
        return main(["truth", *self.common, "--name", "a", *inputs, *outputs, *more])


def refused(status: int, capsys: pytest.CaptureFixture[str], *expected: str) -> str:
    """Check that a command ended as bad input must; return its one line."""
    captured = capsys.readouterr()
    assert status == 2
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("probzero: error: ")
    for text in expected:
        assert text in line
    return line
