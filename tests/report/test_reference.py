"""What is committed of a run: everything that its results can be checked by, verified, or nothing at all."""

from __future__ import annotations

import json
from pathlib import Path

import committed
import pandas as pd
import pytest
from kinds_of_files import GAME, NETWORK, ROOT, network
from sealed import checkpoint_info, made

from probzero import config, files, machine
from probzero.__main__ import main
from probzero.errors import ProbZeroError
from probzero.network.checkpoint import save_checkpoint
from probzero.report import manifest, reference
from probzero.report.reference import keep
from probzero.tables import write_csv

TABLE = pd.DataFrame({"number": [1, 2]})
SMOKE = config.load(ROOT / "config" / "smoke.yaml").as_dict()
SETTINGS = {**SMOKE, "seeds": [0], "arena": {**SMOKE["arena"], "checkpoints": [0, 2]}}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A finished run of two iterations, of which the first met nobody."""
    folder = tmp_path / "run"
    files.write_json(folder / "config.json", SETTINGS, config.KIND, made())
    files.write_json(folder / "machine.json", {"versions": "1", "processor": "some"}, machine.KIND, made())
    left = ("tables/a.csv", "figures/a.png", "matches/b.csv", "truth/c/kept.csv", "selfplay/0001/shard0.csv")
    certified = ("certificates/iteration-0002.csv", "certificates/iteration-0002.json.gz")
    for name in (*left, *certified):
        write_csv(folder / "seed0" / name, TABLE, "table", made())
    for number in (0, 1, 2):
        path = folder / "seed0" / "checkpoints" / f"{number:04}.safetensors"
        save_checkpoint(path, network(), checkpoint_info(GAME, NETWORK, iteration=number))
    return folder


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in manifest.listed(folder)}


def test_tables_records_and_every_checkpoint_of_the_tournament_are_kept_and_nothing_else(run: Path) -> None:
    target = run.with_name("kept")
    assert keep(run, target) == 10
    assert names(target) == {
        "config.json", "machine.json", "seed0/tables/a.csv", "seed0/figures/a.png", "seed0/matches/b.csv",
        "seed0/truth/c/kept.csv", "seed0/checkpoints/0000.safetensors", "seed0/checkpoints/0002.safetensors",
        "seed0/certificates/iteration-0002.csv", "seed0/certificates/iteration-0002.json.gz",
    }  # fmt: skip
    assert manifest.faults(target) == (10, [])
    processors = pd.read_csv(target / manifest.NAME)["processor"]
    assert set(processors) == {"some"}


def test_of_a_game_that_is_not_solved_the_last_checkpoint_is_kept_and_matches_with_others(run: Path) -> None:
    """Checkpoints of all runs would take more room than `make verify-results` allows."""
    game = {"name": "connect_four", "width": 7, "height": 6}
    arena = {**SETTINGS["arena"], "anchors": ["random"]}
    files.write_json(run / "config.json", {**SETTINGS, "game": game, "arena": arena}, config.KIND, made())
    save_checkpoint(run / reference.CEILINGS.replace("*", "0"), network(), checkpoint_info(GAME, NETWORK))
    for name in ("opponents/other.csv", "endings/kept.csv", "problems/of/solved.csv"):
        write_csv(run / name, TABLE, "table", made())
    found = names(run.with_name("kept")) if keep(run, run.with_name("kept")) else set()
    assert {name for name in found if "checkpoints" in name} == {"seed0/checkpoints/0002.safetensors"}
    assert {"opponents/other.csv", "endings/kept.csv", "problems/of/solved.csv", "seed0/matches/b.csv"} <= found
    (run / "seed0" / "checkpoints" / "0002.safetensors").unlink()
    with pytest.raises(ProbZeroError, match="finished run"):
        keep(run, run.with_name("kept"))


def test_verdicts_are_kept_with_all_that_they_were_made_of(tmp_path: Path) -> None:
    run, target = tmp_path / "study", tmp_path / "kept"
    files.write_json(run / "machine.json", {"versions": "1", "processor": "some"}, machine.KIND, made())
    for name in ("verdicts.csv", "picks.csv", "openings.csv", "outcomes.safetensors"):
        if name.endswith(".csv"):
            write_csv(run / name, TABLE, "table", made())
    with pytest.raises(ProbZeroError, match="finished run"):
        keep(run, target)
    save_checkpoint(run / "outcomes.safetensors", network(), checkpoint_info(GAME, NETWORK))
    assert keep(run, target) == 5 and manifest.faults(target) == (5, [])


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


def test_every_seed_must_have_all_of_its_checkpoints_and_tables(run: Path) -> None:
    files.write_json(run / "config.json", {**SETTINGS, "seeds": [0, 1]}, config.KIND, made())
    for path in [path for path in (run / "seed0").rglob("*") if path.is_file()]:
        other = run / "seed1" / path.relative_to(run / "seed0")
        other.parent.mkdir(parents=True, exist_ok=True)
        other.write_bytes(path.read_bytes())
    assert keep(run, run.with_name("kept")) == 18
    for name in ("checkpoints/0002.safetensors", "tables/a.csv", "truth/c/kept.csv"):
        path = run / "seed1" / name
        path.rename(run / "away")
        with pytest.raises(
            ProbZeroError, match=rf"seed1/{name[:5]}.*: expected the files of a finished run, found none"
        ):
            keep(run, run.with_name("kept"))
        (run / "away").rename(path)


@pytest.mark.parametrize("record", [[1], "text", {"arena": {}}, {"variants": {}}, {"variants": 3, "name": []}])
def test_a_record_that_is_none_is_refused_in_one_line(
    record: object, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files.write_json(run / "config.json", record, config.KIND, made())
    assert main(["reference", "--run", str(run), "--output", str(run.with_name("kept"))]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{run / 'config.json'}" in line and not run.with_name("kept").exists()


@pytest.mark.parametrize("said", [[1], "text", {"versions": "1"}, {"versions": 1, "processor": "some"},
                                  {"versions": "1\n2", "processor": "some"}])  # fmt: skip
def test_a_machine_that_is_none_is_refused_in_one_line(
    said: object, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files.write_json(run / "machine.json", said, machine.KIND, made())
    assert main(["reference", "--run", str(run), "--output", str(run.with_name("kept"))]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{run / 'machine.json'}" in line and not run.with_name("kept").exists()


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A finished study of two variants, one of which does not learn, and two seeds."""
    folder = tmp_path / "study"
    raw = committed.plain("study-smoke")
    raw |= {"seeds": [0, 1], "variants": {name: raw["variants"][name] for name in ("probzero", "uct")}}
    written = ["--output", str(folder / "config.json"), "--machine", str(folder / "machine.json")]
    assert main(["config", "--config", json.dumps(raw), *written]) == 0
    parts = [f"{name}/seed{seed}" for name in ("probzero", "uct") for seed in (0, 1)]
    tables = [f"{part}/{table}.csv" for part in parts for table in ("measures", "costs")]
    tables += [f"seed{seed}/{name}.csv" for seed in (0, 1) for name in ("tables/ratings", "matches/uct")]
    for name in (*tables, "positions.csv", "tables/final.csv", "figures/a.png"):
        write_csv(folder / name, TABLE, "table", made())
    return folder


def left_behind(study: Path) -> set[str]:
    """Write what is not committed, and return the last checkpoints."""
    for name in ("probzero/seed0/selfplay/0001/shard0.csv", "probzero/seed0/training/0001.json", "logs/report.csv"):
        write_csv(study / name, TABLE, "table", made())
    last = committed.parsed("study-smoke").variants["probzero"].training.iterations
    for seed in (0, 1):
        for number in (last - 1, last):
            path = study / f"probzero/seed{seed}/checkpoints/{number:04}.safetensors"
            save_checkpoint(path, network(), checkpoint_info(GAME, NETWORK, iteration=number, seed=seed))
    return {f"probzero/seed{seed}/checkpoints/{last:04}.safetensors" for seed in (0, 1)}


def test_of_a_study_measures_costs_tables_records_and_small_last_checkpoints_are_kept(study: Path) -> None:
    target, kept = study.with_name("kept"), names(study)
    kept |= left_behind(study)
    assert keep(study, target) == len(kept)
    assert names(target) == kept
    assert manifest.faults(target) == (len(kept), [])
    (study / "uct" / "seed1" / "measures.csv").unlink()
    with pytest.raises(
        ProbZeroError, match=r"uct/seed1/measures\.csv: expected the files of a finished run, found none"
    ):
        keep(study, target)
    assert manifest.faults(target) == (len(kept), [])


@pytest.mark.parametrize(("seeds", "room"), [(2, 2.0), (1, 1.9), (0, 0.9)])
def test_of_larger_networks_only_those_of_the_first_seeds_are_kept(
    seeds: int, room: float, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = sorted(left_behind(study))
    monkeypatch.setattr(reference, "CHECKPOINTS_OF_STUDY", int(room * (study / last[0]).stat().st_size))
    keep(study, study.with_name("kept"))
    assert {name for name in names(study.with_name("kept")) if "checkpoints" in name} == set(last[:seeds])


def test_a_study_whose_last_checkpoint_is_missing_is_refused(study: Path) -> None:
    (study / max(left_behind(study))).unlink()
    with pytest.raises(ProbZeroError, match=r"probzero/seed1/checkpoints/\d{4}\.safetensors: expected the files"):
        keep(study, study.with_name("kept"))
