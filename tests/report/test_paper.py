"""The paper is made of the files of a run: all are needed, their numbers show, and equal files give equal bytes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import paper_inputs
import pytest
import typst
from paper_inputs import ROOT, arguments, copied, make_run, refusal, replace, words
from sealed import reseal

from probzero import files
from probzero.__main__ import main
from probzero.errors import ProbZeroError
from probzero.report import paper
from probzero.report.same_files import is_cost

made = paper_inputs.made


@pytest.fixture
def changing(made: Path, tmp_path: Path) -> Path:
    """A copy of the run, to be changed."""
    return copied(made, paper.run_files(made, 3), tmp_path)


def test_equal_files_give_equal_bytes_wherever_they_are(made: Path, changing: Path) -> None:
    one, two = made / "paper.pdf", changing / "deeper" / "paper.pdf"
    reseal(made / "config.json", settings={"game": "aaa"})
    assert main(arguments(made, one)) == 0
    assert files.read_sealed(one, "paper")[1].settings == {"game": "aaa"}
    assert main(arguments(changing, two)) == 0
    assert one.read_bytes().startswith(b"%PDF")
    assert one.read_bytes() == two.read_bytes() and b"CreationDate" not in one.read_bytes()


def test_the_abstract_tells_the_numbers_of_the_run(made: Path) -> None:
    said = words(made, "<abstract>")
    # worked out by hand from the tables: 25 and 31 of 40, and what a random move keeps
    for number in ("in 62.5% of the positions", "in 77.5% with a short search", "a random move does in 37.5%"):
        assert number in said, f"{number} in {said}"
    assert "The study that is to decide the published claims, written down before its runs, is not finished" in said


@pytest.mark.parametrize(
    ("certified", "expected"),
    [
        (4, "No opponent whatsoever can take the win of the start from it, under any key"),
        (3, "Under some keys of its random draws, not under all that were tried, no opponent"),
        (0, "But some opponent can take the win of the start from it."),
    ],
)
def test_the_abstract_follows_the_certificates(certified: int, expected: str, changing: Path) -> None:
    replace(changing / "seed3" / "tables" / "certificates.csv", ("8,1,4,4,", f"8,1,4,{certified},"))
    assert expected in words(changing, "<abstract>")


def test_losses_are_told_in_bands_that_do_not_depend_on_them(made: Path) -> None:
    said = words(made, "<by-discs>")  # all 40 positions have 7 discs, of 25 squares: 25 were kept raw, 31 with search
    for part in (
        "By its policy alone it does so in 15 of 40 (37.5%) at up to 12 discs",
        "with 8 particles in 9 of 40 (22.5%)",
    ):
        assert part in said


def test_every_figure_names_its_file_and_the_rule_that_drew_it(made: Path) -> None:
    captions = words(made, "figure")
    for name in paper.FIGURES:
        assert f"seed3/figures/{name}.pdf, drawn by rule report from seed3/tables/" in captions, name


def test_the_settings_have_lag_and_least_moves(changing: Path) -> None:
    replace(changing / "config.json", ('"lag": 0', '"lag": 3'), ('"least_moves": 1', '"least_moves": 2'))
    tables = words(changing, "figure")
    assert "(lag)30" in tables and "(least_moves)21" in tables  # this run, as published


def test_a_run_of_another_seed_names_a_configuration_that_is_there(made: Path, changing: Path) -> None:
    assert "--configfile config/smoke.yaml \\\n  --config 'seeds=[3]'" in words(made, "<command>")
    replace(changing / "config.json", ('"name": "smoke"', '"name": "smoke-seed3"'))
    said = words(changing, "<command>")
    assert "--configfile config/smoke.yaml" in said and "'seeds=[3]' name=smoke-seed3" in said
    assert (ROOT / "config" / "smoke.yaml").is_file()


@pytest.mark.parametrize("name", [path.name for path in paper.run_files(Path(), 3)])
def test_every_file_is_needed_and_named_when_missing(
    name: str, changing: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (missing,) = [path for path in paper.run_files(changing, 3) if path.name == name]
    missing.unlink()
    line = refusal(capsys, changing)
    assert line == f"probzero: error: {paper.kind_of(missing)}: {missing}: expected a file, found nothing"


@pytest.mark.parametrize("name", [path.name for path in paper.run_files(Path(), 3)])
def test_a_file_that_was_changed_by_hand_is_named(
    name: str, changing: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = [path for path in paper.run_files(changing, 3) if path.name == name]
    path.write_bytes(path.read_bytes() + b"\n")
    line = refusal(capsys, changing)
    assert f"{paper.kind_of(path)}: {path}: expected the file that was written" in line
    assert line.endswith("delete it and run the same command again: it is made anew")


def test_a_table_of_another_seed_is_refused(changing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = changing / "seed3" / "tables" / "ratings.csv"
    reseal(path, seed=4)
    assert f"table: {path}: seed: expected seed 3, found seed 4" in refusal(capsys, changing)


def test_nothing_that_the_paper_reads_tells_of_times_or_of_the_machine() -> None:
    read = [*paper.run_files(Path(), 3), *paper.study_files(Path())]
    assert not [path for path in read if is_cost(path)]
    sources = "".join(
        path.read_text(encoding="utf-8")
        for path in paper.SOURCE.parent.glob("*.typ")
        if path.name != "compute.typ"  # which reads what is committed, and nothing of the run
    )
    assert not re.search(r"[a-z]_seconds|\bseconds\b|per_second|cache_hit|network_(calls|evaluations|share)", sources)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("config.json", '"blocks": 2', '"blocks": 3'),
        ("truth/positions.csv", "d3 c4,b1 a2", "d3,b1 a2 c4"),
        ("truth/ceiling.json", "332", "331"),
        ("tables/ratings.csv", "123.4", "124.4"),
        ("tables/differences.csv", "123.4", "124.4"),
        ("tables/pairings.csv", "perfect,iteration-0002,4,3,0,1,0.75", "perfect,iteration-0002,4,3,0,1,0.7"),
        ("tables/model.csv", "-17.2", "-18.2"),
        ("tables/truth.csv", "all,8,40,31,0.775", "all,8,40,31,0.785"),
        ("tables/errors.csv", "iteration-0002,2,all,0,7,40,25", "iteration-0002,2,all,0,7,40,24"),
        ("tables/calibration.csv", "0.53", "0.54"),
        ("tables/reliability.csv", "value,9", "value,0"),
        ("tables/perfect.csv", "openings,4,3", "openings,5,3"),
        ("tables/certificates.csv", "69,50", "69,51"),
        ("tables/blunders.csv", "2.5,4", "2.6,4"),
        ("tables/selfplay.csv", "1234", "1235"),
        ("tables/training.csv", "2,512", "2,513"),
    ],
)
def test_a_number_that_changes_changes_the_paper(name: str, old: str, new: str, made: Path, changing: Path) -> None:
    path = changing / name if name == "config.json" else changing / "seed3" / name
    replace(path, (old, new))
    assert paper.compile_pdf(changing, 3) != paper.compile_pdf(made, 3)


def test_a_table_without_its_column_is_one_line(changing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replace(changing / "seed3" / "tables" / "calibration.csv", ("brier", "score"))
    assert "brier" in refusal(capsys, changing)


def without(unwanted: str) -> Callable[[bytes], bytes]:
    """A change that drops the lines in which a text stands."""
    return lambda data: b"".join(line for line in data.splitlines(keepends=True) if unwanted.encode() not in line)


def test_another_board_without_other_players_and_without_games_from_the_start_compiles(tmp_path: Path) -> None:
    folder = make_run(tmp_path, game={"size": 4}, arena={"anchors": []}, truth={"games_from_start": 0})
    tables = folder / "seed3" / "tables"
    for name, unwanted in {
        "ratings": "perfect",
        "differences": "perfect",
        "pairings": "perfect",
        "perfect": ",start,",
    }.items():
        reseal(tables / f"{name}.csv", without(unwanted))
    assert "On 4 × 4 Othello" in words(folder, "<abstract>")
    assert paper.compile_pdf(folder, 3).startswith(b"%PDF")


def test_a_wrong_source_is_a_clear_error(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "SOURCE", tmp_path / "paper.typ")
    with pytest.raises(ProbZeroError, match=r"paper\.typ: expected a file, found nothing"):
        paper.compile_pdf(made, 3)


def written(expression: str, folder: Path) -> str:
    """What a function of number-formats.typ makes of a number."""
    settings = paper.settings(folder, 3)
    functions = paper.SOURCE.with_name("number-formats.typ").resolve().relative_to(settings["root"]).as_posix()
    document = f'#import "/{functions}": *\n#metadata({expression}) <it>'.encode()
    return json.loads(typst.query(**{**settings, "input": document}, selector="<it>", field="value", one=True))


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (0.0, 1, "0.0"),
        (0.05, 2, "0.05"),
        (-0.004, 2, "0.00"),
        (-3.14159, 3, "−3.142"),
        (99.95, 1, "100.0"),
        (7.5, 0, "8"),
    ],
)
def test_numbers_are_rounded_and_padded(value: float, digits: int, expected: str, made: Path) -> None:
    assert written(f"fixed({value}, {digits})", made) == expected
    assert math.isclose(float(expected.replace("−", "-")), value, abs_tol=0.5 * 10**-digits + 1e-9)


@pytest.mark.parametrize(
    ("value", "expected"), [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567"), (-123456, "−123,456")]
)
def test_thousands_are_set_apart(value: int, expected: str, made: Path) -> None:
    assert written(f"grouped({value})", made) == expected
