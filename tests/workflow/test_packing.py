"""A run over several sittings: packed half-way, unpacked elsewhere, it ends with the bytes of one never stopped."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pipeline import tiny
from test_workflow import RUN, planned, smoke, snakemake, written

from probzero import config
from probzero.__main__ import main
from probzero.errors import ProbZeroError
from probzero.files import seal_of
from probzero.report.packing import ARCHIVE, newest_iteration, pack, read_records, unpack
from probzero.report.same_files import compared

SETTINGS = tiny(
    seeds=[0],
    selfplay={"shards": 2, "lag": 1},
    training={"iterations": 4, "samples": 32, "replay_window": 2},
    arena={"checkpoints": [0, 1, 4], "anchors": ["greedy"]},
)
LAST = 4


class Learning:
    """The learning of a run by hand, in the folders of the workflow."""

    def __init__(self, run: Path) -> None:
        self.run, self.seed = run, run / "seed0"

    def path(self, name: str) -> str:
        return str(self.seed / name)

    def begin(self) -> None:
        record = ["--output", str(self.run / "config.json"), "--machine", str(self.run / "machine.json")]
        assert main(["config", "--config", SETTINGS, *record]) == 0
        first = [self.path(f"{kind}/0000.safetensors") for kind in ("checkpoints", "optimizer")]
        assert (
            main(["init", "--config", SETTINGS, "--seed", "0", "--checkpoint", first[0], "--optimizer", first[1]]) == 0
        )

    def learn(self, *iterations: int) -> None:
        for number in iterations:
            for shard in (0, 1):
                self.play(number, shard)
            self.train(number)

    def play(self, number: int, shard: int) -> None:
        stem = f"selfplay/{number:04}/shard{shard}"
        words = ["--iteration", str(number), "--shard", str(shard), "--iterations", str(LAST)]
        words += ["--checkpoint", self.path(f"checkpoints/{max(0, number - 2):04}.safetensors")]
        words += ["--dataset", self.path(f"{stem}.safetensors"), "--games", self.path(f"{stem}.csv")]
        words += [
            "--metrics",
            self.path(f"{stem}.json"),
            "--costs",
            self.path(f"costs/selfplay/{number:04}-shard{shard}.json"),
        ]
        assert main(["selfplay", "--config", SETTINGS, "--seed", "0", *words]) == 0

    def train(self, number: int) -> None:
        words = ["--iteration", str(number), "--metrics", self.path(f"training/{number:04}.json")]
        words += ["--costs", self.path(f"costs/train/{number:04}.json"), "--datasets"]
        words += [
            self.path(f"selfplay/{n:04}/shard{shard}.safetensors")
            for n in (number - 1, number)
            if n
            for shard in (0, 1)
        ]
        for prefix, n in (("", number - 1), ("new-", number)):
            words += [f"--{prefix}checkpoint", self.path(f"checkpoints/{n:04}.safetensors")]
            words += [f"--{prefix}optimizer", self.path(f"optimizer/{n:04}.safetensors")]
        assert main(["train", "--config", SETTINGS, "--seed", "0", *words]) == 0


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that learned without a stop."""
    run = tmp_path_factory.mktemp("whole") / "results" / "smoke"
    learning = Learning(run)
    learning.begin()
    learning.learn(1, 2, 3, 4)
    return run


@pytest.fixture
def stopped(whole: Path, tmp_path: Path) -> Path:
    """The same, stopped in the midst of iteration 3: one shard was played, the other was not."""
    run = tmp_path / "stopped" / "results" / "smoke"
    shutil.copytree(whole, run)
    for pattern in ("**/*0004*", "checkpoints/0003.*", "optimizer/0003.*", "training/**/0003.*", "costs/**/0003*",
                    "selfplay/0003/**/shard1.*", "selfplay/0004/**/*"):  # fmt: skip
        for path in (run / "seed0").glob(pattern):
            if path.is_file():
                path.unlink()
    return run


def tensors(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.safetensors"))


def test_what_is_packed_suffices_and_what_was_learned_then_has_the_same_bytes(
    whole: Path, stopped: Path, tmp_path: Path
) -> None:
    packed, elsewhere = tmp_path / "packed", tmp_path / "elsewhere" / "results" / "smoke"
    assert pack(stopped, packed) == {0: 2}
    # 0 and 1 are of the tournament, 1 and 2 play on, 0 plays the half-way set; one iteration is looked back on.
    checkpoints = [f"seed0/checkpoints/{number:04}.safetensors" for number in (0, 1, 2)]
    datasets = [f"seed0/selfplay/0002/shard{shard}.safetensors" for shard in (0, 1)]
    assert tensors(packed) == [*checkpoints, "seed0/optimizer/0002.safetensors", *datasets]
    first = (packed / ARCHIVE).read_bytes()
    assert pack(stopped, packed) == {0: 2} and (packed / ARCHIVE).read_bytes() == first
    assert unpack(packed, config.load(SETTINGS), elsewhere) == {0: 2}
    Learning(elsewhere).learn(3, 4)
    found = [name for name in compared(elsewhere) if "records" not in name.name]
    assert {Path(f"seed0/{kind}/0004.safetensors") for kind in ("checkpoints", "optimizer")} <= set(found)
    assert not [name for name in found if (elsewhere / name).read_bytes() != (whole / name).read_bytes()]
    assert pack(elsewhere, packed) == {0: 4}  # a second sitting, in which older checkpoints are not there
    assert tensors(packed) == [*checkpoints[:2], "seed0/checkpoints/0003.safetensors",
                               "seed0/checkpoints/0004.safetensors", "seed0/optimizer/0004.safetensors"]  # fmt: skip


def test_the_workflow_goes_on_after_the_newest_iteration_and_plays_nothing_again(stopped: Path, tmp_path: Path) -> None:
    configfile = written(tmp_path, json.loads(SETTINGS))
    pack(stopped, tmp_path / "packed")
    unpack(tmp_path / "packed", config.load(configfile), tmp_path / "there" / RUN)
    jobs = planned(snakemake(tmp_path / "there", "--dry-run", "--quiet", "rules", configfile=configfile))
    assert (jobs["train"], jobs["selfplay"]) == (2, 2 * 2 + 1) and "init" not in jobs and "configuration" not in jobs


def test_what_cannot_be_packed_or_unpacked_is_refused_and_leaves_what_is_there(stopped: Path, tmp_path: Path) -> None:
    packed, there = tmp_path / "packed", tmp_path / "there"
    pack(stopped, packed)
    before = {name: (packed / name).read_bytes() for name in tensors(packed)}
    other = json.loads(SETTINGS)
    other["training"]["learning_rate"] /= 2
    for settings, run, message in (
        (config.load(SETTINGS), stopped, "expected nothing there yet"),
        (config.load(json.dumps(other)), there, "expected a file made with the settings at hand"),
    ):
        with pytest.raises(ProbZeroError, match=message):
            unpack(packed, settings, run)
    (packed / "seed0" / "optimizer" / "0002.safetensors").rename(tmp_path / "taken")
    with pytest.raises(ProbZeroError, match="a checkpoint and an optimiser file of one iteration"):
        unpack(packed, config.load(SETTINGS), there)
    assert not there.exists() and not list(tmp_path.glob(".partial*"))
    (tmp_path / "taken").rename(packed / "seed0" / "optimizer" / "0002.safetensors")
    damaged = stopped / "seed0" / "checkpoints" / "0002.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"x")
    with pytest.raises(ProbZeroError, match=r"0002\.safetensors"):
        pack(stopped, packed)
    assert {name: (packed / name).read_bytes() for name in tensors(packed)} == before


def test_an_archive_holds_records_with_their_seals_of_finished_iterations_alone(stopped: Path, tmp_path: Path) -> None:
    pack(stopped, tmp_path / "packed")
    found = read_records(tmp_path / "packed" / ARCHIVE)
    assert "config.json" in found and "seed0/training/0002.json" in found and "seed0/selfplay/0002/shard1.csv" in found
    assert all(seal_of(name).as_posix() in found for name in found if "seals" not in name.split("/"))
    assert not [name for name in found if "0003" in name]
    assert newest_iteration(stopped / "seed0", config.load(SETTINGS)) == 2


SMALL: dict[str, Any] = {
    "game": {"size": 4},
    "network": {"blocks": 1},
    "selfplay": {"games": 4, "lag": 1},
    "training": {"iterations": 5, "samples": 512},
    "arena": {"checkpoints": [0, 2, 5], "anchors": ["greedy"], "openings": 2},
    "truth": {"per_stratum": 2, "ceiling_per_stratum": 5, "ceiling_samples": 200},
}
HALF = "results/smoke/seed0/checkpoints/0003.safetensors"
EARLY = "results/smoke/seed0/matches/iteration-0002.csv"


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(name): (folder / name).read_bytes() for name in compared(folder)}


@pytest.mark.slow  # a whole run of the workflow, and one in two sittings
def test_a_run_in_two_sittings_ends_with_the_bytes_of_one(tmp_path: Path) -> None:
    configfile = written(tmp_path, smoke(**SMALL))
    whole, first, second = (tmp_path / name for name in ("whole", "first", "second"))
    packed = tmp_path / "packed"
    assert snakemake(whole, configfile=configfile).returncode == 0
    assert snakemake(first, HALF, EARLY, "results/smoke/config.json", configfile=configfile).returncode == 0
    assert main(["pack", "--run", str(first / RUN), "--output", str(packed)]) == 0
    before = bytes_of(packed)
    assert main(["pack", "--run", str(first / RUN), "--output", str(packed)]) == 0 and bytes_of(packed) == before
    words = ["--packed", str(packed), "--config", str(configfile), "--run", str(second / RUN)]
    assert main(["unpack", *words]) == 0
    # Of three iterations two checkpoints play on, one was in the tournament; two datasets are in the window.
    kept = {path.name for path in packed.rglob("checkpoints/*")}
    assert kept == {"0000.safetensors", "0001.safetensors", "0002.safetensors", "0003.safetensors"}
    assert {path.parent.name for path in packed.rglob("shard*.safetensors")} == {"0003"}
    shown = snakemake(second, configfile=configfile)
    assert shown.returncode == 0, shown.stdout
    trained = [number for number in range(1, 6) if f"iteration {number}/5 · training" in shown.stdout]
    assert trained == [4, 5]
    expected, found = bytes_of(whole / RUN), bytes_of(second / RUN)
    differing = [name for name in found if found[name] != expected.get(name)]
    assert not differing
    left = {name for name in expected.keys() - found.keys()}
    assert all("optimizer/" in name or name.startswith(("seed0/selfplay/",)) for name in left), left
