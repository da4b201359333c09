"""Every kind of file that is read: a small one of each, and its reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from made_matches import record, write_record
from made_samples import invented
from published_form import published_state
from pydantic import BaseModel
from sealed import made

from probzero import config, files, games, machine, study
from probzero.config import Network
from probzero.games.random_play import play_by_seed
from probzero.learning.dataset import read_samples, write_samples
from probzero.learning.published_dataset import export_samples, import_samples
from probzero.learning.selfplay import GAMES
from probzero.network import checkpoint
from probzero.network.model import build
from probzero.network.published import read_published
from probzero.origin import Origin
from probzero.report import manifest, reference, truth, truth_inputs
from probzero.report.study import inputs
from probzero.report.tables import read_matches, read_metrics
from probzero.tables import TABLE, read_table, write_csv
from probzero.truth import positions
from probzero.truth.blunders import BLUNDERS, count_blunders, read_games

GAME = games.make("othello", size=4)
NETWORK = Network(blocks=1, channels=4)
ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Kind:
    """`write` makes the file as a command of this origin would; `read` reads it, wanting that origin if there is one.

    A file is `sealed` if it carries a checksum, inside (tensor files) or beside it: damage is then always found."""

    name: str
    write: Callable[[Path, Origin], None]
    read: Callable[[Path, dict[str, Any]], Any]
    sealed: bool = True

    @property
    def tensors(self) -> bool:
        return self.sealed and self.name.endswith(".safetensors")


@cache
def network() -> checkpoint.ProbZeroNet:
    return build(GAME.shape, NETWORK, 1)


def _info(by: Origin) -> checkpoint.CheckpointInfo:
    return checkpoint.CheckpointInfo(by, GAME, NETWORK)


def _write_optimizer(path: Path, by: Origin) -> None:
    state = {
        name: torch.ones(shape, dtype=dtype) for name, (shape, dtype) in checkpoint.optimizer_shapes(network()).items()
    }
    checkpoint.save_optimizer(path, network(), state, _info(by))


@cache
def _matches() -> pd.DataFrame:
    return record(GAME, "greedy", ["random"])


@cache
def played() -> pd.DataFrame:
    rows = [row[row >= 0] for row in play_by_seed(GAME, 3, GAME.longest_game, seed=9).action.T]
    moves = [GAME.move_names(row) for row in rows]
    return pd.DataFrame({"game": range(3), "opening_moves": "", "moves": moves})


@cache
def evaluation_set() -> pd.DataFrame:
    return positions.labelled(GAME, positions.from_random_play(GAME, 1, seed=5), "random", threads=1)


def _metrics(by: Origin) -> dict[str, Any]:
    return {"iteration": by.iteration, "shard": by.shard, "games": 12, "loss": 0.25}


def _of_player(table: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame({"player": "iteration-0001", **table})


KEPT = {
    "source": ["random"] * 2, "phase": [4, 5], "particles": [0, 0], "positions": [3, 4], "kept": [2, 4],
    "outcomes": ["101", "1111"],
}  # fmt: skip
COUNTED = {"games": 2, "moves": 20, "blunders": 3, "blunders_per_game": 1.5, "result_lost_per_game": 1.0,
           "games_without_blunder": 0}  # fmt: skip
CALIBRATION = {
    "head": ["value"], "outcome": ["win"], "bin": [3], "predictions": [4], "mean_prediction": [0.35],
    "frequency": [0.25], "brier": [0.5], "log_loss": [0.7],
}  # fmt: skip
PERFECT = {"opening": [0, 1], "result": [1, -1]}


def _player_table(name: str, content: dict[str, Any], columns: Mapping[str, type]) -> Kind:
    return Kind(
        f"iteration-0001/{name}.csv",
        lambda path, by: write_csv(path, _of_player(content), name, by.about("iteration-0001")),
        lambda path, wanted: truth.collect([path], columns, name, **wanted),
    )


def _write_measures(path: Path, by: Origin) -> None:
    """Measures, costs and ratings of two seeds; a sibling that takes the first's place is of the second seed."""
    folder = path.parent
    for seed, first in ((by.seed, True), (1, False)):
        which, spent = 0 if first else 1, {"variant": "mine", "iteration": 1, "seed": seed}
        measured = {
            **spent,
            "phase": 4,
            "positions": 5.0,
            "kept": 3.0,
            "outcomes": "11010",
            **dict.fromkeys(inputs.WORK, 1.0),
        }
        rows = pd.DataFrame([{**measured, "particles": particles} for particles in (0, 64)])
        write_csv(folder / f"measures{which}.csv", rows, inputs.MEASURED, made(seed=seed))
        costs = pd.DataFrame([{**spent, **dict.fromkeys(inputs.COSTS, 1.0)}])
        write_csv(folder / f"costs{which}.csv", costs, files.COSTS, made(seed=seed))
        _write_rating(folder / f"ratings{which}.csv", made(seed=seed))


def _write_rating(path: Path, by: Origin) -> None:
    rating = {"seed": by.seed, "player": "mine", "rating": 10.0, "standard_error": 2.0}
    write_csv(path, pd.DataFrame([rating]), TABLE, by)


def _read_study(path: Path, wanted: dict[str, Any]) -> Any:
    described = {
        "mine": study.Description.model_construct(role="reference", idea="one", label="mine", says="the reference")
    }
    parts = [[path.with_name(f"{kind}{seed}.csv") for seed in (0, 1)] for kind in ("measures", "costs", "ratings")]
    found = inputs.read_results(*parts, described)
    return found.work, found.costs, found.ratings, [found.shares[key].scores for key in sorted(found.shares)]


def _write_manifest(path: Path, by: Origin) -> None:
    write_csv(path.parent / "table.csv", _matches(), TABLE, made())
    checkpoint.save_checkpoint(path.parent / "checkpoints" / "one.safetensors", network(), _info(made()))
    manifest.write_manifest(path.parent)


def _read_manifest(path: Path, wanted: dict[str, Any]) -> int:
    count, wrong = manifest.faults(path.parent)
    if wrong:
        raise files.bad("manifest", path, "no faults", wrong[0].replace("\n", " "))
    return count


KINDS = {
    "dataset": Kind(
        "data.safetensors",
        lambda path, by: write_samples(path, invented(GAME, 6), GAME, by),
        lambda path, wanted: read_samples(path, GAME, **wanted),
    ),
    "checkpoint": Kind(
        "0001.safetensors",
        lambda path, by: checkpoint.save_checkpoint(path, network(), _info(by)),
        lambda path, wanted: checkpoint.load_checkpoint(path, GAME, **wanted),
    ),
    "optimiser": Kind(
        "0001.safetensors",
        _write_optimizer,
        lambda path, wanted: checkpoint.load_optimizer(path, network(), **wanted),
    ),
    "match record": Kind(
        "greedy.csv",
        lambda path, by: write_record(path, _matches(), by.seed or 0),
        lambda path, wanted: read_matches([path], GAME, **wanted),
    ),
    "games of self-play": Kind(
        "games.csv",
        lambda path, by: write_csv(path, played(), GAMES, by),
        lambda path, wanted: count_blunders(GAME, read_games([path], **wanted), threads=1),
    ),
    "evaluation set": Kind(
        "positions.csv",
        lambda path, by: write_csv(path, evaluation_set(), positions.KIND, by),
        lambda path, wanted: positions.read_positions(path, GAME, **wanted),
    ),
    "metrics": Kind(
        "metrics.json",
        lambda path, by: files.write_json(path, _metrics(by), files.METRICS, by),
        lambda path, wanted: read_metrics(path, ("iteration", "shard", "games", "loss"), **wanted),
    ),
    "blunders": Kind(
        "blunders.json",
        lambda path, by: files.write_json(path, {**COUNTED, "iteration": by.iteration}, BLUNDERS, by),
        lambda path, wanted: truth_inputs.read_blunders(path, **wanted),
    ),
    "kept": _player_table("kept", KEPT, truth.KEPT),
    "calibration": _player_table("calibration", CALIBRATION, truth.CALIBRATION),
    "perfect": _player_table("perfect", PERFECT, truth.PERFECT),
    "measures": Kind("measures0.csv", _write_measures, _read_study),
    "costs": Kind("costs0.csv", _write_measures, _read_study),
    "ratings": Kind("ratings0.csv", _write_measures, _read_study),
    "table": Kind(
        "table.csv",
        lambda path, by: write_csv(path, _of_player(KEPT), TABLE, by),
        lambda path, wanted: read_table(path, {"player": str, "phase": int}, **wanted),
    ),
    "manifest": Kind("manifest.csv", _write_manifest, _read_manifest),
    "configuration of a run": Kind(
        "config.json",
        lambda path, by: files.write_json(path, config.load(ROOT / "config" / "smoke.yaml").as_dict(), config.KIND, by),
        lambda path, wanted: (files.read(path, config.KIND, **wanted), reference.read_record(path)),
    ),
    "machine": Kind(
        "machine.json",
        lambda path, by: files.write_json(path, {"versions": "python 3.11", "processor": "some"}, machine.KIND, by),
        lambda path, wanted: (files.read(path, machine.KIND, **wanted), machine.read(path)),
    ),
    "configuration": Kind(
        "smoke.yaml",
        lambda path, by: path.write_bytes((ROOT / "config" / "smoke.yaml").read_bytes()),
        lambda path, wanted: config.load(path),
        sealed=False,
    ),
    "study": Kind(
        "study.yaml",
        lambda path, by: path.write_bytes((ROOT / "config" / "study-smoke.yaml").read_bytes()),
        lambda path, wanted: study.load(path),
        sealed=False,
    ),
    "published dataset": Kind(
        "data.bin",
        lambda path, by: export_samples(path, invented(GAME, 6), GAME),
        lambda path, wanted: import_samples(path, GAME),
        sealed=False,
    ),
    "published network": Kind(
        "weights.pth",
        lambda path, by: torch.save(published_state(1, 4, 4), path),
        lambda path, wanted: read_published(path),
        sealed=False,
    ),
}


def plain(value: Any) -> Any:
    """Return what was read as something that can be compared."""
    if isinstance(value, pd.DataFrame):
        return value.to_csv(), [str(kind) for kind in value.dtypes]
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, torch.Tensor):
        return plain(value.numpy())
    if isinstance(value, torch.nn.Module):
        return plain(value.state_dict())
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if is_dataclass(value):
        return [plain(getattr(value, field.name)) for field in fields(value)]
    return getattr(value, "described", value)
