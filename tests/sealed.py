"""Files as the project writes them, made or changed by tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import safetensors
import safetensors.numpy

from probzero import files, tensor_files
from probzero.config import Network
from probzero.games.base import Game, list_moves
from probzero.learning.dataset import Samples, by_action
from probzero.network.checkpoint import CheckpointInfo
from probzero.origin import Origin
from probzero.tables import write_csv

MADE = Origin(command="test", seed=0, iteration=1, shard=0)


def made(**changes: Any) -> Origin:
    return MADE.model_copy(update=changes)


def checkpoint_info(game: Game, network: Network, **changes: Any) -> CheckpointInfo:
    return CheckpointInfo(made(**changes), game, network)


def redescribe(path: Path, signed: bool = True, **changes: Any) -> None:
    """Change or drop (None) entries of a tensor file's description; if `signed`, its checksum is made right again."""
    with safetensors.safe_open(path, "numpy") as opened:
        description = json.loads(opened.metadata()[tensor_files.METADATA_KEY])
        arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    description = {name: value for name, value in {**description, **changes}.items() if value is not None}
    if signed and "checksum" not in changes:
        del description["checksum"]
        description["checksum"] = tensor_files.checksum(arrays, description)
    data = safetensors.numpy.save(arrays, {tensor_files.METADATA_KEY: json.dumps(description, sort_keys=True)})
    path.write_bytes(data)


def rearrange(path: Path, **changes: np.ndarray) -> None:
    """Put other arrays into a tensor file, rightly signed."""
    with safetensors.safe_open(path, "numpy") as opened:
        metadata = opened.metadata()
        arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    path.write_bytes(safetensors.numpy.save({**arrays, **changes}, metadata))
    redescribe(path)


def write_metrics(path: Path, content: Any, kind: str = files.METRICS, **origin: Any) -> Path:
    """Write numbers of an iteration, or of one of its shards, as the job that they name would; return the path."""
    numbers = {name: content.get(name) for name in ("iteration", "shard")} if isinstance(content, dict) else {}
    files.write(path, json.dumps(content).encode(), kind, made(**numbers, **origin))
    return path


def copy(path: Path, target: Path) -> Path:
    """Copy a file with its seal."""
    for source, new in ((path, target), (files.seal_of(path), files.seal_of(target))):
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(source.read_bytes())
    return target


def reseal(path: Path, change: Callable[[bytes], bytes] = bytes, **origin: Any) -> None:
    """Change a sealed file's bytes or its origin, and seal it anew: as if the writer had written it so."""
    content = json.loads(files.seal_of(path).read_text())
    found = Origin(**{**content["origin"], **origin})
    files.write(path, change(path.read_bytes()), content["kind"], found)


def rewrite_table(path: Path, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    """Change a sealed table and seal it anew."""
    content = json.loads(files.seal_of(path).read_text())
    table = pd.read_csv(path, dtype={"outcomes": str})
    write_csv(path, change(table), content["kind"], Origin(**content["origin"]))


def wide(samples: Samples, game: Game) -> tuple[np.ndarray, np.ndarray]:
    """Policy and mask of samples by action [n, A]."""
    moves = list_moves(game.legal(samples.states), samples.policy.shape[1])
    return by_action(samples.policy, moves, game.actions), by_action(samples.mask, moves, game.actions)
