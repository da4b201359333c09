"""Claims beside the tables that they rest on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from sealed import MADE

from probzero import config, files
from probzero.__main__ import main
from probzero.errors import ProbZeroError
from probzero.report import claims
from probzero.report.claims import FAILS, HOLDS, NOT_JUDGED, NOT_RECOMPUTED
from probzero.report.tables import write_table

TABLE = pd.DataFrame(
    {"player": ["a", "a", "b"], "particles": [0, 96, 96], "kept_share": [0.8834, 0.979, 0.5], "note": ["", "", "x"]}
)
CELL = {
    "table": "reference/made/seed0/tables/truth.csv",
    "row": {"player": "a", "particles": 96},
    "column": "kept_share",
}
CLAIM = {
    "statement": "Searched, a keeps 97.9 % of the results.", "cell": CELL, "expected": 0.979, "tolerance": 0.0005,
    "fresh": 0.02, "command": "make reproduce", "minutes": 15,
}  # fmt: skip
AUDIT = {"statement": "41 % of the published moves were wrong.", "source": "an audit of the published code"}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    write_run(folder / "reference" / "made", 0)
    write_claims(folder, searched=CLAIM, audit=AUDIT)
    return folder


def write_run(folder: Path, seed: int, **columns: Any) -> Path:
    write_table(TABLE.assign(**columns), folder / f"seed{seed}" / "tables" / "truth.csv", MADE)
    files.write_json(folder / "config.json", {"name": folder.name, "seeds": [seed]}, config.KIND, MADE)
    return folder


def write_claims(folder: Path, **found: Any) -> Path:
    path = folder / "claims.yaml"
    path.write_text(yaml.safe_dump({"claims": found}), encoding="utf-8")
    return path


def judge(results: Path, **changes: Any) -> str:
    """The verdict on one claim with other words, by the committed results."""
    path = write_claims(results, searched={**CLAIM, **changes})
    return claims.on_committed(claims.load(path), results)["verdict"].item()


@pytest.mark.parametrize(
    ("expected", "verdict"), [(0.979, HOLDS), (0.9786, HOLDS), (0.9796, FAILS), (0.9784, FAILS), (97.9, FAILS)]
)
def test_a_claim_holds_within_its_rounding(results: Path, expected: float, verdict: str) -> None:
    assert judge(results, expected=expected) == verdict


def test_the_audit_of_other_code_is_marked_and_judged_by_nobody(results: Path) -> None:
    found = claims.on_committed(claims.load(results / "claims.yaml"), results)
    assert found.set_index("claim")["verdict"].to_dict() == {"searched": HOLDS, "audit": NOT_RECOMPUTED}


@pytest.mark.parametrize(("share", "verdict"), [(0.960, HOLDS), (0.9985, HOLDS), (0.958, FAILS), (1.0, FAILS)])
def test_a_fresh_run_of_another_seed_may_differ_by_more(results: Path, share: float, verdict: str) -> None:
    run = write_run(results / "made-seed3", 3, kept_share=share)
    found = claims.on_run(claims.load(results / "claims.yaml"), run)
    assert found[["claim", "verdict"]].values.tolist() == [["searched", verdict]]


def test_what_a_fresh_run_cannot_be_held_to_is_only_shown(results: Path) -> None:
    path = write_claims(results, searched={name: value for name, value in CLAIM.items() if name != "fresh"})
    run = write_run(results / "made-seed3", 3, kept_share=0.1)
    found = claims.on_run(claims.load(path), run)
    assert found[["found", "verdict"]].values.tolist() == [["0.1", NOT_JUDGED]]


def test_the_command_prints_a_table_counts_and_fails_with_a_claim(results: Path, capsys: Any) -> None:
    assert main(["claims", "--results", str(results)]) == 0
    assert capsys.readouterr().out.endswith("\n1 hold, 0 fail, 1 not computed again here\n")
    write_claims(results, searched={**CLAIM, "expected": 0.9})
    assert main(["claims", "--results", str(results)]) == 1
    assert "Searched, a keeps 97.9 % of the results." in (shown := capsys.readouterr().out) and FAILS in shown


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cell": {**CELL, "column": "kept"}}, "column kept: expected present, found only player, particles"),
        ({"cell": {**CELL, "row": {"player": "a"}}}, "player a: expected one row, found 2"),
        ({"cell": {**CELL, "row": {"player": "c"}}}, "player c: expected one row, found 0"),
        ({"cell": {**CELL, "row": {"seat": 1}}}, "column seat: expected present"),
        ({"cell": {**CELL, "column": "note"}}, "note: expected a number, found ''"),
        ({"cell": {**CELL, "table": "reference/made/none.csv"}}, "none.csv: expected a file, found nothing"),
        ({"expected": None}, "expected a claim with cell, expected, command and minutes, or with a source alone"),
        ({"command": ""}, "expected a claim with"),
        ({"source": "hearsay"}, "expected a claim with"),
        ({"expect": 1}, "no such key"),
    ],
)  # fmt: skip
def test_a_claim_that_rests_on_nothing_is_refused(results: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ProbZeroError, match=message):
        judge(results, **change)


def test_a_table_that_was_changed_is_refused(results: Path) -> None:
    table = results / CELL["table"]
    table.write_text(table.read_text().replace("0.979", "0.990"))
    with pytest.raises(ProbZeroError, match="the file that was written"):
        judge(results)


def test_a_run_of_which_nothing_is_claimed_is_refused(results: Path) -> None:
    run = write_run(results / "other", 0)
    with pytest.raises(ProbZeroError, match="of which something is claimed, found other"):
        claims.on_run(claims.load(results / "claims.yaml"), run)


def test_every_claim_of_the_project_holds_on_what_is_committed_and_stands_in_the_readme() -> None:
    root = Path(__file__).parents[2]
    found = claims.load(root / "results" / "claims.yaml")
    assert claims.failed(claims.on_committed(found, root / "results")) == 0
    readme = " ".join((root / "README.md").read_text(encoding="utf-8").split())
    assert [words for claim in found.values() for words in claim.says if words not in readme] == []
