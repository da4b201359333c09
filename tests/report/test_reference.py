"""What is committed of a run: everything that its results can be checked by, verified, or nothing at all."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from kinds_of_files import GAME, NETWORK, network
from sealed import checkpoint_info, made

from probzero import config, files, machine
from probzero.errors import ProbZeroError
from probzero.network.checkpoint import save_checkpoint
from probzero.report import manifest
from probzero.report.reference import keep
from probzero.tables import write_csv

TABLE = pd.DataFrame({"number": [1, 2]})


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A finished run of two iterations, of which the first met nobody."""
    folder = tmp_path / "run"
    files.write_json(folder / "config.json", {"arena": {"checkpoints": [0, 2]}}, config.KIND, made())
    files.write_json(folder / "machine.json", {"versions": "1", "processor": "some"}, machine.KIND, made())
    for name in ("tables/a.csv", "figures/a.png", "matches/b.csv", "truth/c/kept.csv", "selfplay/0001/shard0.csv"):
        write_csv(folder / "seed0" / name, TABLE, "table", made())
    for number in (0, 1, 2):
        path = folder / "seed0" / "checkpoints" / f"{number:04}.safetensors"
        save_checkpoint(path, network(), checkpoint_info(GAME, NETWORK, iteration=number))
    return folder


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in manifest.listed(folder)}


def test_tables_records_and_every_checkpoint_of_the_tournament_are_kept_and_nothing_else(run: Path) -> None:
    target = run.with_name("kept")
    assert keep(run, target) == 8
    assert names(target) == {
        "config.json", "machine.json", "seed0/tables/a.csv", "seed0/figures/a.png", "seed0/matches/b.csv",
        "seed0/truth/c/kept.csv", "seed0/checkpoints/0000.safetensors", "seed0/checkpoints/0002.safetensors",
    }  # fmt: skip
    assert manifest.faults(target) == (8, [])
    processors = pd.read_csv(target / manifest.NAME)["processor"]
    assert set(processors) == {"some"}


def test_what_was_there_before_is_replaced(run: Path) -> None:
    target = run.with_name("kept")
    files.write_text(target / "old.csv", "old")
    keep(run, target)
    assert "old.csv" not in names(target)


@pytest.mark.parametrize("missing", ["machine.json", "seed0/tables/a.csv", "seed0/checkpoints/0002.safetensors"])
def test_an_unfinished_run_is_refused_and_leaves_the_old_one(run: Path, missing: str) -> None:
    target = run.with_name("kept")
    files.write_text(target / "old.csv", "old")
    (run / missing).unlink()
    with pytest.raises(ProbZeroError, match="finished run"):
        keep(run, target)
    assert names(target) == {"old.csv"} and not list(run.parent.glob(".partial*"))


def test_a_damaged_file_is_refused_and_leaves_the_old_one(run: Path) -> None:
    target = run.with_name("kept")
    files.write_text(target / "old.csv", "old")
    (run / "seed0" / "matches" / "b.csv").write_text("number\n1\n3\n")
    with pytest.raises(ProbZeroError, match=r"b\.csv"):
        keep(run, target)
    assert names(target) == {"old.csv"}


def test_of_a_study_measures_costs_tables_and_records_of_every_variant_and_seed_are_kept(tmp_path: Path) -> None:
    folder, target = tmp_path / "study", tmp_path / "kept"
    files.write_json(folder / "config.json", {"variants": {"one": {}, "two": {}}}, config.KIND, made())
    files.write_json(folder / "machine.json", {"versions": "1", "processor": "some"}, machine.KIND, made())
    kept = {"positions.csv", "tables/final.csv", "figures/a.png", "seed0/tables/ratings.csv", "seed1/matches/two.csv"}
    parts = [f"{name}/seed{seed}" for name in ("one", "two") for seed in (0, 1)]
    kept |= {f"{part}/{table}.csv" for part in parts for table in ("measures", "costs")}
    for name in (*kept, "one/seed0/selfplay/0001/shard0.csv", "one/seed0/training/0001.json", "logs/report.csv"):
        write_csv(folder / name, TABLE, "table", made())
    assert keep(folder, target) == len(kept) + 2
    assert names(target) == kept | {"config.json", "machine.json"}
    assert manifest.faults(target) == (len(kept) + 2, [])
    (folder / "positions.csv").unlink()
    with pytest.raises(ProbZeroError, match=r"positions\.csv: expected the files of a finished run, found none"):
        keep(folder, target)
    assert manifest.faults(target) == (len(kept) + 2, [])
