"""Two folders of results: a byte, a file too few and a file too many are noticed, times are not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from probzero.__main__ import main

FILES = ("config.json", "seed0/tables/truth.csv", "seed0/figures/elo.pdf", "seed0/checkpoints/0001.safetensors",
         "seed0/tables/seals/truth.csv.json")  # fmt: skip
OF_TIME = (
    ".lock", "cost.csv", "cost.md", "benchmarks/paper.tsv", "logs/paper.log", "seed0/logs/train/0001.log",
    "seed0/benchmarks/selfplay/0001-shard0.tsv", "seed0/costs/selfplay/0001-shard0.json", "seed0/costs/train/0001.json",
    "seed0/tables/costs.csv", "seed0/tables/costs.md", "seed0/figures/costs.png", "uct/seed0/costs.csv",
    "tables/costs_to_reach.csv", "figures/study_costs.pdf", "figures/study_costs_variants.png",
    "machine.json", "seals/machine.json.json", "seed0/tables/seals/costs.csv.json", "uct/seed0/seals/costs.csv.json",
)  # fmt: skip


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two equal folders whose files of time alone are different."""
    first, second = tmp_path / "first", tmp_path / "second"
    for name in (*FILES, *OF_TIME):
        path = first / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"the bytes of {name}".encode())
    shutil.copytree(first, second)
    for name in OF_TIME[::2]:
        (second / name).write_bytes(b"another time")
    for name in OF_TIME[1::2]:
        (second / name).unlink()
    return first, second


def compared(folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, list[str]]:
    status = main(["same", *map(str, folders), *more])
    return status, capsys.readouterr().out.splitlines()


def test_files_that_tell_of_time_may_differ(folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert compared(folders, capsys) == (0, ["5 files, 0 differ"])


@pytest.mark.parametrize("name", FILES)
def test_one_flipped_bit_is_noticed(name: str, folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    path = folders[1] / name
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    assert compared(folders, capsys) == (1, [f"{name}: differs", "5 files, 1 differ"])


@pytest.mark.parametrize("lacking", [0, 1])
def test_a_file_that_only_one_folder_has_is_noticed(
    lacking: int, folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (folders[lacking] / FILES[1]).unlink()
    assert compared(folders, capsys) == (1, [f"{FILES[1]}: not in {folders[lacking]}", "5 files, 1 differ"])
    extra = folders[1 - lacking] / "seed0" / "tables" / "more.csv"
    extra.write_text("", encoding="utf-8")
    status, lines = compared(folders, capsys)
    assert status == 1 and f"seed0/tables/more.csv: not in {folders[lacking]}" in lines
    assert lines[-1] == "6 files, 2 differ"


def test_a_name_that_only_resembles_one_of_time_is_compared(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("seed0/costly.csv", "seed0/accounting/costs-of-all.json", "blogs/0.log", "seed0/tables/training.md"):
        path = folders[0] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    assert compared(folders, capsys)[1][-1] == "9 files, 4 differ"


def test_further_files_are_left_out_if_asked(folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    for folder, text in zip(folders, ("{}", "[]"), strict=True):
        for name in ("config.json", "seals/config.json.json"):
            (folder / name).write_text(text, encoding="utf-8")
    assert compared(folders, capsys)[0] == 1
    assert compared(folders, capsys, "--without", "config.json") == (0, ["4 files, 0 differ"])


def test_nothing_compared_is_no_agreement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = (tmp_path / "first", tmp_path / "second")
    for folder in folders:
        (folder / "logs").mkdir(parents=True)
        (folder / "logs" / "all.log").write_text("", encoding="utf-8")
    assert compared(folders, capsys) == (1, ["0 files, 0 differ"])


def test_a_folder_that_is_not_there_is_named(folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    absent = folders[0].parent / "absent"
    assert main(["same", str(folders[0]), str(absent)]) == 2
    assert f"{absent}: expected a folder, found none" in capsys.readouterr().err
