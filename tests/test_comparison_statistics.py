"""What a few seeds say: values by hand and from scipy, coverage on simulated scores, nothing invented from one seed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from probzero.arena.elo import Estimate
from probzero.report import seeds

POSITIONS = np.array([10.0, 30.0, 60.0])
X = np.array([[0.9, 0.8, 0.7], [0.8, 0.8, 0.9], [0.7, 0.5, 0.8]])
Y = np.array([[0.6, 0.8, 0.5], [0.8, 0.6, 0.7], [0.5, 0.4, 0.6]])


def bounds(found: Estimate) -> list[float]:
    return [found.low, found.high]


def test_the_overall_score_weighs_strata_by_their_positions() -> None:
    # (9 + 24 + 42) / 100, (8 + 24 + 54) / 100, (7 + 15 + 48) / 100
    assert seeds.overall(X, POSITIONS) == pytest.approx([0.75, 0.86, 0.70])


def test_a_bootstrap_of_two_seeds_and_one_stratum_takes_the_values_that_can_be_counted() -> None:
    # Two draws of {0, 1} have the mean 0, ½ and 1 with probabilities ¼, ½, ¼: the percentiles are the ends.
    found = seeds.bootstrap_mean(seeds.generator("test"), np.array([[0.0], [1.0]]), np.ones(1))
    assert (found.value, *bounds(found)) == (0.5, 0.0, 1.0)


def test_seeds_are_drawn_apart_in_each_stratum() -> None:
    # Seed by seed the two strata always add up to 1; drawn apart, both can be high at once.
    scores = np.array([[0.0, 1.0], [1.0, 0.0]])
    found = seeds.bootstrap_mean(seeds.generator("test"), scores, np.ones(2))
    assert (found.value, *bounds(found)) == (0.5, 0.0, 1.0)


def test_the_bootstrap_has_the_variance_that_theory_gives() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(12, 3))
    share = POSITIONS / POSITIONS.sum()
    expected = np.sqrt((share**2 * scores.var(axis=0)).sum() / 12)  # independent strata, n − 1 short of n
    replicates = seeds.overall(seeds._resampled(rng, scores).mean(1), POSITIONS)
    assert replicates.std() == pytest.approx(expected, rel=0.03)
    found = seeds.bootstrap_mean(seeds.generator("test"), scores, POSITIONS)
    assert found.high - found.low == pytest.approx(2 * 1.96 * expected, rel=0.06)


def test_the_same_name_gives_the_same_interval_and_another_name_another() -> None:
    first, again, other = (
        seeds.bootstrap_difference(seeds.generator(*name), X, Y, POSITIONS) for name in (("a", 1), ("a", 1), ("a", 2))
    )
    assert first == again
    assert first.value == other.value and first != other


def test_a_difference_is_that_of_overall_means() -> None:
    found = seeds.bootstrap_difference(seeds.generator("test"), X, Y, POSITIONS)
    assert found.value == pytest.approx((0.75 + 0.86 + 0.70) / 3 - (0.60 + 0.68 + 0.53) / 3)
    assert found.low < found.value < found.high


def test_equal_scores_differ_by_nothing_and_improve_with_even_chance() -> None:
    difference = seeds.bootstrap_difference(seeds.generator("test"), X, X, POSITIONS)
    totals = seeds.overall(X, POSITIONS)
    welch, better = seeds.welch(totals, totals), seeds.bootstrap_improvement(seeds.generator("test"), X, X)
    assert (difference.value, welch.value, better.value) == (0, 0, 0.5)
    assert difference.low < 0 < difference.high
    assert welch.low == -welch.high < 0


def test_the_probability_of_improvement_is_that_of_mann_and_whitney_averaged_over_strata() -> None:
    expected = [stats.mannwhitneyu(X[:, band], Y[:, band]).statistic / 9 for band in range(3)]
    found = seeds.bootstrap_improvement(seeds.generator("test"), X, Y)
    assert found.value == pytest.approx(np.mean(expected))
    assert found.low < found.value < found.high <= 1
    # By hand: 0.9 beats all three, 0.8 two and ties one, 0.7 beats two.
    assert expected[0] == pytest.approx((3 + 2.5 + 2) / 9)


def test_welch_and_student_intervals_are_those_of_scipy() -> None:
    x, y = seeds.overall(X, POSITIONS), np.array([0.71, 0.55, 0.62, 0.58])
    expected = stats.ttest_ind(x, y, equal_var=False).confidence_interval(0.95)
    assert bounds(seeds.welch(x, y)) == pytest.approx([expected.low, expected.high])
    expected = stats.ttest_1samp(x, 0).confidence_interval(0.95)
    assert bounds(seeds.mean_interval(x)) == pytest.approx([expected.low, expected.high])


def test_one_seed_gives_a_value_and_no_interval() -> None:
    rng, one = seeds.generator("test"), X[:1]
    total = seeds.overall(one, POSITIONS)
    found = [
        seeds.bootstrap_mean(rng, one, POSITIONS),
        seeds.bootstrap_difference(rng, one, Y, POSITIONS),
        seeds.bootstrap_improvement(rng, X, Y[:1]),
        seeds.mean_interval(total),
        seeds.welch(total, seeds.overall(Y, POSITIONS)),
    ]
    assert np.isfinite([estimate.value for estimate in found]).all()
    assert np.isnan([bounds(estimate) for estimate in found]).all()
    assert np.isnan(seeds.share_spread(one, POSITIONS).seeds)
    assert np.isnan(seeds.rating_spread(np.array([100.0]), np.array([20.0])).seeds)
    assert seeds.rating_spread(np.array([100.0]), np.array([20.0])).sampling == 20


def test_welch_says_nothing_where_no_score_varies() -> None:
    found = seeds.welch(np.ones(3), np.full(3, 0.5))
    assert found.value == 0.5 and np.isnan(bounds(found)).all()


def test_t_intervals_cover_with_three_seeds_and_the_bootstrap_covers_only_with_many(monkeypatch) -> None:
    monkeypatch.setattr(seeds, "REPLICATES", 400)
    rng, trials = np.random.default_rng(1), 400
    covered = dict.fromkeys(("t", "bootstrap of 3", "bootstrap of 20"), 0)
    for _ in range(trials):
        few, many = rng.normal(size=(3, 3)), rng.normal(size=(20, 3))
        found = {
            "t": seeds.mean_interval(seeds.overall(few, POSITIONS)),
            "bootstrap of 3": seeds.bootstrap_mean(rng, few, POSITIONS),
            "bootstrap of 20": seeds.bootstrap_mean(rng, many, POSITIONS),
        }
        for name, estimate in found.items():
            covered[name] += estimate.low <= 0 <= estimate.high
    assert covered["t"] / trials == pytest.approx(0.95, abs=0.035)
    assert covered["bootstrap of 20"] / trials == pytest.approx(0.93, abs=0.04)
    assert covered["bootstrap of 3"] / trials < 0.9


def test_the_bootstrap_of_strata_is_too_narrow_where_a_seed_is_good_or_bad_in_all_of_them() -> None:
    # Eight equal strata that move together: drawn apart, the variance of their mean is an eighth of what it is.
    rng = np.random.default_rng(2)
    together = np.repeat(rng.normal(size=(20, 1)), 8, axis=1)
    apart = seeds.bootstrap_mean(seeds.generator("test"), together, np.ones(8))
    whole = seeds.bootstrap_mean(seeds.generator("test"), together[:, :1], np.ones(1))
    assert (whole.high - whole.low) / (apart.high - apart.low) == pytest.approx(8**0.5, rel=0.08)


def test_the_spread_of_shares_is_that_between_seeds_beside_that_of_positions() -> None:
    found = seeds.share_spread(np.array([[0.9], [0.8]]), np.array([100.0]))
    assert found.seeds == pytest.approx(0.1 / 2**0.5)
    assert found.sampling == pytest.approx(((0.9 * 0.1 + 0.8 * 0.2) / 2 / 100) ** 0.5)
    split = seeds.share_spread(np.array([[1.0, 0.5]]), np.array([50.0, 50.0]))
    assert split.sampling == pytest.approx((50 * 0.25) ** 0.5 / 100)  # positions were drawn in each stratum


def test_components_of_share_variance_are_recovered() -> None:
    rng = np.random.default_rng(3)
    ability = 0.8 + rng.normal(0, 0.03, size=(2000, 1))
    found = seeds.share_spread(np.repeat(ability, 4, axis=1), np.full(4, 150.0))
    assert found.seeds == pytest.approx(0.03, rel=0.05)
    drawn = rng.binomial(600, 0.8, size=20_000) / 600
    assert found.sampling == pytest.approx(drawn.std(), rel=0.03)


def test_components_of_rating_variance_are_recovered() -> None:
    rng = np.random.default_rng(4)
    error = rng.uniform(10, 20, size=4000)
    ratings = 500 + rng.normal(0, 30, size=4000) + rng.normal(0, error)
    found = seeds.rating_spread(ratings, error)
    assert found.seeds == pytest.approx(30, rel=0.05)
    assert found.sampling == pytest.approx(np.sqrt((error**2).mean()))


def test_ratings_that_vary_less_than_their_games_leave_no_variance_to_seeds() -> None:
    found = seeds.rating_spread(np.array([100.0, 101.0, 102.0]), np.full(3, 20.0))
    assert (found.seeds, found.sampling) == (0, 20)
