"""What a few seeds say: values by hand and from scipy, coverage on simulated scores, nothing invented from one seed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

from probzero.arena.elo import Estimate
from probzero.report.study import statistics

POSITIONS = np.array([10.0, 30.0, 60.0])
X = np.array([[0.9, 0.8, 0.7], [0.8, 0.8, 0.9], [0.7, 0.5, 0.8]])
Y = np.array([[0.6, 0.8, 0.5], [0.8, 0.6, 0.7], [0.5, 0.4, 0.6]])


def bounds(found: Estimate) -> list[float]:
    return [found.low, found.high]


def test_the_overall_score_weighs_strata_by_their_positions() -> None:
    # (9 + 24 + 42) / 100, (8 + 24 + 54) / 100, (7 + 15 + 48) / 100
    assert statistics.overall(X, POSITIONS) == pytest.approx([0.75, 0.86, 0.70])


def test_a_difference_is_that_of_overall_means() -> None:
    found = statistics.difference(statistics.overall(X, POSITIONS), statistics.overall(Y, POSITIONS))
    assert found.value == pytest.approx((0.75 + 0.86 + 0.70) / 3 - (0.60 + 0.68 + 0.53) / 3)
    assert found.low < found.value < found.high


def test_equal_scores_differ_by_nothing() -> None:
    totals = statistics.overall(X, POSITIONS)
    found = statistics.difference(totals, totals)
    assert found.value == 0 and found.low == -found.high < 0


def test_a_mean_has_students_interval() -> None:
    x = statistics.overall(X, POSITIONS)
    expected = stats.ttest_1samp(x, 0).confidence_interval(0.95)
    assert bounds(statistics.mean(x)) == pytest.approx([expected.low, expected.high])


def test_a_difference_has_welchs_interval() -> None:
    x, y = statistics.overall(X, POSITIONS), np.array([0.71, 0.55, 0.62, 0.58])
    parts = x.var(ddof=1) / 3, y.var(ddof=1) / 4
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2 / 3)  # Welch and Satterthwaite
    margin = stats.t.ppf(0.975, freedom) * sum(parts) ** 0.5
    value = x.mean() - y.mean()
    assert bounds(statistics.difference(x, y)) == pytest.approx([value - margin, value + margin])


def test_one_seed_gives_a_value_and_no_interval() -> None:
    one = X[:1]
    total = statistics.overall(one, POSITIONS)
    found = [statistics.mean(total), statistics.difference(total, statistics.overall(Y, POSITIONS))]
    assert np.isfinite([estimate.value for estimate in found]).all()
    assert np.isnan([bounds(estimate) for estimate in found]).all()
    assert np.isnan(statistics.share_spread(one, POSITIONS).seeds)
    assert np.isnan(statistics.rating_spread(np.array([100.0]), np.array([20.0])).seeds)
    assert statistics.rating_spread(np.array([100.0]), np.array([20.0])).sampling == 20


def test_intervals_cover_with_three_seeds() -> None:
    rng, trials = np.random.default_rng(1), 400
    covered = dict.fromkeys(("mean", "difference"), 0)
    for _ in range(trials):
        few, others = rng.normal(size=(3, 3)), 3 * rng.normal(size=(3, 3))
        x, y = (statistics.overall(scores, POSITIONS) for scores in (few, others))
        for name, estimate in (("mean", statistics.mean(x)), ("difference", statistics.difference(x, y))):
            covered[name] += estimate.low <= 0 <= estimate.high
    assert covered["mean"] / trials == pytest.approx(0.95, abs=0.035)
    assert covered["difference"] / trials == pytest.approx(0.95, abs=0.035)


def test_seeds_of_one_side_that_agree_leave_the_interval_to_the_other_and_warn_nobody() -> None:
    x = np.array([0.9, 0.91, 0.92])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = statistics.difference(x, np.full(3, 0.95))
    expected = statistics.mean(x - 0.95)
    assert (found.value, *bounds(found)) == pytest.approx((expected.value, expected.low, expected.high))


def test_welch_says_nothing_where_no_score_varies() -> None:
    found = statistics.difference(np.ones(3), np.full(3, 0.5))
    assert found.value == 0.5 and np.isnan(bounds(found)).all()


def test_the_spread_of_shares_is_that_between_seeds_beside_that_of_positions() -> None:
    found = statistics.share_spread(np.array([[0.9], [0.8]]), np.array([100.0]))
    assert found.seeds == pytest.approx(0.1 / 2**0.5)
    assert found.sampling == pytest.approx(((0.9 * 0.1 + 0.8 * 0.2) / 2 / 100) ** 0.5)
    split = statistics.share_spread(np.array([[1.0, 0.5]]), np.array([50.0, 50.0]))
    assert split.sampling == pytest.approx((50 * 0.25) ** 0.5 / 100)  # positions were drawn in each stratum


def test_components_of_share_variance_are_recovered() -> None:
    rng = np.random.default_rng(3)
    ability = 0.8 + rng.normal(0, 0.03, size=(2000, 1))
    found = statistics.share_spread(np.repeat(ability, 4, axis=1), np.full(4, 150.0))
    assert found.seeds == pytest.approx(0.03, rel=0.05)
    drawn = rng.binomial(600, 0.8, size=20_000) / 600
    assert found.sampling == pytest.approx(drawn.std(), rel=0.03)


def test_components_of_rating_variance_are_recovered() -> None:
    rng = np.random.default_rng(4)
    error = rng.uniform(10, 20, size=4000)
    ratings = 500 + rng.normal(0, 30, size=4000) + rng.normal(0, error)
    found = statistics.rating_spread(ratings, error)
    assert found.seeds == pytest.approx(30, rel=0.05)
    assert found.sampling == pytest.approx(np.sqrt((error**2).mean()))


def test_ratings_that_vary_less_than_their_games_leave_no_variance_to_seeds() -> None:
    found = statistics.rating_spread(np.array([100.0, 101.0, 102.0]), np.full(3, 20.0))
    assert (found.seeds, found.sampling) == (0, 20)
