"""What the paper says of the published claims is what the table of verdicts says; without one, that there is none."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pandas as pd
import paper_inputs
import pytest
import yaml
from paper_inputs import BY, ROOT, arguments, refusal, replace, words

from probzero.__main__ import main
from probzero.report import paper
from probzero.report.evidence.verdicts import COLUMNS, FAILS, HOLDS, OPEN
from probzero.report.tables import write_table

made, study, changed = paper_inputs.made, paper_inputs.study, paper_inputs.changed
NONE = math.nan
# Invented: ratios and Elo, with what the rules would say of them.
ROWS = [
    ("1", "tree / roots", 0.784, 0.661, 0.93, 0.0041, "no", HOLDS),
    ("1", "tree / roots, raw policy", 0.9, 0.8, 1.02, NONE, "no", ""),
    ("2", "bootstrap / outcome", 1.04, 0.93, 1.16, 0.4, "yes", FAILS),
    ("3", "winner_prob / visits, within tree", 0.8, 0.5, 1.2, 0.3, "no", OPEN),
    ("4", "evaluations a network call, probzero / one", 6.1, 5.8, 6.4, NONE, "no", HOLDS),
    ("4", "evaluations a network call, probzero / together", 0.98, 0.9, 1.1, NONE, "no", OPEN),
    ("5", "published, Elo of iteration 400 − 50", 30.2, -10.1, 70.3, NONE, "", FAILS),
    ("5", "published, pairs in which the later checkpoint is worse, of 28", 2.0, NONE, NONE, NONE, "", FAILS),
    ("6", "Elo of particles-8 − raw, claimed +100", 120.0, 80.0, 160.0, NONE, "", HOLDS),
    ("7", "probzero / gumbel", 1.3, 1.1, 1.6, 0.0004, "no", FAILS),
]


@pytest.fixture
def verdicts(tmp_path: Path) -> Path:
    path = tmp_path / "verdicts" / "verdicts.csv"
    write_table(pd.DataFrame(ROWS, columns=list(COLUMNS)), path, BY)
    return path


def test_without_verdicts_the_paper_says_that_there_are_none(made: Path, study: Path) -> None:
    for beside in (None, study):
        assert "The study that is to decide the published claims" in words(made, "<abstract>", beside)
        assert "No claim has a verdict yet" in words(made, "<results-in-short>", beside)
        assert "The runs are not finished, and no claim has a verdict" in words(made, "<verdicts-in-short>", beside)
        assert words(made, "<claims-first>", beside).count("not finished") == 7 + 1  # and in the caption
        assert words(made, "<title>", beside).startswith("[Re] ")


def test_the_first_page_and_the_abstract_are_written_from_the_verdicts(made: Path, study: Path, verdicts: Path) -> None:
    summary = words(made, "<results-in-short>", study, verdicts=verdicts)
    assert (
        "claims 1 and 6 hold; claims 2, 5 and 7 do not hold; claim 3 cannot be told; the cases of claim 4 differ"
        in summary
    )
    abstract = words(made, "<abstract>", study, verdicts=verdicts)
    assert (
        "confirmed: learning from the whole tree and the gains by search; not confirmed: reward bootstrapping"
        in abstract
    )
    assert "undecided: targets of best-move chances; differing by case: fuller batches" in abstract
    assert "not finished" not in abstract + summary + words(made, "<claims-first>", study, verdicts=verdicts)
    assert "of 2 cases: holds in 1, cannot be told in 1" in words(made, "<claims-first>", study, verdicts=verdicts)


def test_every_row_is_shown_as_it_is(made: Path, verdicts: Path) -> None:
    table = words(made, "<verdicts-table>", verdicts=verdicts)
    for row in (
        "1tree / roots0.78 (0.66 to 0.93)0.004noholds",
        "1tree / roots, raw policy0.90 (0.80 to 1.02)no–",
        "5published, Elo of iteration 400 − 50+30 (−10 to +70)does not hold",
        "5published, pairs in which the later checkpoint is worse, of 282does not hold",
        "7probzero / gumbel1.30 (1.10 to 1.60)< 0.001nodoes not hold",
    ):
        assert row in table, f"{row} in {table}"


def test_the_title_of_a_replication_that_rather_failed_says_so(made: Path, verdicts: Path) -> None:
    # of claims 1 to 5 one holds and two do not; claims 6 and 7 are not the project's
    assert words(made, "<title>", verdicts=verdicts).startswith("[¬Re] ProbZero: ")
    replace(verdicts, ("0.4,yes,does not hold", "0.4,yes,holds"))
    assert words(made, "<title>", verdicts=verdicts).startswith("[Re] ProbZero: ")


def test_the_abstract_has_at_most_six_numbers(made: Path, study: Path, verdicts: Path) -> None:
    for beside in ({}, {"study": study}, {"study": study, "verdicts": verdicts}):
        said = words(made, "<abstract>", **beside).replace("5 × 5", "")
        assert len(re.findall(r"\d[\d.,]*", said)) <= 6, said


def test_a_verdict_that_changes_changes_the_paper(made: Path, verdicts: Path) -> None:
    before = paper.compile_pdf(made, 3, paper.Beside(verdicts=verdicts))
    replace(verdicts, ("0.3,no,cannot be told", "0.3,no,holds"))
    assert paper.compile_pdf(made, 3, paper.Beside(verdicts=verdicts)) != before


def test_the_command_takes_verdicts_and_refuses_what_is_none(
    made: Path, verdicts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "paper.pdf"
    assert main(arguments(made, output, None, "--verdicts", str(verdicts))) == 0
    assert output.read_bytes().startswith(b"%PDF")
    capsys.readouterr()
    other = verdicts.with_name("other.csv")
    line = refusal(capsys, made, None, "--verdicts", str(other))
    assert line == f"probzero: error: verdicts: {other}: expected a file called verdicts.csv, found other.csv"
    verdicts.write_bytes(verdicts.read_bytes() + b"\n")
    assert "expected the file that was written" in refusal(capsys, made, None, "--verdicts", str(verdicts))


def test_paper_metadata_and_citation_name_one_work_and_one_original(made: Path) -> None:
    metadata = yaml.safe_load((ROOT / "paper" / "metadata.yaml").read_text(encoding="utf-8"))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert words(made, "<title>") == metadata["title"] == citation["title"]
    original = {key: value for part in metadata["replication"] for key, value in part.items()}
    (cited,) = citation["references"]
    assert (original["doi"], original["url"]) == (cited["doi"], cited["url"])
    entries = (ROOT / "paper" / "references.bib").read_text(encoding="utf-8")
    assert f"{{{original['bib']}," in entries and original["doi"] in entries
