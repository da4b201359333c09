"""Contrasts of errors: ratios and adjusted p-values by hand, the variance by formula, coverage by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from probzero.errors import ProbZeroError
from probzero.report.evidence import contrasts
from probzero.report.evidence.contrasts import Contrast, contrast, holm, of_errors
from probzero.report.evidence.outcomes import Outcomes

PAIR = np.array([1.0, -1.0])


@pytest.fixture(autouse=True)
def fewer_replicates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contrasts, "REPLICATES", 400)


def measured(lost: np.ndarray, weights: np.ndarray = PAIR, phase: np.ndarray | None = None, key: int = 0) -> Contrast:
    phase = np.zeros(lost.shape[2], int) if phase is None else phase
    return of_errors(lost.astype(np.float32), weights, phase, np.random.default_rng(key))


def test_a_ratio_of_errors_on_paper() -> None:
    lost = np.zeros((2, 2, 10))
    lost[0, 0, :3] = lost[1, :, :4] = 1  # 3 of 20 and 8 of 20, half an error more each
    assert measured(lost).ratio == pytest.approx(3.5 / 8.5)


def test_a_main_effect_is_the_geometric_mean_of_its_pairs() -> None:
    lost = np.zeros((4, 2, 50))
    for arm, count in enumerate((2, 8, 30, 10)):
        lost[arm, 0, :count] = 1
    found = measured(lost, np.array([0.5, -0.5, 0.5, -0.5]))
    assert found.ratio == pytest.approx(math.sqrt(2.5 / 8.5 * 30.5 / 10.5))


def test_holm_by_hand() -> None:
    # 0.01 · 4, then 0.02 · 3 = 0.06, then 0.03 · 2 = 0.06, and 0.6 stays
    assert holm([0.02, 0.6, 0.01, 0.03]) == pytest.approx([0.06, 0.6, 0.04, 0.06])
    # Adjusted values never fall: 0.04 · 1 follows 0.025 · 2 = 0.05
    assert holm([0.025, 0.04]) == pytest.approx([0.05, 0.05])
    assert holm([0.5, 0.9, 0.7]) == pytest.approx([1.0, 1.0, 1.0])


def test_interval_and_p_value_are_those_of_students_t() -> None:
    found = Contrast(theta=math.log(0.5), error=0.2, seeds=8)
    # t_7 at 1 − 0.0125/2 is 3.3353; 2 · P(t_7 > ln 2 / 0.2 = 3.4657) = 0.01045
    assert found.interval() == pytest.approx((0.5 * math.exp(-0.66706), 0.5 * math.exp(0.66706)), rel=1e-4)
    assert found.p == pytest.approx(0.01045, abs=1e-4)
    assert found.interval(0.95) == pytest.approx(
        (0.5 * math.exp(-0.2 * 2.3646), 0.5 * math.exp(0.2 * 2.3646)), rel=1e-4
    )


def test_equal_is_a_conclusion_only_if_the_whole_interval_says_so() -> None:
    assert Contrast(0.0, 0.05, 24).equivalent
    assert not Contrast(0.0, 0.2, 24).equivalent  # too wide
    assert not Contrast(math.log(1.2), 0.05, 24).equivalent  # reaches beyond 1.25
    low, high = Contrast(math.log(0.9), 0.03, 24).interval()
    assert Contrast(math.log(0.9), 0.03, 24).equivalent and 0.8 < low < high < 1  # both smaller and as good


def test_arms_with_the_same_outcomes_differ_by_nothing_for_sure() -> None:
    lost = np.random.default_rng(1).random((1, 5, 200)) < 0.1
    found = measured(np.concatenate([lost, lost]))
    assert (found.ratio, found.p) == (1.0, 1.0) and found.error == pytest.approx(0, abs=1e-6)


def test_pairing_by_position_takes_their_difficulty_out() -> None:
    draw = np.random.default_rng(2)
    hard = draw.random(2000) < 0.1  # everybody errs there, and nowhere else, but for some luck
    lost = np.array([hard ^ (draw.random((6, 2000)) < 0.002) for _ in range(2)])
    shuffled = lost.copy()
    shuffled[1] = lost[1][:, draw.permutation(2000)]
    assert measured(lost).error < measured(shuffled).error / 3


def test_the_variance_is_that_of_seeds_positions_and_single_outcomes_by_formula() -> None:
    # D = lost_a / e_a − lost_b / e_b has θ for its mean. The pigeonhole bootstrap counts what is left beside seeds and
    # positions up to three times (Owen 2007), and the factor S / (S − 1) stands before all of it.
    draw = np.random.default_rng(3)
    seed, position = 0.5 * draw.standard_normal((2, 8, 1)), 1.5 * draw.standard_normal((1, 1, 3000))
    lost = draw.random((2, 8, 3000)) < 1 / (1 + np.exp(3 - seed - position))
    d = (lost / lost.mean((1, 2), keepdims=True))[0] - (lost / lost.mean((1, 2), keepdims=True))[1]
    rows, columns = d.mean(1), d.mean(0)
    left = d - rows[:, None] - columns[None] + d.mean()
    known = rows.var(ddof=1) / 8 + columns.var(ddof=1) / 3000
    single = (left**2).sum() / (7 * 2999) / (8 * 3000)
    found = measured(lost).error ** 2
    assert 0.85 * (known - single) < found < 1.15 * 8 / 7 * (known + single)


def simulated(key: int, ratio: float, seeds: int, positions: int) -> np.ndarray:
    """Outcomes [2, S, P] with errors that vary by position and by arm and seed, 5 % on average and `ratio` times it."""
    draw = np.random.default_rng([key, 5])
    difficulty = draw.gamma(0.3, 1 / 0.3, positions)  # of mean 1, most positions easy
    luck = draw.lognormal(-0.02, 0.2, (2, seeds, 1))
    chance = 0.04 * difficulty * luck * np.array([ratio, 1.0])[:, None, None]
    return draw.random((2, seeds, positions)) < np.minimum(chance, 1)


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    times, held, wrong = 100, 0, 0
    for key in range(times):
        found = measured(simulated(key, 1.0, 8, 300), key=key)
        low, high = found.interval(0.95)
        held += low <= 1 <= high
        wrong += found.p < 0.05
    assert held / times >= 0.91  # 95 % and more, but for the chance of 100 simulations
    assert wrong == times - held


def test_half_the_error_is_seen_with_as_many_seeds_as_the_rivals_have() -> None:
    found = [measured(simulated(key, 0.5, 24, 1000), key=key) for key in range(10)]
    assert sum(part.p < 0.0125 and part.theta < 0 for part in found) >= 9


def outcomes() -> Outcomes:
    """Two arms: one with seeds 0 to 2, the other with 1 and 2 alone, and the raw policy of one seed."""
    arm, seed = np.array([0, 0, 0, 1, 1, 0], np.int32), np.array([0, 1, 2, 2, 1, 0], np.int32)
    budget = np.array([96, 96, 96, 96, 96, 0], np.int32)
    lost = np.array([[1, 1, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1]], bool)
    return Outcomes(("a", "b"), arm, seed, budget, np.array([4, 4, 5, 5], np.int16), lost)


def test_arms_are_compared_on_the_seeds_that_both_have_in_their_order() -> None:
    found = contrast(outcomes(), {"a": 1.0, "b": -1.0}, 96)
    assert found.seeds == 2 and found.ratio == pytest.approx(1.5 / 3.5)
    assert outcomes().of("b", 96, [1, 2]).tolist() == [[True, False, False, False], [True, True, False, False]]


def test_what_is_no_contrast_is_refused() -> None:
    with pytest.raises(ProbZeroError, match="expected weights that sum to 0"):
        contrast(outcomes(), {"a": 1.0, "b": -0.5}, 96)
    with pytest.raises(ProbZeroError, match="expected two seeds at least that all of them have, found 0"):
        contrast(outcomes(), {"a": 1.0, "b": -1.0}, 0)
    with pytest.raises(ProbZeroError, match="expected one of a, b, found c"):
        contrast(outcomes(), {"a": 1.0, "c": -1.0}, 96)
