"""The file of a sibling in the place of another: every command refuses it and writes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors
from pipeline import Commands, files, refused
from sealed import redescribe

from probzero import tensor_files
from probzero.__main__ import main


def relabel(path: Path, **changes: Any) -> None:
    """Give a tensor file the origin of a sibling, rightly signed."""
    with safetensors.safe_open(path, "numpy") as opened:
        before = json.loads(opened.metadata()[tensor_files.METADATA_KEY])["origin"]
    redescribe(path, origin={**before, **changes})


@pytest.fixture
def whole(finished: Commands, copy: Commands) -> Commands:
    """All that a run of two shards reads."""
    for name in ("shard1.safetensors", "0001.safetensors", "opt1.safetensors"):
        (copy.folder / name).write_bytes((finished.folder / name).read_bytes())
    return copy


def relabelled(name: str, **changes: Any) -> Callable[[Commands], None]:
    return lambda run: relabel(run.folder / name, **changes)


def replaced(name: str, by: str) -> Callable[[Commands], None]:
    def replace(run: Commands) -> None:
        (run.folder / name).write_bytes((run.folder / by).read_bytes())

    return replace


def swapped(one: str, other: str) -> Callable[[Commands], None]:
    def swap(run: Commands) -> None:
        first, second = ((run.folder / name).read_bytes() for name in (one, other))
        (run.folder / one).write_bytes(second)
        (run.folder / other).write_bytes(first)

    return swap


def train(run: Commands) -> int:
    return run.train("shard0.safetensors", "shard1.safetensors")


NET, NEXT, OPT, DATA = "0000.safetensors", "0001.safetensors", "opt0.safetensors", "shard1.safetensors"
OTHER_SEED, OTHER_SETTINGS = {"seed": 4}, {"settings": {"game": "another"}}
SEED, SETTINGS = "seed: expected seed 3, found seed 4", "game: expected a file made with the settings at hand"
LATER, EARLIER = ("iteration: expected iteration {}, found iteration {}".format(*pair) for pair in ((0, 1), (1, 0)))
SIBLINGS = {
    "train: the next checkpoint": (train, replaced(NET, NEXT), f"{NET}: {LATER}"),
    "train: a checkpoint of another seed": (train, relabelled(NET, **OTHER_SEED), f"{NET}: {SEED}"),
    "train: a checkpoint of other settings": (train, relabelled(NET, **OTHER_SETTINGS), f"{NET}: {SETTINGS}"),
    "train: the next optimiser": (train, replaced(OPT, "opt1.safetensors"), f"{OPT}: {LATER}"),
    "train: an optimiser of another seed": (train, relabelled(OPT, **OTHER_SEED), f"{OPT}: {SEED}"),
    "train: an optimiser of other settings": (train, relabelled(OPT, **OTHER_SETTINGS), f"{OPT}: {SETTINGS}"),
    "train: a shard of another seed": (train, relabelled(DATA, **OTHER_SEED), f"{DATA}: {SEED}"),
    "train: a shard of other settings": (train, relabelled(DATA, **OTHER_SETTINGS), f"{DATA}: {SETTINGS}"),
    "train: a shard of another iteration": (
        train, relabelled(DATA, iteration=2), "iteration, shard: expected 1, 0; 1, 1, found 1, 0; 2, 1",
    ),
    "train: shards out of order": (
        train, swapped("shard0.safetensors", DATA), "iteration, shard: expected 1, 0; 1, 1, found 1, 1; 1, 0",
    ),
    "train: one shard twice": (
        train, replaced(DATA, "shard0.safetensors"), "iteration, shard: expected 1, 0; 1, 1, found 1, 0; 1, 0",
    ),
    "selfplay: the next checkpoint": (Commands.selfplay, replaced(NET, NEXT), f"{NET}: {LATER}"),
    "selfplay: another seed": (Commands.selfplay, relabelled(NET, **OTHER_SEED), f"{NET}: {SEED}"),
    "selfplay: other settings": (Commands.selfplay, relabelled(NET, **OTHER_SETTINGS), f"{NET}: {SETTINGS}"),
    "match: checkpoints swapped": (Commands.match, swapped(NET, NEXT), f"{NEXT}: {EARLIER}"),
    "match: another seed": (Commands.match, relabelled(NEXT, **OTHER_SEED), f"{NEXT}: {SEED}"),
    "match: an opponent of other settings": (Commands.match, relabelled(NET, **OTHER_SETTINGS), f"{NET}: {SETTINGS}"),
    "truth: another iteration": (
        lambda run: run.truth("--name", "iteration-0001"), lambda run: None, f"{NET}: {EARLIER}",
    ),
    "truth: another seed": (Commands.truth, relabelled(NET, **OTHER_SEED), f"{NET}: {SEED}"),
    "truth: other settings": (Commands.truth, relabelled(NET, **OTHER_SETTINGS), f"{NET}: {SETTINGS}"),
}  # fmt: skip


@pytest.mark.parametrize("case", SIBLINGS)
def test_the_file_of_a_sibling_is_refused_and_nothing_is_written(
    case: str, whole: Commands, capsys: pytest.CaptureFixture[str]
) -> None:
    command, spoil, expected = SIBLINGS[case]
    made = {"train": [NEXT, "opt1.safetensors"], "selfplay": ["shard0.safetensors"]}.get(case.partition(":")[0], [])
    spoil(whole)
    for name in made:
        (whole.folder / name).unlink()
    before = files(whole.folder)
    refused(command(whole), capsys, expected)
    assert files(whole.folder) == before


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (["--iteration=1", "--shard=0"], None),
        (["--iteration=2", "--shard=0"], "iteration: expected iteration 2, found iteration 1"),
        (["--iteration=1", "--shard=2"], "shard: expected shard 2, found shard 0"),
    ],
    ids=["its own", "another iteration", "another shard"],
)
def test_positions_are_of_the_shard_that_was_held_out(
    place: list[str], expected: str | None, copy: Commands, capsys: pytest.CaptureFixture[str]
) -> None:
    files_of = ["--dataset", copy.path("shard0.safetensors"), "--output", copy.path("positions.csv")]
    status = main(["positions", *copy.common, *place, *files_of])
    if expected is None:
        assert status == 0
    else:
        refused(status, capsys, f"shard0.safetensors: {expected}")
    assert (copy.folder / "positions.csv").exists() == (expected is None)
