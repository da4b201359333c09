"""probzero verify-results, on what is committed: every kind of damage is a fault, and the last line counts them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sealed import reseal

from probzero import files
from probzero.__main__ import main
from probzero.commands import verify_results
from probzero.report.manifest import COLUMNS, NAME, listed
from probzero.tables import read_table

COMMITTED = Path(__file__).parents[2] / "results" / "reference"
TABLE = Path("seed0", "tables", "truth.csv")
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the committed run, but for its largest files; the manifest is written anew."""
    shutil.copytree(COMMITTED / "laptop", tmp_path / "laptop", ignore=shutil.ignore_patterns("checkpoints"))
    assert main(["manifest", str(tmp_path / "laptop")]) == 0
    return tmp_path


def verified(folder: Path, capsys: Capture) -> tuple[int, list[str], str]:
    """The status, the faults and the last line."""
    capsys.readouterr()
    status = main(["verify-results", str(folder)])
    *wrong, last = capsys.readouterr().out.splitlines()
    return status, wrong, last


def count(folder: Path) -> int:
    return sum(1 for _ in listed(folder / "laptop"))


def test_what_is_whole_has_no_fault(folder: Path, capsys: Capture) -> None:
    assert verified(folder, capsys) == (0, [], f"{count(folder)} files, 0 faults")


def changed(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"0", b"1", 1))


def without_seal(path: Path) -> None:
    files.seal_of(path).unlink()


def by_another_command(path: Path) -> None:
    reseal(path, command="train")


def with_other_settings(path: Path) -> None:
    reseal(path, settings={"game": "0123456789ab"})


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (changed, ": not the file of the manifest"),
        (Path.unlink, ": in the manifest, but not there"),
        (without_seal, ": rule unknown, in the manifest report"),
        (by_another_command, ": rule train, in the manifest report"),
        (with_other_settings, ": configuration game:0123456789ab, in the manifest "),
    ],
)
def test_every_damage_of_a_file_is_a_fault(
    damage: Callable[[Path], None], said: str, folder: Path, capsys: Capture
) -> None:
    path = folder / "laptop" / TABLE
    damage(path)
    status, wrong, last = verified(folder, capsys)
    assert status == 1 and last == f"{count(folder)} files, {len(wrong)} faults"
    assert any(line.startswith(f"{path}{said}") for line in wrong), wrong
    assert all(f"{path.with_suffix('')}." in line for line in wrong), wrong  # the text beside it shares the seal


def test_a_file_or_a_seal_that_is_too_much_is_a_fault(folder: Path, capsys: Capture) -> None:
    tables = (folder / "laptop" / TABLE).parent
    for added in (tables / "more.csv", tables / files.SEALS / "other.csv.json", tables / files.SEALS / "junk"):
        added.write_text("number\n1\n")
    status, wrong, last = verified(folder, capsys)
    assert (status, last) == (1, f"{count(folder)} files, 3 faults")
    assert wrong == [
        f"{tables / 'more.csv'}: not in the manifest",
        f"{tables / files.SEALS / 'junk'}: the seal of no file",
        f"{tables / files.SEALS / 'other.csv.json'}: the seal of no file",
    ]


def test_every_seal_that_is_missing_is_found(folder: Path, capsys: Capture) -> None:
    seals = [path for path in folder.rglob(f"{files.SEALS}/*") if path.name != f"{NAME}.json"]
    for seal in seals:
        seal.unlink()
    status, wrong, _ = verified(folder, capsys)
    assert status == 1 and len(wrong) >= len(seals)
    for seal in seals:
        assert any(f"{seal.parents[1] / seal.stem}: " in line for line in wrong), seal


def test_results_that_are_too_large_are_a_fault(folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    monkeypatch.setattr(verify_results, "LIMIT", size)
    assert verified(folder, capsys)[0] == 0
    monkeypatch.setattr(verify_results, "LIMIT", size - 1)
    status, wrong, last = verified(folder, capsys)
    assert status == 1 and last.endswith(" files, 1 faults") and wrong[0].startswith(f"{folder}: ")


def test_the_committed_manifests_name_every_file_with_its_rule() -> None:
    for run in sorted(COMMITTED.iterdir()):
        table = read_table(run / NAME, COLUMNS, "manifest")
        assert set(table["file"]) == {path.relative_to(run).as_posix() for path in listed(run)}
        assert not (table["rule"] == "unknown").any() and (table["configuration"] != "unknown").all()
