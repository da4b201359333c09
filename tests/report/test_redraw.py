"""Figures drawn anew from committed tables are those that the run drew, and the manifest knows them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import made_study
import pandas as pd
import pytest
from sealed import MADE, copy, reseal
from test_report import reported, settings, write_inputs

from probzero import config, files, machine
from probzero.__main__ import main
from probzero.report import manifest, style
from probzero.report.evidence.verdicts import COLUMNS, OPEN
from probzero.report.tables import write_table
from probzero.tables import TABLE, write_csv

VARIANTS = ("probzero", "alphazero", "uct", "no-dag")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A committed run: its tables, figures, record and manifest."""
    monkeypatch.setattr(style, "DPI", 30)
    folder = tmp_path / "run"
    write_inputs(folder / "seed0", 1.0, 250)
    assert reported(folder) == 0
    for path in (folder / "seed0").iterdir():
        if path.name not in ("tables", "figures"):
            shutil.rmtree(path)
    record = config.parse({**settings(), "name": "run"}).as_dict()
    files.write_json(folder / "config.json", record, config.KIND, MADE)
    files.write_json(folder / "machine.json", machine.describe(), machine.KIND, MADE)
    manifest.write_manifest(folder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_code_draws_a_run_to_the_same_bytes_seals_and_manifest(run: Path) -> None:
    before = contents(run)
    (run / "seed1" / "checkpoints").mkdir(parents=True)  # of some seeds the checkpoints alone are committed
    shutil.rmtree(run / "seed0" / "figures")
    assert main(["redraw", str(run)]) == 0
    assert contents(run) == before


def test_another_look_changes_figures_their_seals_and_the_manifest_alone(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(run)
    monkeypatch.setattr(style, "DPI", 40)
    assert main(["redraw", str(run)]) == 0
    assert manifest.faults(run)[1] == []
    changed = {name for name, data in contents(run).items() if data != before[name]}
    assert {name for name in changed if "/figures/" not in name} == {manifest.NAME, f"seals/{manifest.NAME}.json"}
    assert len([name for name in changed if name.endswith(".png")]) == 10
    assert not {name for name in changed if "/tables/" in name}


def test_a_changed_table_is_refused_before_anything_is_drawn(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = run / "seed0" / "tables" / "truth.csv"
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    before = contents(run)
    assert main(["redraw", str(run)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{path}: expected the file that was written" in line and contents(run) == before


def test_a_study_is_drawn_as_its_report_drew_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "DPI", 30)
    made_study.write(tmp_path / "in", VARIANTS, range(2), (0, 40))
    study = tmp_path / "study"
    copy(tmp_path / "in" / "config.json", study / "config.json")
    reseal(study / "config.json", settings={"study": "0123456789ab"})
    said: dict[str, list[str]] = {"measures": [], "costs": [], "ratings": []}
    for path in sorted((tmp_path / "in").rglob("*-?.csv")):
        kind, _, seed = path.stem.rpartition("-")
        inside = f"seed{seed}/tables/ratings.csv" if kind == "ratings" else f"{path.parent.name}/seed{seed}/{kind}.csv"
        said[kind].append(str(copy_as_named(path, study / inside)))
    given = [word for kind, paths in said.items() for word in (f"--{kind}", *paths)]
    folders = ["--tables", str(study / "tables"), "--figures", str(study / "figures")]
    assert main(["study-report", "--study", str(study / "config.json"), *given, *folders]) == 0
    before = contents(study)
    shutil.rmtree(study / "figures")
    assert main(["redraw", str(study)]) == 0
    assert contents(study) == before


def copy_as_named(path: Path, target: Path) -> Path:
    """Copy a table that says that it is the one its file is named after."""
    content = json.loads(files.seal_of(path).read_text())
    target = copy(path, target)
    if content["kind"] == TABLE:
        reseal(target, subject=target.stem)
    return target


def test_verdicts_are_drawn_beside_their_table(tmp_path: Path) -> None:
    ratio = {"claim": "1", "contrast": "tree / roots", "estimate": 0.7, "low": 0.5, "high": 1.1, "p_holm": 0.2,
             "equivalent": "no", "verdict": OPEN}  # fmt: skip
    write_table(pd.DataFrame([ratio], columns=list(COLUMNS)), tmp_path / "verdicts.csv", MADE)
    assert main(["redraw", str(tmp_path)]) == 0
    for kind in ("png", "pdf"):
        assert files.read_sealed(tmp_path / f"verdicts.{kind}", style.FIGURE)[1] == MADE.about("verdicts")


def test_a_folder_of_something_else_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_csv(tmp_path / "games.csv", pd.DataFrame({"number": [1]}), TABLE, MADE)
    assert main(["redraw", str(tmp_path)]) == 2
    assert f"redraw: {tmp_path}: expected a run, a study or tournaments" in capsys.readouterr().err
