"""The manifest of a committed run: whence every file comes, and nothing missing, added or changed since."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pandas as pd
import pytest
from kinds_of_files import GAME, NETWORK, network
from sealed import checkpoint_info, made

from probzero import files, machine
from probzero.__main__ import main
from probzero.network.checkpoint import save_checkpoint
from probzero.report.manifest import COLUMNS, NAME, faults, write_manifest
from probzero.report.tables import write_table
from probzero.tables import read_table

COMMITTED = Path(__file__).parents[2] / "results" / "reference"
MEGABYTE = 1e6
ON = {"versions": "numpy 1", "processor": "some"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A committed run of five files: a table in two forms, the machine, a checkpoint and a text."""
    folder = tmp_path / "results" / "one"
    by = made(command="study-report", settings={"game": "aaa", "arena": "bbb"})
    write_table(pd.DataFrame({"number": [1, 2]}), folder / "seed0" / "tables" / "a.csv", by)
    save_checkpoint(folder / "0001.safetensors", network(), checkpoint_info(GAME, NETWORK, command="train"))
    files.write_json(folder / "machine.json", ON, machine.KIND, made(command="config"))
    files.write_text(folder / "notes.txt", "of people")
    write_manifest(folder)
    return folder


def test_every_file_is_listed_with_its_sum_its_rule_its_settings_and_what_it_was_made_on(run: Path) -> None:
    table = read_table(run / NAME, COLUMNS, "manifest").set_index("file")
    settings = "arena:bbb game:aaa"
    assert table[["rule", "configuration"]].T.to_dict("list") == {
        "0001.safetensors": ["train", "none"],
        "machine.json": ["config", "none"],
        "notes.txt": ["unknown", "unknown"],
        "seed0/tables/a.csv": ["study_report", settings],
        "seed0/tables/a.md": ["study_report", settings],
    }
    assert all(hashlib.sha256((run / name).read_bytes()).hexdigest() == table.sha256[name] for name in table.index)
    assert set(table.versions) == {"numpy 1"} and set(table.processor) == {"some"}
    assert faults(run) == (5, [])


def test_the_same_files_give_the_same_manifest(run: Path) -> None:
    before = (run / NAME).read_bytes()
    write_manifest(run)
    assert (run / NAME).read_bytes() == before


@pytest.mark.parametrize("name", ["0001.safetensors", "machine.json", "notes.txt", "seed0/tables/a.md"])
def test_a_file_that_is_missing_added_or_changed_is_a_fault(name: str, run: Path) -> None:
    path = run / name
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert faults(run) == (5, [f"{path}: not the file of the manifest"])
    path.unlink()
    assert faults(run) == (4, [f"{path}: in the manifest, but not there"])
    path.write_bytes(whole)
    added = path.with_name("added.csv")
    added.write_bytes(b"number\n1\n")
    assert faults(run) == (6, [f"{added}: not in the manifest"])


def test_a_seal_that_does_not_hold_is_a_fault(run: Path) -> None:
    seal = files.seal_of(run / "seed0" / "tables" / "a.csv")
    seal.write_text(seal.read_text().replace("aaa", "ccc"))
    count, wrong = faults(run)
    assert count == 5 and len(wrong) == 2 and all("expected the seal that was written" in line for line in wrong)


def test_a_manifest_that_was_changed_or_is_missing_is_a_fault(run: Path) -> None:
    (run / NAME).write_bytes((run / NAME).read_bytes().replace(b"study_report", b"study_elo", 1))
    count, (line,) = faults(run)
    assert count == 5 and f"{run / NAME}: expected the file that was written" in line
    (run / NAME).unlink()
    count, (line,) = faults(run)
    assert count == 5 and f"{run / NAME}: expected a file, found nothing" in line


def verified(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    status = main(["verify-results", str(folder)])
    return status, capsys.readouterr().out.splitlines()


def test_the_command_ends_with_one_line_of_files_and_faults(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = run.with_name("two")
    files.write_json(other / "machine.json", ON, machine.KIND, made())
    write_manifest(other)
    assert verified(run.parent, capsys) == (0, ["6 files, 0 faults"])
    (other / "machine.json").write_text("{}")
    fault = f"{other / 'machine.json'}: not the file of the manifest"
    assert verified(run.parent, capsys) == (1, [fault, "6 files, 1 faults"])


def test_a_folder_without_runs_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify-results", str(tmp_path)]) == 2
    assert "expected a folder of runs, found none" in capsys.readouterr().err


def test_what_is_committed_holds_and_stays_small(capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = verified(COMMITTED, capsys)
    assert status == 0, lines
    assert lines[-1].endswith(", 0 faults") and len(lines) == 1
    assert sum(path.stat().st_size for path in COMMITTED.rglob("*") if path.is_file()) < 80 * MEGABYTE
