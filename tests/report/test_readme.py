"""The README is one page, its tables are those of the committed results, and its links lead somewhere."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from probzero.__main__ import main
from probzero.errors import ProbZeroError
from probzero.report.readme import TABLES, rewritten

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
TEXTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINKED = [*TEXTS, RESULTS / "README.md", ROOT / "kernels" / "README.md"]


def rows_of(path: Path, **values: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file that have these values."""
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if all(row[name] == value for name, value in values.items())]


def cells_of(table: str) -> dict[str, list[str]]:
    """Return the cells of a Markdown table by the first of each row."""
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert len({len(line) for line in lines}) == 1
    return {line[0]: line[1:] for line in lines}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_tables_are_those_of_the_committed_results(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == rewritten(text, RESULTS, path), "run: probzero readme"


def test_every_table_is_shown_somewhere() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in TEXTS)
    assert [name for name in TABLES if f"<!-- table: {name} -->" not in text] == []


def test_the_readme_is_one_page() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 1300


@pytest.mark.parametrize("path", LINKED, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files(path: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8"))
    broken = [link for link in links if "://" not in link and not (path.parent / link).exists()]
    assert broken == []


def test_what_is_to_be_expected_is_what_the_reference_run_gave() -> None:
    found = cells_of(TABLES["expected"](RESULTS))
    tables = RESULTS / "reference" / "laptop" / "seed0" / "tables"
    (rated,) = rows_of(tables / "differences.csv", player="iteration-0060", opponent="iteration-0000")
    elo = [f"{float(rated[name]):+.0f}" for name in ("difference", "low", "high")]
    assert found["Elo of iteration 60 over the untrained network, 96 particles a move"] == [
        f"{elo[0]} ({elo[1]} to {elo[2]})"
    ]
    (first,), (last,) = (
        rows_of(tables / "truth.csv", iteration=number, source="all", particles="384") for number in ("0", "60")
    )
    shares = [100 * float(text) for text in (first["kept_share"], last["kept_share"])]
    assert found["the same with 384 particles a move"][0].startswith(f"{shares[0]:.1f} → {shares[1]:.1f} % (")
    (won,) = rows_of(tables / "perfect.csv", iteration="60", begins="openings")
    assert found["the same from openings"] == [f"{won['won']} of {won['games']}"]


def test_every_seed_of_the_default_is_shown_with_the_mean() -> None:
    found = cells_of(TABLES["seeds"](RESULTS))
    shares, held = [], []
    for seed in (0, 1, 2):
        tables = RESULTS / "reference" / "laptop" / f"seed{seed}" / "tables"
        (kept,) = rows_of(tables / "truth.csv", iteration="60", source="all", particles="96")
        (keyed,) = rows_of(tables / "certificates.csv", iteration="60", source="start", particles="96", draws="1")
        shares.append(100 * float(kept["kept_share"]))
        held.append(int(keyed["certified"]))
        row = dict(zip(found["seed"], found[str(seed)], strict=True))
        assert row["96, %"] == f"{shares[-1]:.1f}" and row["as Black, 96, keys, of 8"] == str(held[-1])
    mean = dict(zip(found["seed"], found["mean"], strict=True))
    assert mean["96, %"] == f"{sum(shares) / 3:.1f}" and mean["as Black, 96, keys, of 8"] == f"{sum(held) / 3:.1f}"


def test_the_study_shows_shares_elo_and_costs_of_each_variant() -> None:
    found = cells_of(TABLES["study"](RESULTS))
    tables = RESULTS / "reference" / "study" / "tables"
    (raw,) = rows_of(tables / "final.csv", variant="no-bootstrap", particles="0")
    share, low, high = (100 * float(raw[name]) for name in ("share", "share_low", "share_high"))
    (elo,) = rows_of(tables / "elo.csv", variant="no-bootstrap")
    rating = [f"{float(elo[name]):+.0f}".replace("-", "−") for name in ("rating", "rating_low", "rating_high")]
    cells = found["`no-bootstrap`"]
    assert (cells[0], cells[2]) == (f"{share:.1f} ({low:.1f}–{high:.1f})", f"{rating[0]} ({rating[1]} to {rating[2]})")
    assert found["`probzero`"][2] == "0"
    assert found["`uct`"][0] == "–" and found["`uct`"][3:] == ["–", "–"]  # no network, nothing learned
    systems = cells_of(TABLES["systems"](RESULTS))
    assert "`no-bootstrap`" not in systems and systems["`uct`"] == found["`uct`"]


def test_a_changed_setting_is_shown_less_the_default() -> None:
    cells = cells_of(TABLES["settings"](RESULTS))["`replay-3`"]
    (row,) = rows_of(RESULTS / "reference" / "settings" / "tables" / "final.csv", variant="replay-3", particles="96")
    less = [-100 * float(row[name]) for name in ("lead", "lead_high", "lead_low")]
    expected = [f"{value:+.1f}".replace("-", "−") for value in less]
    assert cells[4] == f"{expected[0]} ({expected[1]} to {expected[2]})"


def test_the_command_changes_the_tables_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "text.md"
    path.write_text("before\n<!-- table: systems -->\nold\n<!-- end -->\nafter\n", encoding="utf-8")
    arguments = ["readme", str(path), "--results", str(RESULTS)]
    assert main(arguments) == 0 and str(path) in capsys.readouterr().out
    assert path.read_text(encoding="utf-8") == (
        f"before\n<!-- table: systems -->\n{TABLES['systems'](RESULTS)}\n<!-- end -->\nafter\n"
    )
    assert main(arguments) == 0 and capsys.readouterr().out == ""  # nothing to do


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!-- table: nothing -->\n<!-- end -->\n", "here: table nothing: expected one of expected, seeds, systems"),
        ("<!-- table: systems -->\n", "here: expected an end of every table, found 1 tables, 0 of them whole"),
        ("<!-- table: systems -->\n<!-- table: study -->\n<!-- end -->", "found 2 tables, 1 of them whole"),
    ],
)
def test_a_table_that_is_unknown_or_without_an_end_is_refused(text: str, message: str) -> None:
    with pytest.raises(ProbZeroError, match=message):
        rewritten(text, RESULTS, "here")
