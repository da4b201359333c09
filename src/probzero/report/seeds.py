"""What a few seeds say: means, differences and probabilities of improvement, each with a 95 % interval.

A score matrix is [seeds, strata]: the score of each independent repetition on each stratum of the evaluation set. An
overall score weighs strata by their positions,

    overall = Σ_b n_b x_b / Σ_b n_b

which for shares is Σ kept / Σ positions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from probzero.arena.elo import CONFIDENCE, Estimate
from probzero.random_keys import key

REPLICATES = 10_000
UNKNOWN = (float("nan"), float("nan"))


@dataclass(frozen=True)
class Spread:
    """Standard deviations of a score: between seeds, and by the chance of positions or games within a seed."""

    seeds: float
    sampling: float


def generator(*name: str | int) -> np.random.Generator:
    """Return the random numbers that belong to what is estimated, whatever else is estimated before it."""
    return np.random.default_rng(key("bootstrap over seeds", *name))


def overall(scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the overall scores [seeds] of scores [seeds, strata] with weights [strata]."""
    return scores @ weights / weights.sum()


def bootstrap_mean(rng: np.random.Generator, scores: np.ndarray, weights: np.ndarray) -> Estimate:
    """Return the mean overall score of scores [seeds, strata] with its stratified bootstrap interval.

    As Agarwal et al. (2021): each replicate draws seeds with replacement, independently within each stratum; the
    interval runs between percentiles 2.5 and 97.5. With one seed it is unknown (NaN).

    Their strata are tasks, each trained on its own. Bands of one network's positions are good or bad together, and
    drawing them apart averages that away: the interval is too narrow, the more so the more bands there are. A t
    interval over overall scores has no such fault.
    """
    replicates = overall(_resampled(rng, scores).mean(1), weights)
    return _percentiles(float(overall(scores, weights).mean()), replicates, len(scores))


def bootstrap_difference(rng: np.random.Generator, x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Estimate:
    """Return mean overall score of x less that of y, both [seeds, strata], with its stratified bootstrap interval.

    Shown beside `welch`. The bootstrap assumes no distribution and knows the strata, but over n seeds its variance is
    short by (n − 1)/n and its quantile is a normal one: with three seeds it is too narrow by a factor of 1.7 or more,
    besides what `bootstrap_mean` says of strata. Welch's interval allows for few seeds, at the price of assuming normal
    scores. Where the two disagree, believe the wide one.
    """
    means = [overall(_resampled(rng, scores).mean(1), weights) for scores in (x, y)]
    value = float(overall(x, weights).mean() - overall(y, weights).mean())
    return _percentiles(value, means[0] - means[1], min(len(x), len(y)))


def bootstrap_improvement(rng: np.random.Generator, x: np.ndarray, y: np.ndarray) -> Estimate:
    """Return the probability that x [seeds, strata] improves on y with its stratified bootstrap interval.

        P(X > Y) = mean_b 1/(n m) Σ_i Σ_j [x_ib > y_jb] + ½ [x_ib = y_jb]

    Mann and Whitney's U statistic over n m, averaged over strata with equal weights (Agarwal et al. 2021). Where all x
    exceed all y, every replicate says 1 and the interval has no width: read it as "in all seeds", not as certainty.
    """
    replicates = _improvement(_resampled(rng, x), _resampled(rng, y))
    return _percentiles(float(_improvement(x, y)), replicates, min(len(x), len(y)))


def mean_interval(x: np.ndarray) -> Estimate:
    """Return the mean of overall scores x [seeds] with Student's interval; NaN with one seed."""
    value = float(x.mean())
    if len(x) < 2:
        return Estimate(value, *UNKNOWN)
    return _student(value, float(x.var(ddof=1)) / len(x), len(x) - 1)


def welch(x: np.ndarray, y: np.ndarray) -> Estimate:
    """Return the mean of overall scores x [n] less that of y [m] with Welch's interval; see `bootstrap_difference`.

        v = s_x²/n + s_y²/m      freedom = v² / ((s_x²/n)²/(n − 1) + (s_y²/m)²/(m − 1))

    NaN with one seed on either side, and where no score varies at all: nothing is known of the spread then.
    """
    value = float(x.mean() - y.mean())
    if min(len(x), len(y)) < 2:
        return Estimate(value, *UNKNOWN)
    parts = [float(scores.var(ddof=1)) / len(scores) for scores in (x, y)]
    variance = sum(parts)
    if variance == 0:
        return Estimate(value, *UNKNOWN)
    freedom = variance**2 / (parts[0] ** 2 / (len(x) - 1) + parts[1] ** 2 / (len(y) - 1))
    return _student(value, variance, freedom)


def share_spread(scores: np.ndarray, positions: np.ndarray) -> Spread:
    """Return how shares [seeds, strata] of positions [strata] spread between seeds and by the choice of positions.

        seeds² = sample variance of overall scores      sampling² = mean_seed Σ_b n_b p_b (1 − p_b) / (Σ_b n_b)²

    All seeds and variants meet the same positions: their choice moves everybody alike, is no part of the variance
    between seeds, and nothing is taken off that.
    """
    totals = overall(scores, positions)
    binomial = (positions * scores * (1 - scores)).sum(1) / positions.sum() ** 2
    return Spread(float(totals.std(ddof=1)) if len(totals) > 1 else np.nan, float(np.sqrt(binomial.mean())))


def rating_spread(ratings: np.ndarray, errors: np.ndarray) -> Spread:
    """Return how ratings [seeds] with standard errors [seeds] spread between seeds and by the chance of games.

        sampling² = mean error²      seeds² = max(0, sample variance of ratings − sampling²)

    The method of moments of a one-way analysis of variance: ratings vary by both, so games are taken off.
    """
    games = float(np.mean(np.square(errors)))
    seeds = max(0.0, float(ratings.var(ddof=1)) - games) if len(ratings) > 1 else np.nan
    return Spread(float(np.sqrt(seeds)), float(np.sqrt(games)))


def _resampled(rng: np.random.Generator, scores: np.ndarray) -> np.ndarray:
    """Return replicates [replicates, seeds, strata] of scores [seeds, strata], drawn apart in each stratum."""
    draw = rng.integers(len(scores), size=(REPLICATES, *scores.shape))
    return np.take_along_axis(scores[None], draw, axis=1)


def _improvement(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return P(X > Y) [...] of scores [..., seeds, strata]."""
    order = np.sign(x[..., :, None, :] - y[..., None, :, :])
    return (1 + order.mean(axis=(-3, -2, -1))) / 2


def _percentiles(value: float, replicates: np.ndarray, seeds: int) -> Estimate:
    if seeds < 2:
        return Estimate(value, *UNKNOWN)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail])
    return Estimate(value, float(low), float(high))


def _student(value: float, variance: float, freedom: float) -> Estimate:
    margin = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) * variance**0.5
    return Estimate(value, value - margin, value + margin)
