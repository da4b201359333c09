"""The pages hang together: links lead somewhere, the index is whole, every column is explained, settings exist."""

from __future__ import annotations

import csv
import re
from itertools import product
from math import prod
from pathlib import Path

import pytest
import yaml

from probzero.config import Config, sections

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md"), *(ROOT / "kernels").rglob("*.md")]
    + [ROOT / folder / "README.md" for folder in ("results", "config")]
)
REFERENCE = ROOT / "results" / "reference"
RUN, STUDY = REFERENCE / "laptop" / "seed0" / "tables", REFERENCE / "study"
INLINE = re.compile(r"\]\(([^)\s]+)\)")


def text_of(page: Path) -> str:
    """Return a page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return what links may name of a page, as GitHub makes it of the headings."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def broken(page: Path, text: str) -> list[str]:
    """Return the links of a text on a page that lead nowhere: no file, or a file without that heading."""
    found = []
    for link in INLINE.findall(text):
        if "://" not in link:
            path, _, heading = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists() or (heading and target.suffix == ".md" and heading not in anchors(target)):
                found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    assert broken(page, text_of(page)) == []


def test_a_link_to_nothing_is_found() -> None:
    text = "[a](faq.md) [b](faq.md#citing) [c](faq.md#nothing) [d](nothing.md) [![e](images/search.png)](no.md)"
    assert broken(DOCS / "README.md", text) == ["faq.md#nothing", "nothing.md", "no.md"]


def test_the_index_names_every_page_once() -> None:
    named = re.findall(r"\]\(([a-z-]+\.md)\)", (DOCS / "README.md").read_text(encoding="utf-8"))
    assert sorted(named) == sorted(path.name for path in DOCS.glob("*.md") if path.name != "README.md")


def test_pictures_are_small_and_shown() -> None:
    shown = {link for page in PAGES for link in re.findall(r"images/([\w.-]+)", page.read_text(encoding="utf-8"))}
    pictures = sorted((DOCS / "images").iterdir())
    assert {path.name for path in pictures} <= shown
    assert max(path.stat().st_size for path in pictures) < 300_000


def explained(part: str, table: str) -> set[str]:
    """Return the columns that metrics.md explains of a table, in its part on runs, studies or verdicts."""
    text = (DOCS / "metrics.md").read_text(encoding="utf-8")
    (whole,) = re.findall(rf"^## Tables of {part}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    (rows,) = re.findall(rf"^\| column of `{table}` \|.*\n((?:\|.*\n)+)", whole, re.MULTILINE)
    return {name for row in rows.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}


def columns_of(path: Path) -> set[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return set(next(csv.reader(file)))


TABLES = [
    *(("a run", path) for path in sorted(RUN.glob("*.csv"))),
    *(("a run", path) for path in sorted((REFERENCE / "othello4" / "seed0" / "tables").glob("*.csv"))),
    *(("a study", path) for path in sorted((STUDY / "tables").glob("*.csv"))),
]


@pytest.mark.parametrize(("part", "path"), TABLES, ids=[str(path.relative_to(REFERENCE)) for _, path in TABLES])
def test_the_page_on_metrics_explains_every_column_and_no_other(part: str, path: Path) -> None:
    found = explained(part, path.stem)
    assert found - {"seed"} == columns_of(path)  # the seed of ratings is a column of studies


def test_tables_of_the_verdicts_have_the_columns_that_are_explained() -> None:
    from probzero.report.evidence.verdicts import COLUMNS

    assert explained("the verdicts", "verdicts") == set(COLUMNS)


def test_tournaments_of_studies_have_the_columns_of_a_run() -> None:
    for path in sorted((STUDY / "seed0" / "tables").glob("*.csv")):
        assert columns_of(path) <= explained("a run", path.stem)


# What pages say in numbers.


def the_one_best(moves: list[tuple[float, float, float]]) -> list[float]:
    """Return the chance of each move to be the one best, by going through all outcomes; triples are for who chooses."""
    found = [0.0] * len(moves)
    for outcomes in product(range(3), repeat=len(moves)):  # 0 win, 1 draw, 2 loss
        best = min(outcomes)
        if best < 2 and outcomes.count(best) == 1:
            found[outcomes.index(best)] += prod(move[outcome] for move, outcome in zip(moves, outcomes, strict=True))
    return found


def test_the_examples_worked_by_hand_are_right() -> None:
    text = " ".join((DOCS / "concepts.md").read_text(encoding="utf-8").split())
    chances = the_one_best([(0.7, 0.1, 0.2), (0.5, 0.2, 0.3), (0.1, 0.0, 0.9)])
    assert [f"{chance:.3f}" for chance in chances] == ["0.342", "0.171", "0.015"]
    assert all(f"= {chance:.3f}" in text for chance in chances)
    assert "{:.0f}, {:.0f} and {:.0f} %".format(*(100 * chance / sum(chances) for chance in chances)) in text
    chances = the_one_best([(0.7, 0.1, 0.2), (0.0, 1.0, 0.0)])
    leaf, end = (0.8 * chance / sum(chances) for chance in chances)
    assert f"{100 * leaf:.0f} and {100 * end:.0f} %" in text
    above = zip((0.6, 0.1, 0.3), (0, 1, 0), (0.4, 0.2, 0.4), strict=True)
    target = [leaf * one + end * two + 0.2 * rest for one, two, rest in above]
    assert "= ({:.2f}, {:.2f}, {:.2f})".format(*target) in text


def test_settings_that_pages_name_are_settings() -> None:
    """Words such as `selfplay.lag: 1`, wherever a page has them between backticks."""
    models = {
        name: getattr(sections, "SelfPlay" if name == "selfplay" else name.capitalize(), None)
        for name in Config.model_fields
    }
    named = [
        (page.name, *found)
        for page in PAGES
        for found in re.findall(r"`([a-z]+)\.([a-z_]+)(?:: [^`]*)?`", text_of(page))
        if models.get(found[0]) is not None and found[1] not in ("hpp", "py")
    ]
    assert len(named) > 40
    assert [one for one in named if one[2] not in models[one[1]].model_fields] == []  # type: ignore[union-attr]


def test_the_scales_have_the_sizes_that_the_page_on_running_says() -> None:
    text = (DOCS / "running.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z0-9]+)` \|[^|]*\| (\d+) × (\d+) \| (\d+) \| (\d+) \|", text, re.MULTILINE)
    assert {name for name, *_ in rows} == {"smoke", "othello4", "laptop", "paper"}
    for name, *told in rows:
        found = yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text(encoding="utf-8"))
        network, played = found["network"], found["selfplay"]
        sizes = [
            network["blocks"],
            network["channels"],
            played["shards"] * played["games"],
            found["training"]["iterations"],
        ]
        assert sizes == [int(number) for number in told], name


def test_files_that_pages_name_are_there() -> None:
    """From the top, or from the package."""
    folders = "config|docs|kernels|notebooks|profiles|src|tests|tools|workflow"
    named = {(page, name) for page in PAGES for name in re.findall(rf"`((?:{folders})/[\w./-]+\.\w+)`", text_of(page))}
    assert len(named) > 20
    tops = (ROOT, ROOT / "src" / "probzero")
    assert [one for one in sorted(named) if not any((top / one[1]).exists() for top in tops)] == []
