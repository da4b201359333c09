"""How far draws of one experiment lie apart: formulas on paper, what `check` makes of them, and what was measured."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from probzero.errors import ProbZeroError
from probzero.origin import Origin
from probzero.report import check, spread
from probzero.report.tables import read_written
from probzero.tables import TABLE, write_csv

ROOT = Path(__file__).parents[2]
REFERENCES = ROOT / "results" / "reference"
MEASURED = REFERENCES / "twins" / "othello4.csv"


def test_the_spread_within_seeds_on_paper() -> None:
    """Around 2 and 12 the squares are 1 + 1 and 4 + 4; a seed alone tells nothing: √(10 / 2)."""
    assert spread.within([[1, 3], [10, 14], [99]]) == spread.Spread(pytest.approx(5**0.5), 2)


def test_the_tolerance_is_what_seeds_say_or_what_twins_say_if_that_is_more() -> None:
    """Student's t(0.995): 9.925 with 2 degrees of freedom, 5.841 with 3. Seeds: s = 0.01, 9.925 · √2 · 0.01 = 0.1404.
    Three pairs 0.02 apart: s = √(3 · 0.0002 / 3) = 0.01414, 5.841 · √2 · 0.01414 = 0.1168; 0.04 apart: 0.2336."""
    seeds, near, far = [[0.49, 0.50, 0.51]], [[0.1, 0.12]] * 3, [[0.1, 0.14]] * 3
    assert spread.allowed(seeds) == pytest.approx(0.14036, abs=1e-5)
    assert spread.within(near).width == pytest.approx(0.11682, abs=1e-5)
    assert spread.allowed(seeds, near) == spread.allowed(seeds)
    assert spread.allowed(seeds, far) == pytest.approx(0.23364, abs=1e-5)
    assert spread.allowed([[7, 7, 7, 7]]) == 0
    assert spread.allowed([[0.4, 0.6]], far) is None


def test_the_table_of_spreads_on_paper() -> None:
    """Seeds 1, 2, 3: s = 1. Twins 0 and 2: s = √2. F with 1 and 2 degrees of freedom is above 2 with chance 1 − √½."""
    (row,) = spread.spread_table(spread.Draws({"x": [[1, 2, 3]]}, {"x": [[0, 2]]})).to_dict("records")
    assert (row["deviation_of_seeds"], row["freedom_of_seeds"], row["freedom_of_twins"]) == (1, 2, 1)
    assert row["deviation_of_twins"] == row["ratio"] == pytest.approx(2**0.5)
    assert row["chance"] == pytest.approx(1 - 0.5**0.5)


def write(path: Path, rows: list[tuple[str, int, float]], **settings: str) -> Path:
    table = spread.twins_table((processor, seed, {"x": value}) for processor, seed, value in rows)
    write_csv(path, table, TABLE, Origin(command="twins", subject=path.stem, settings=settings))
    return path


ROWS = [("one", 0, 1.0), ("one", 1, 2.0), ("one", 2, 4.0), ("other", 0, 1.5), ("third", 0, 1.25), ("other", 2, 8.0)]


def test_seeds_share_a_processor_and_twins_a_seed(tmp_path: Path) -> None:
    draws = spread.read_draws(write(tmp_path / "run.csv", ROWS))
    assert draws == spread.Draws({"x": [[1, 2, 4], [1.5, 8], [1.25]]}, {"x": [[1, 1.5, 1.25], [2], [4, 8]]})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([*ROWS, ROWS[0]], "every quantity of a run once"),
        (ROWS[:3], "3 seeds and the twin of one"),
        ([*ROWS[:2], ROWS[3]], "3 seeds and the twin of one"),
    ],
)
def test_draws_that_tell_of_no_spread_are_refused(
    rows: list[tuple[str, int, float]], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ProbZeroError, match=message):
        spread.read_draws(write(tmp_path / "run.csv", rows))


def test_draws_belong_to_the_reference_of_their_name_and_settings(tmp_path: Path) -> None:
    reference = tmp_path / "run"
    assert spread.draws_of(reference, {"game": "ours"}) == spread.Draws({}, {})
    write(tmp_path / "twins" / "run.csv", ROWS, game="ours")
    assert spread.draws_of(reference, {"game": "ours"}).seeds["x"][0] == [1, 2, 4]
    with pytest.raises(ProbZeroError, match="a file made with the settings at hand"):
        spread.draws_of(reference, {"game": "another"})


def test_another_processor_is_no_further_away_than_another_seed() -> None:
    """Measured with 4×4: in no quantity do twins lie further apart than seeds by more than chance (Bonferroni), and in
    most they are as near as seeds are or nearer."""
    table = spread.spread_table(spread.read_draws(MEASURED))
    types = {"quantity": str, **dict.fromkeys(("runs", "freedom_of_seeds", "freedom_of_twins"), int)}
    written = read_written(MEASURED.with_name("othello4-spread.csv"), types)
    pd.testing.assert_frame_equal(written, table, rtol=1e-4)
    differing = table.dropna()  # in some runs: in the others all came to the same score
    assert len(differing) >= 15 and (differing["chance"] > 0.01 / len(differing)).all()
    assert differing["ratio"].median() <= 1


def test_the_measured_spread_is_that_of_the_committed_reference() -> None:
    reference = REFERENCES / "othello4"
    draws = spread.draws_of(reference, check.settings_of(reference))
    told = check.quantities(reference / "seed0" / "tables")
    assert set(draws.seeds) == {label for label, found in told.items() if found.judged and not found.exact}


@pytest.mark.parametrize("name", sorted(path.parents[1].name for path in REFERENCES.glob("*/seed0/checkpoints")))
def test_every_committed_run_is_read_by_check_and_equals_itself(name: str) -> None:
    found = check.check(REFERENCES / name, REFERENCES / name)
    assert check.passed(found) and len(found) > 30
