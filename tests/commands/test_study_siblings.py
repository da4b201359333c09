"""Commands of a study take no file of another variant, which has the same seed and the same iterations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import committed
import pytest
from kinds_of_files import GAME, NETWORK, network
from sealed import checkpoint_info, write_metrics

from probzero import config, tensor_files
from probzero.__main__ import main
from probzero.network.checkpoint import save_checkpoint
from probzero.report.tables import SHARD_SUMS, TRAINING

pytestmark = pytest.mark.usefixtures("one_thread")
SEED = 0
MINE, SIBLING = "probzero", "no-bootstrap"  # they differ in the targets alone
Capture = pytest.CaptureFixture[str]


def plain(variant: str) -> dict[str, Any]:
    """A variant of the study on 4×4 boards, small enough for a test."""
    settings = committed.parsed("study-smoke").variants[variant].as_dict()
    settings["game"]["size"] = 4
    settings["truth"] |= {"per_stratum": 2, "particles": 2, "batches": [2], "capacity": 20_000}
    settings["selfplay"] |= {"games": 2, "particles": 2, "batches": 2, "capacity": 5000}
    settings["training"] |= {"batch_size": 16, "samples": 64}
    settings["arena"] |= {"openings": 2, "particles": 2, "batches": 2, "capacity": 5000}
    return settings


def learned(variant: str) -> dict[str, str]:
    return config.fingerprints(plain(variant), config.LEARNED)


def checkpoint(folder: Path, variant: str, iteration: int = 1, name: str = "0001") -> Path:
    path = folder / variant / f"{name}.safetensors"
    made = {"seed": SEED, "iteration": iteration, "shard": None, "settings": learned(variant)}
    save_checkpoint(path, network(), checkpoint_info(GAME, NETWORK, **made))
    return path


def metrics(folder: Path, variant: str) -> list[str]:
    """Write what an iteration of a variant left; return the arguments that name it."""
    parts = {
        "--selfplay": {"iteration": 1, "shard": 0, "mean_plies": 9.0, **dict.fromkeys(SHARD_SUMS, 5)},
        "--training": {**dict.fromkeys(TRAINING, 1.0), "iteration": 1},
    }
    words = []
    for option, content in parts.items():
        path = folder / variant / f"{option[2:]}.json"
        write_metrics(path, content, seed=SEED, settings=learned(variant))
        words += [option, str(path)]
    return words


@pytest.fixture(scope="module")
def positions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("positions") / "positions.csv"
    asked = ["--config", json.dumps(plain(MINE)), "--seed", "0", "--output", str(path)]
    assert main(["positions", *asked]) == 0
    return path


def measure(folder: Path, positions: Path, *arguments: str) -> int:
    common = [
        "--config",
        json.dumps(plain(MINE)),
        "--seed",
        str(SEED),
        "--variant",
        MINE,
        "--positions",
        str(positions),
    ]
    outputs = ["--output", str(folder / "out" / "measures.csv"), "--costs", str(folder / "out" / "costs.csv")]
    return main(["measure", *common, *arguments, *outputs])


def one_line(status: int, folder: Path, capsys: Capture) -> str:
    (line,) = capsys.readouterr().err.splitlines()
    assert status == 2 and not list((folder / "out").glob("*"))
    return line


def test_variants_that_differ_in_their_targets_alone_have_other_hashes() -> None:
    mine, sibling = learned(MINE), learned(SIBLING)
    assert {part for part in config.LEARNED if mine[part] != sibling[part]} == {"targets"}


def test_a_checkpoint_tells_all_that_it_depends_on(tmp_path: Path) -> None:
    settings = ["--config", json.dumps(plain(MINE)), "--seed", str(SEED)]
    paths = {name: str(tmp_path / name) for name in ("0000", "opt0", "0001", "opt1", "data", "games", "json", "costs")}
    assert main(["init", *settings, "--checkpoint", paths["0000"], "--optimizer", paths["opt0"]]) == 0
    shard = ["--iteration", "1", "--iterations", "2", "--shard", "0", "--checkpoint", paths["0000"]]
    left = [
        "--dataset",
        paths["data"],
        "--games",
        paths["games"],
        "--metrics",
        paths["json"],
        "--costs",
        paths["costs"],
    ]
    assert main(["selfplay", *settings, *shard, *left]) == 0
    begun = [
        "--iteration",
        "1",
        "--checkpoint",
        paths["0000"],
        "--optimizer",
        paths["opt0"],
        "--datasets",
        paths["data"],
    ]
    new = ["--new-checkpoint", paths["0001"], "--new-optimizer", paths["opt1"], *left[4:]]
    assert main(["train", *settings, *begun, *new]) == 0
    assert tensor_files.load(paths["0001"], None).made.settings == learned(MINE)


def test_measure_takes_no_checkpoint_of_another_variant(positions: Path, tmp_path: Path, capsys: Capture) -> None:
    path = checkpoint(tmp_path, SIBLING)
    status = measure(tmp_path, positions, *metrics(tmp_path, MINE), "--checkpoints", str(path))
    assert f"{path}: targets: expected a file made with the settings at hand" in one_line(status, tmp_path, capsys)


def test_measure_takes_no_metrics_of_another_variant(positions: Path, tmp_path: Path, capsys: Capture) -> None:
    status = measure(tmp_path, positions, *metrics(tmp_path, SIBLING), "--checkpoints", str(checkpoint(tmp_path, MINE)))
    line = one_line(status, tmp_path, capsys)
    assert "selfplay.json: targets: expected a file made with the settings at hand" in line


def test_measure_takes_no_checkpoint_of_another_iteration(positions: Path, tmp_path: Path, capsys: Capture) -> None:
    path = checkpoint(tmp_path, MINE, iteration=2)
    status = measure(tmp_path, positions, *metrics(tmp_path, MINE), "--checkpoints", str(path))
    assert f"{path}: iteration: expected iteration 1, found iteration 2" in one_line(status, tmp_path, capsys)


def match(folder: Path, player: Path, *more: str) -> int:
    settings = {name: plain(MINE)[name] for name in ("experiment", "game", "search", "arena")}
    common = ["--config", json.dumps(settings), "--seed", str(SEED), "--player", f"{MINE}={player}"]
    return main(["tournament", *common, "--against", "random", *more, "--output", str(folder / "out" / f"{MINE}.csv")])


def test_match_takes_no_checkpoint_of_another_variant(tmp_path: Path, capsys: Capture) -> None:
    asked = ["--learned", f"{MINE}={json.dumps(learned(MINE))}"]
    assert match(tmp_path / "right", checkpoint(tmp_path, MINE), *asked) == 0
    capsys.readouterr()
    path = checkpoint(tmp_path, SIBLING)
    line = one_line(match(tmp_path, path, *asked), tmp_path, capsys)
    assert f"{path}: targets: expected a file made with the settings at hand" in line


def test_match_takes_no_checkpoint_of_another_iteration(tmp_path: Path, capsys: Capture) -> None:
    path = checkpoint(tmp_path, MINE, iteration=2)
    line = one_line(match(tmp_path, path), tmp_path, capsys)
    assert f"{path}: iteration: expected iteration 1, found iteration 2" in line


@pytest.mark.parametrize("hashes", ["[1]", '{"game": 1}', "{", "[" * 100_000])
def test_what_a_player_learned_with_must_be_hashes(hashes: str, tmp_path: Path, capsys: Capture) -> None:
    line = one_line(match(tmp_path, checkpoint(tmp_path, MINE), "--learned", f"{MINE}={hashes}"), tmp_path, capsys)
    assert f"--learned {MINE}: expected" in line
