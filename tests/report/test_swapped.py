"""A table or a figure in the place of another is refused by everything that reads it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import paper_inputs
import pytest
from kinds_of_files import ROOT
from paper_inputs import copied, refusal
from sealed import MADE, copy, reseal

from probzero import files
from probzero.__main__ import main
from probzero.errors import ProbZeroError
from probzero.report import paper, style
from probzero.report.paper_inputs import COLUMNS
from probzero.report.tables import read_written, write_table

made, study = paper_inputs.made, paper_inputs.study
REFERENCE = ROOT / "results" / "reference"


@pytest.fixture
def changing(made: Path, tmp_path: Path) -> Path:
    """A copy of the run, to be changed."""
    return copied(made, paper.run_files(made, 3), tmp_path / "run")


def test_a_table_says_which_it_is(tmp_path: Path) -> None:
    for name in ("truth", "errors"):
        write_table(pd.DataFrame({"number": [1]}), tmp_path / f"{name}.csv", MADE)
    copy(tmp_path / "truth.csv", tmp_path / "errors.csv")
    with pytest.raises(ProbZeroError, match=r"errors\.csv: subject: expected subject errors, found subject truth"):
        read_written(tmp_path / "errors.csv", {})


def test_a_figure_says_which_it_is(tmp_path: Path) -> None:
    with style.figure(style.SINGLE, 1.0) as (drawn, _):
        style.save(drawn, tmp_path / "elo", MADE)
    for kind in ("pdf", "png"):
        assert files.read_sealed(tmp_path / f"elo.{kind}", style.FIGURE)[1] == MADE.about("elo")


@pytest.mark.parametrize(
    ("one", "other"),
    [("tables/truth.csv", "tables/errors.csv"), ("figures/elo.pdf", "figures/truth.pdf")],
)
def test_the_paper_takes_no_file_for_another(
    one: str, other: str, changing: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [changing / "seed3" / name for name in (one, other)]
    copy(*paths)
    line = refusal(capsys, changing)
    assert f"{paths[1]}: subject: expected subject {paths[1].stem}, found subject {paths[0].stem}" in line


def test_the_paper_takes_no_figure_of_a_study_for_another(
    made: Path, study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = copied(study, paper.study_files(study), tmp_path / "study")
    copy(changed / "figures" / "study_truth.pdf", changed / "figures" / "study_ablations.pdf")
    assert "study_ablations.pdf: subject: expected" in refusal(capsys, made, changed)


def test_a_check_and_the_readme_take_no_table_for_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "reference" / "laptop"
    for path in [REFERENCE / "laptop" / "config.json", *(REFERENCE / "laptop" / "seed0" / "tables").glob("*.csv")]:
        copy(path, run / path.relative_to(REFERENCE / "laptop"))
    text = tmp_path / "text.md"
    text.write_text("<!-- table: expected -->\n<!-- end -->\n", encoding="utf-8")
    commands = (
        ["check", "--run", str(run), "--reference", str(REFERENCE / "laptop")],
        ["readme", str(text), "--results", str(tmp_path)],
    )
    for command in commands:
        assert main(command) == 0
    tables = run / "seed0" / "tables"
    reseal(tables / "truth.csv", subject="errors")
    for command in commands:
        capsys.readouterr()
        assert main(command) == 2
        assert "truth.csv: subject: expected subject truth, found subject errors" in capsys.readouterr().err
    reseal(tables / "truth.csv", subject="truth", seed=1)
    for command in commands:
        assert main(command) == 2
        assert "truth.csv: seed: expected seed 0, found seed 1" in capsys.readouterr().err


def test_a_readme_that_is_no_text_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "README.md").write_bytes(b"\xff\xfe")
    assert main(["readme", str(tmp_path / "README.md")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{tmp_path / 'README.md'}: expected a text in UTF-8" in line


def without(path: Path, *columns: str) -> None:
    """Drop columns of a sealed table and seal it anew."""
    reseal(path, lambda data: dropped(data, columns))


def dropped(data: bytes, columns: tuple[str, ...]) -> bytes:
    rows = [line.split(",") for line in data.decode().splitlines()]
    left = [number for number, name in enumerate(rows[0]) if name not in columns]
    return "".join(",".join(row[number] for number in left) + "\n" for row in rows).encode()


@pytest.mark.parametrize("name", paper.TABLES)
def test_a_table_that_lacks_a_column_is_named_by_the_paper(
    name: str, changing: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = changing / "seed3" / "tables" / f"{name}.csv"
    whole = path.read_bytes()
    for column in COLUMNS[name]:
        without(path, column)
        assert f"{path}: column {column}: expected present" in refusal(capsys, changing)
        reseal(path, lambda _: whole)


@pytest.mark.parametrize("name", paper.STUDY_TABLES)
def test_a_table_of_a_study_that_lacks_a_column_is_named_by_the_paper(
    name: str, made: Path, study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = copied(study, paper.study_files(study), tmp_path / "study")
    path = changed / "tables" / f"{name}.csv"
    whole = path.read_bytes()
    for column in COLUMNS[name]:
        without(path, column)
        assert f"{path}: column {column}: expected present" in refusal(capsys, made, changed)
        reseal(path, lambda _: whole)


def test_the_paper_reads_no_other_columns(made: Path, study: Path, changing: Path, tmp_path: Path) -> None:
    changed = copied(study, paper.study_files(study), tmp_path / "study")
    for folder in (changing / "seed3" / "tables", changed / "tables"):
        for path in folder.glob("*.csv"):
            names = path.read_text(encoding="utf-8").partition("\n")[0].split(",")
            without(path, *(name for name in names if name not in COLUMNS[path.stem]))
    ran, reference = paper.Beside(study=changed), paper.Beside(study=study)
    assert paper.compile_pdf(changing, 3, ran) == paper.compile_pdf(made, 3, reference)
