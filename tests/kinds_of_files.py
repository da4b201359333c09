"""Every kind of file that is read: a small one of each, and its reader."""

from __future__ import annotations

import gzip
import runpy
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
import yaml
from made_games import COUNT, recorded
from made_matches import record
from made_samples import invented
from published_form import published_state
from pydantic import BaseModel
from sealed import made

from probzero import config, files, games, machine, study, tournament, tuning
from probzero.arena.names import MATCHES
from probzero.commands import choose, match
from probzero.config import Network
from probzero.database import games as counted_games
from probzero.database import layers
from probzero.errors import ProbZeroError
from probzero.front_ends import positions as lines
from probzero.front_ends import saved
from probzero.front_ends.explore import page
from probzero.learning.dataset import read_samples, write_samples
from probzero.learning.published_dataset import export_samples, import_samples
from probzero.learning.selfplay import GAMES
from probzero.network import checkpoint
from probzero.network.model import build
from probzero.network.published import read_published
from probzero.origin import Origin
from probzero.report import certificates, claims, manifest, packing, reference, spread, truth, truth_inputs
from probzero.report.cost import cost
from probzero.report.evidence.outcomes import Outcomes, read_outcomes, write_outcomes
from probzero.report.study import inputs
from probzero.report.style import FIGURE
from probzero.report.tables import read_matches, read_metrics
from probzero.report.tuning import picks_of, read_tried, rival_of
from probzero.tables import TABLE, read_table, write_csv
from probzero.truth import certificate, positions
from probzero.truth.best_response import explore
from probzero.truth.blunders import BLUNDERS, count_blunders, read_games
from probzero.truth.labels import Solver

GAME = games.make("othello", size=4)
NETWORK = Network(blocks=1, channels=4)
ROOT = Path(__file__).parents[1]
OUTCOMES = Outcomes(
    ("study/one", "study/other"),
    *(np.array(column, np.int32) for column in ([0, 1, 1], [0, 0, 1], [96, 96, 0])),
    np.array([4, 4, 5], np.int16),
    np.array([[1, 0, 0], [0, 0, 1], [1, 1, 0]], bool),
)
LAYER = np.array([3, 5, 8]), np.array([2, 0, -2], np.int8)  # keys and values
SMOKE = config.load(ROOT / "config" / "smoke.yaml")


@dataclass(frozen=True)
class Kind:
    """`write` makes the file as a command of this origin would; `read` reads it, wanting that origin if there is one.

    A file is `sealed` if it carries a checksum, inside (tensor files) or beside it: damage is then always found. `told`
    is in what its reader tells a sibling from it. `beside` are files that belong to it."""

    name: str
    write: Callable[[Path, Origin], Any]
    read: Callable[[Path, dict[str, Any]], Any]
    sealed: bool = True
    told: tuple[str, ...] = ("seed", "iteration", "shard", "settings")
    beside: tuple[str, ...] = ()

    @property
    def tensors(self) -> bool:
        return self.sealed and self.name.endswith(".safetensors")


@cache
def network() -> checkpoint.ProbZeroNet:
    return build(GAME.shape, NETWORK, 1)


def _info(by: Origin) -> checkpoint.CheckpointInfo:
    return checkpoint.CheckpointInfo(by, GAME, NETWORK)


def _write_optimizer(path: Path, by: Origin) -> None:
    state = {name: torch.ones(shape) for name, (shape, _) in checkpoint.optimizer_shapes(network()).items()}
    checkpoint.save_optimizer(path, network(), state, _info(by))


@cache
def _matches() -> pd.DataFrame:
    return record(GAME, "greedy", ["random"])


def _read_games(path: Path, wanted: dict[str, Any]) -> Any:
    """The shard is that of the file's name."""
    wanted = {name: value for name, value in wanted.items() if name != "shard"}
    return count_blunders(GAME, read_games([path], GAME, COUNT, **wanted), threads=1)


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
STAGES = {"samples": [1000, 2000], "positions": [50, 50], "kept_share": [0.75, 0.875]}
PERFECT = {"opening": [0, 1], "result": [1, -1]}


def _player_table(name: str, content: dict[str, Any], columns: Mapping[str, type]) -> Kind:
    return Kind(
        f"iteration-0001/{name}.csv",
        lambda path, by: write_csv(path, _of_player(content), name, by.about("iteration-0001")),
        lambda path, wanted: truth.collect([path], columns, name, **wanted),
    )


@cache
def certified() -> pd.DataFrame:
    reach = explore(GAME, GAME.start()[None], np.array([False]), lambda states: GAME.legal(states).argmax(1))
    found = certificate.certificates(reach, Solver(GAME, threads=1))
    return found.assign(player="iteration-0001", source="start", particles=0, key=-1)


CHECKER = runpy.run_path(str(ROOT / "tools" / "check_certificate.py"))


@cache
def _certificate() -> bytes:
    """Of an agent that takes the first move, from a position in the middle."""
    state = GAME.start()[None]
    for _ in range(6):
        state = GAME.play(state, GAME.legal(state).argmax(1))
    reach = explore(GAME, state, np.array([True]), lambda states: GAME.legal(states).argmax(1))
    return gzip.compress(certificate.as_file(reach, [0], {"player": "first"}), mtime=0)


def _read_certificate(path: Path, wanted: dict[str, Any]) -> Any:
    data = files.read(path, certificate.FILE_KIND, **wanted)
    try:
        return data, CHECKER["check"](path)
    except CHECKER["Refused"] as refused:
        raise ProbZeroError(" ".join(str(refused).split())) from None


def _read_layer(path: Path, wanted: dict[str, Any]) -> Any:
    """As who verifies it for the first time."""
    (path.parent / layers.VERIFIED).unlink(missing_ok=True)
    return layers.read_layer(path.parent, GAME, layers.LAYER, 4)


def _write_measures(path: Path, by: Origin) -> None:
    """Measures, costs and ratings of one seed, the least that a study has: one that is larger is slower to read."""
    folder, spent = path.parent, {"variant": "mine", "iteration": 1, "seed": by.seed}
    measured = {**spent, "phase": 4, "positions": 5.0, "kept": 3.0, "outcomes": "11010"}
    measured |= dict.fromkeys(inputs.WORK, 1.0)
    rows = pd.DataFrame([{**measured, "particles": particles} for particles in (0, 64)])
    write_csv(folder / "measures.csv", rows, inputs.MEASURED, made(seed=by.seed))
    costs = pd.DataFrame([{**spent, **dict.fromkeys(inputs.COSTS, 1.0)}])
    write_csv(folder / "costs.csv", costs, files.COSTS, made(seed=by.seed))
    rating = {"seed": by.seed, "player": "mine", "rating": 10.0, "standard_error": 2.0}
    write_csv(folder / "ratings.csv", pd.DataFrame([rating]), TABLE, made(seed=by.seed))


STUDY: dict[str, tuple[str, dict[str, type], list[str]]] = {
    "measures": (inputs.MEASURED, inputs.MEASURES, [*inputs.CHECKPOINT, "seed", "phase"]),
    "costs": (files.COSTS, inputs.COSTS_COLUMNS, inputs.SPENT),
    "ratings": (TABLE, inputs.RATINGS, ["player", "seed"]),
}


def _read_study(path: Path, wanted: dict[str, Any]) -> Any:
    described = {
        "mine": study.Description.model_construct(role="reference", idea="one", label="mine", says="the reference")
    }
    kind, columns, unique = STUDY[path.stem]
    inputs._read(kind, [path], columns, unique)  # by itself first: most damage is told before the others are read
    found = inputs.read_results(*([path.with_name(f"{name}.csv")] for name in STUDY), described)
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


def _bytes(name: str, kind: str, content: bytes) -> Kind:
    """A file of which our code reads the bytes alone, and typst or a person the rest."""
    return Kind(
        name,
        lambda path, by: files.write(path, content, kind, by),
        lambda path, wanted: files.read(path, kind, **wanted),
    )


def _archive() -> bytes:
    """An archive of one small file, as `packing` makes it."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder)
        files.write_json(run / "metrics.json", {"games": 12}, files.METRICS, made())
        return packing._archive(run, [run / "metrics.json"])


def _ours(name: str) -> Any:
    """A file of people that is committed, as plain data."""
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


TWINS = [
    (processor, seed, {"final policy_loss": 0.5 + seed / 8 + more, "match score iteration-0002 : random": 0.75 + more})
    for processor, more in (("avx2", 0.0), ("default", 0.125))
    for seed in range(3)
]


def _of_people(name: str, content: Callable[[], str], read: Callable[[Path], Any]) -> Kind:
    return Kind(
        name,
        lambda path, by: path.write_text(content(), encoding="utf-8"),
        lambda path, wanted: read(path),
        sealed=False,
    )


def _small_tournaments() -> str:
    """One tournament of ours, of two players."""
    raw = _ours("config/budgets.yaml")
    name, players = next(iter(raw["tournaments"].items()))
    raw["tournaments"] = {name: dict(list(players.items())[:2])}
    return yaml.safe_dump(raw, sort_keys=False)


def _small_claims() -> str:
    claimed = _ours("results/claims.yaml")["claims"]
    without_cell = next(name for name, claim in claimed.items() if "source" in claim)
    return yaml.safe_dump({"claims": {name: claimed[name] for name in (next(iter(claimed)), without_cell)}})


@cache
def _space() -> tuning.Space:
    raw = _ours("config/tuning.yaml")
    return tuning.parse({**raw, "draws": 2, "own": dict(list(raw["own"].items())[:2])}, "space")


def _write_picks(path: Path, by: Origin) -> None:
    rows = [
        {"system": system, "draw": draw, "picked": draw, "error": 0.25 - draw / 8, "raw_error": 0.5}
        for system in _space().own
        for draw in range(2)
    ]
    write_csv(path, pd.DataFrame(rows), TABLE, by.about("picks"))


def _read_picks(path: Path, wanted: dict[str, Any]) -> Any:
    files.read(path, TABLE, **wanted)
    table = read_tried(path, _space())
    return picks_of(table), rival_of(table, "probzero")


def _small_study() -> str:
    """The reference of our study, what all variants share and one variant more."""
    raw = _ours("config/study.yaml")
    other = next(name for name in raw["variants"] if name != raw["reference"])
    few = {name: raw["variants"][name] for name in (raw["reference"], other)}
    return yaml.safe_dump({**raw, "variants": few}, sort_keys=False)


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
        lambda path, by: write_csv(path, _matches(), MATCHES, by.about("greedy")),
        lambda path, wanted: read_matches([path], GAME, **wanted),
    ),
    "games of self-play": Kind(
        "shard0.csv",
        lambda path, by: write_csv(path, recorded(), GAMES, by),
        _read_games,
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
    "certificates": Kind(
        "iteration-0001.csv",
        lambda path, by: write_csv(path, certified(), certificates.KIND, by.about("iteration-0001")),
        lambda path, wanted: certificates.read_certificates([path], **wanted),
    ),
    "certificate": Kind(
        "iteration-0001.json.gz",
        lambda path, by: files.write(path, _certificate(), certificate.FILE_KIND, by),
        _read_certificate,
    ),
    "database layer": Kind(
        "layer-04.json",
        lambda path, by: layers.write_layer(path.parent, GAME, layers.LAYER, 4, LAYER),
        _read_layer,
        told=(),
        beside=("layer-04",),
    ),
    "numbers of games": _bytes("games.csv", counted_games.GAMES, b"first_move,games\nb1,60060\n"),
    "measures": Kind("measures.csv", _write_measures, _read_study, told=("seed",)),
    "costs": Kind("costs.csv", _write_measures, _read_study, told=("seed",)),
    "ratings of a study": Kind("ratings.csv", _write_measures, _read_study, told=("seed",)),
    "outcomes": Kind(
        "outcomes.safetensors",
        lambda path, by: write_outcomes(path, OUTCOMES, GAME, by),
        lambda path, wanted: read_outcomes(path, GAME, **wanted),
    ),
    "records": Kind(
        "records.tar.xz",
        lambda path, by: files.write(path, _archive(), packing.KIND, by),
        lambda path, wanted: packing.read_records(path, **wanted),
    ),
    "metrics of the ceiling": _bytes("ceiling.json", files.METRICS, b'{"policy_agreement": 0.75, "samples": 4000}\n'),
    "stages of the ceiling": Kind(
        "stages.csv",
        lambda path, by: write_csv(path, pd.DataFrame(STAGES), TABLE, by, "%.4f"),
        lambda path, wanted: read_table(path, {"samples": int, "positions": int, "kept_share": float}, **wanted),
    ),
    "figure": _bytes("elo.pdf", FIGURE, b"%PDF-1.4 of a figure"),
    "paper": _bytes("paper.pdf", "paper", b"%PDF-1.7 of a paper"),
    "page": _bytes("explore.html", page.KIND, b"<!doctype html>"),
    "table": Kind(
        "table.csv",
        lambda path, by: write_csv(path, _of_player(KEPT), TABLE, by),
        lambda path, wanted: read_table(path, {"player": str, "phase": int}, **wanted),
    ),
    "twins": Kind(
        "othello4.csv",
        lambda path, by: write_csv(path, spread.twins_table(TWINS), TABLE, by.about("othello4")),
        lambda path, wanted: spread.read_draws(path, **wanted),
    ),
    "manifest": Kind("manifest.csv", _write_manifest, _read_manifest, told=()),
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
    "saved game": Kind(
        "game.json",
        lambda path, by: saved.save(path, lines.read(GAME, "c4 d4"), ("human", "network:96")),
        lambda path, wanted: saved.load(path)[0].moves,
        sealed=False,
    ),
    "match between two players": Kind(
        "a-b.csv",
        lambda path, by: write_csv(path, record(GAME, "greedy", ["random"]), MATCHES, by),
        lambda path, wanted: (files.read(path, MATCHES, **wanted), match.read(path, GAME)),
    ),
    "study": _of_people("study.yaml", _small_study, study.load),
    "tournaments": _of_people("tournaments.yaml", _small_tournaments, tournament.load),
    "tuning space": _of_people(
        "tuning.yaml",
        lambda: (ROOT / "config" / "tuning.yaml").read_text(encoding="utf-8"),
        lambda path: tuning.parse(*config.read(path)),
    ),
    "picks": Kind("picks.csv", _write_picks, _read_picks),
    "claims": _of_people("claims.yaml", _small_claims, claims.load),
    "positions of one's own": _of_people(
        "own.csv", lambda: "own,opp\n576,1056\n1024,610\n", lambda path: choose.read_states(path, GAME)
    ),
    "benchmark": Kind(
        "benchmarks/train/0001.tsv",
        lambda path, by: path.write_text("s\th:m:s\tmax_rss\tio_in\n12.5\t0:00:12\t431.25\t0.00\n"),
        lambda path, wanted: cost(path.parents[2], wall=100.0, cores=1),
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
