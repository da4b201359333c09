"""Bad input of the database and of what asks it: each ends in one line that says what is wrong."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from made_database import SMALL, make, opened

from probzero import files
from probzero.__main__ import FAILURE, main
from probzero.database import needs
from probzero.database.form import Form
from probzero.database.layers import KIND, LAYER, MADE, VERIFIED, describe, path_of, read_layer
from probzero.errors import ProbZeroError

CONFIG = json.dumps({"game": SMALL.described})


@pytest.fixture
def folder(database4: Path, tmp_path: Path) -> Path:
    """A database of its own, whose layers have all been verified."""
    target = tmp_path / "database"
    shutil.copytree(database4, target)
    make(target)
    return target


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 16
    path.write_bytes(data)


@pytest.mark.parametrize("place", [0, 8 * 98 - 1, -1], ids=["a key", "the last key", "a value"])
def test_a_flipped_bit_is_found_though_the_layer_was_verified_before(folder: Path, place: int) -> None:
    flip(path_of(folder, LAYER, 9), place)
    with pytest.raises(
        ProbZeroError, match=r"layer-09: expected the file that was written \(SHA-256 .*, found .*delete"
    ):
        read_layer(folder, SMALL, LAYER, 9)


def test_a_layer_that_was_cut_short_is_refused(folder: Path) -> None:
    os.truncate(path_of(folder, LAYER, 9), 800)
    with pytest.raises(ProbZeroError, match="layer-09: expected 882 bytes, found 800 bytes"):
        read_layer(folder, SMALL, LAYER, 9)


def test_a_layer_in_the_place_of_another_is_refused(folder: Path) -> None:
    for path, other in ((path_of(folder, LAYER, 9), path_of(folder, LAYER, 10)),):
        shutil.copyfile(other, path)
        shutil.copyfile(describe(other), describe(path))
        shutil.copyfile(files.seal_of(describe(other)), files.seal_of(describe(path)))
    with pytest.raises(ProbZeroError, match="layer-09: phase: expected 9, found 10"):
        read_layer(folder, SMALL, LAYER, 9)


@pytest.mark.parametrize(
    ("name", "other"), [("format", 2), ("game_version", 7), ("game", {"name": "othello", "size": 5})]
)
def test_a_database_of_another_version_or_game_is_refused(folder: Path, name: str, other: object) -> None:
    path = describe(path_of(folder, LAYER, 4))
    files.write_json(path, {**json.loads(path.read_text()), name: other}, KIND, MADE)
    with pytest.raises(ProbZeroError, match=rf"layer-04: {name}: expected .*, found"):
        read_layer(folder, SMALL, LAYER, 4)


def test_a_description_that_was_changed_is_refused(folder: Path) -> None:
    path = describe(path_of(folder, LAYER, 9))
    path.write_text(path.read_text().replace('"wins": 61', '"wins": 62'))
    with pytest.raises(ProbZeroError, match="layer-09"):
        read_layer(folder, SMALL, LAYER, 9)


def test_what_was_verified_is_not_hashed_again_until_it_is_touched(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed = []
    monkeypatch.setattr("probzero.database.layers.AT_ONCE", SimpleNamespace(__index__=lambda: hashed.append(1)))
    read_layer(folder, SMALL, LAYER, 9)
    assert not hashed
    monkeypatch.undo()
    noted = (folder / VERIFIED).read_text()
    (folder / VERIFIED).write_text(noted[:-9])  # what is no note is no proof either
    flip(path_of(folder, LAYER, 9), 5)
    with pytest.raises(ProbZeroError, match="layer-09"):
        read_layer(folder, SMALL, LAYER, 9)


@pytest.mark.parametrize("missing", ["layer-04", "layer-04.json"])
def test_an_unfinished_database_is_none(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(ProbZeroError, match=r"expected a finished one of othello-size4, found none; probzero database"):
        opened(folder)


def test_a_layer_that_went_missing_is_told(folder: Path) -> None:
    path_of(folder, LAYER, 9).unlink()
    with pytest.raises(ProbZeroError, match="layer-09: expected 882 bytes, found nothing"):
        opened(folder).require(SMALL.from_text("xxx./.oo./.ooo/....")[None])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("xo../oxx./.xo./....", "position: xo../oxx./.xo./....: expected one that can be reached from the start of"),
        (".xo./.xo./.xo./..../....", "expected 4 rows of 4 characters"),
        (".xo./.xz./.xo./....", "expected 4 rows of 4 characters"),
    ],
    ids=["not reachable", "another size", "no position"],
)
def test_a_wrong_position_ends_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    assert main(["solve", "--config", CONFIG, "--database", str(folder), text]) == FAILURE
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and said in error


def test_two_discs_on_one_square_are_no_position(folder: Path) -> None:
    with pytest.raises(ProbZeroError, match="at most one disc per square"):
        SMALL.check_states(np.array([[3, 1]]))


def test_solve_says_the_same_with_and_without_a_database(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for chosen in ([], ["--database", str(folder)]):
        assert main(["solve", "--config", CONFIG, *chosen, ".xo./.xo./.xo./...."]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] == ".xo./.xo./.xo./.... · +8 · d1 +8, d2 -12, d3 -8, d4 -2\n"


def test_too_little_memory_or_disk_is_said_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    large = json.dumps({"game": {"name": "othello", "size": 5}})
    asked = ["database", "--config", large, "--folder", str(tmp_path / "new")]
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2 << 30))
    assert main(asked) == FAILURE
    assert "memory: this machine: expected 3.6 GiB free for the database of othello-size5, found 2.0 GiB" in (
        capsys.readouterr().err
    )
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=64 << 30))
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=3 << 30))
    assert main(asked) == FAILURE
    assert "disk: " in (error := capsys.readouterr().err) and "expected 3.6 GiB free" in error
    assert not (tmp_path / "new").exists()


def test_what_is_there_already_needs_no_more_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, disk = needs.needs(Form(SMALL)) or (0, 0)
    there = sum(path.stat().st_size for path in folder.glob("layer-*"))
    assert memory > 1 << 29 and there < disk
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=disk - there))
    needs.check(Form(SMALL), folder)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=100))
    with pytest.raises(ProbZeroError, match="disk"):
        needs.check(Form(SMALL), folder)
