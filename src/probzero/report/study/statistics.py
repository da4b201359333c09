"""What a few seeds say: means and differences with 95 % intervals, and how scores spread.

A score matrix is [seeds, strata]: the score of each independent repetition on each stratum of the evaluation set. An
overall score weighs strata by their positions,

    overall = Σ_b n_b x_b / Σ_b n_b

which for shares is Σ kept / Σ positions. Intervals are over the overall scores of seeds and take them for normal.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import stats

from probzero.arena.elo import CONFIDENCE, Estimate, quantile

UNKNOWN = (float("nan"), float("nan"))


def overall(scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the overall scores [seeds] of scores [seeds, strata] with weights [strata]."""
    return scores @ weights / weights.sum()


def mean(x: np.ndarray) -> Estimate:
    """Return the mean of overall scores x [seeds] with Student's interval; its ends are NaN with one seed."""
    value = float(x.mean())
    if len(x) < 2:
        return Estimate(value, *UNKNOWN)
    margin = quantile(len(x) - 1) * float(stats.sem(x))
    return Estimate(value, value - margin, value + margin)


def difference(x: np.ndarray, y: np.ndarray) -> Estimate:
    """Return the mean of overall scores x [n] less that of y [m] with Welch's interval.

    Its ends are NaN with one seed on either side, and where no score varies: nothing is known of the spread then.
    """
    value = float(x.mean() - y.mean())
    if min(len(x), len(y)) < 2 or np.ptp(x) == np.ptp(y) == 0:
        return Estimate(value, *UNKNOWN)
    with warnings.catch_warnings(action="ignore"):  # seeds of one side that agree exactly are no fault
        found = stats.ttest_ind(x, y, equal_var=False).confidence_interval(CONFIDENCE)
    return Estimate(value, float(found.low), float(found.high))


def share_spread(scores: np.ndarray, positions: np.ndarray) -> tuple[float, float]:
    """Return standard deviations of shares [seeds, strata] of positions [strata]: between seeds, by those drawn.

        seeds² = sample variance of overall scores      sampling² = mean_seed Σ_b n_b p_b (1 − p_b) / (Σ_b n_b)²

    All seeds and variants meet the same positions: their choice moves everybody alike, is no part of the variance
    between seeds, and nothing is taken off that.
    """
    totals = overall(scores, positions)
    binomial = (positions * scores * (1 - scores)).sum(1) / positions.sum() ** 2
    return float(totals.std(ddof=1)) if len(totals) > 1 else np.nan, float(np.sqrt(binomial.mean()))


def rating_spread(ratings: np.ndarray, errors: np.ndarray) -> tuple[float, float]:
    """Return standard deviations of ratings [seeds] with standard errors [seeds]: between seeds, by chance of games.

        sampling² = mean error²      seeds² = max(0, sample variance of ratings − sampling²)

    The method of moments of a one-way analysis of variance: ratings vary by both, so games are taken off.
    """
    games = float(np.mean(np.square(errors)))
    seeds = max(0.0, float(ratings.var(ddof=1)) - games) if len(ratings) > 1 else np.nan
    return float(np.sqrt(seeds)), float(np.sqrt(games))
