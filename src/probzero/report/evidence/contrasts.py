"""Contrasts of errors between arms, with uncertainty over seeds and positions.

The error e_a of an arm is the share of positions, over all its seeds, in which its move gives the exact result away. A
contrast has a weight c_a for each arm, Σ c_a = 0, and is a ratio of errors:

    θ = Σ_a c_a log e_a          ratio = exp θ          half an error is added to each arm, so that none has log 0

A main effect over pairs of arms weighs each pair alike: the geometric mean of their ratios.

Both seeds and positions were drawn at random, and every arm met the same of both. The bootstrap draws seeds and, within
each phase (as the set was drawn), positions anew, the same for all arms (Owen 2007, the pigeonhole bootstrap): it never
understates the variance of such a table, and overstates the part of single outcomes. With S seeds, B replicates θ_b:

    s² = S / (S − 1) · variance of θ_b          θ ± t_{S−1} s          t = θ / s with S − 1 degrees of freedom

S / (S − 1), as drawing S of S seeds has that much less variance than the seeds themselves; Student's t, as S is small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from probzero.errors import bad
from probzero.report.evidence.outcomes import Outcomes

REPLICATES = 4000
PRIMARY = 4  # contrasts that share an error rate
LEVEL = 0.05
EQUIVALENT = (0.8, 1.25)  # a ratio of errors between these says "as good"


@dataclass(frozen=True)
class Contrast:
    """A ratio of errors with what is known of it; θ and `error` are logarithms."""

    theta: float
    error: float  # standard error of θ
    seeds: int

    @property
    def ratio(self) -> float:
        return float(np.exp(self.theta))

    @property
    def p(self) -> float:
        """The two-sided p-value of θ = 0."""
        return float(2 * stats.t.sf(abs(self.theta) / self.error, self.seeds - 1)) if self.error > 0 else 1.0

    def interval(self, confidence: float = 1 - LEVEL / PRIMARY) -> tuple[float, float]:
        """Return the ends of the ratio's interval: by default one of `PRIMARY` that hold all together."""
        margin = stats.t.ppf((1 + confidence) / 2, self.seeds - 1) * self.error
        low, high = np.exp([self.theta - margin, self.theta + margin])
        return float(low), float(high)

    @property
    def equivalent(self) -> bool:
        """Whether all of the interval says "as good"."""
        low, high = self.interval()
        return EQUIVALENT[0] <= low and high <= EQUIVALENT[1]


def contrast(found: Outcomes, weights: Mapping[str, float], budget: int, key: int = 0) -> Contrast:
    """Return the contrast of arms with these weights, over the seeds that all of them have; `key` keys the draws."""
    if abs(sum(weights.values())) > 1e-9:
        raise bad("contrast", "weights", "weights that sum to 0", dict(weights))
    seeds = sorted(set.intersection(*(set(found.seeds(arm, budget)) for arm in weights)))
    if len(seeds) < 2:
        raise bad("contrast", ", ".join(weights), "two seeds at least that all of them have", len(seeds))
    lost = np.array([found.of(arm, budget, seeds) for arm in weights], dtype=np.float32)  # [arms, S, P]
    return of_errors(lost, np.array(list(weights.values())), found.phase, np.random.default_rng(key))


def of_errors(lost: np.ndarray, weights: np.ndarray, phase: np.ndarray, draw: np.random.Generator) -> Contrast:
    """Return the contrast of what arms lost [arms, S, P] with weights [arms], positions of phases [P]."""
    _, seeds, positions = lost.shape
    times_seed = draw.multinomial(seeds, np.full(seeds, 1 / seeds), REPLICATES)  # [B, S]
    theta = weights @ _log_errors(lost.sum((1, 2)), seeds * positions)
    errors = np.zeros((len(lost), REPLICATES))
    for value in np.unique(phase):
        part = lost[:, :, phase == value]
        size = part.shape[2]
        times = draw.multinomial(size, np.full(size, 1 / size), REPLICATES).astype(np.float32)  # [B, positions]
        errors += np.einsum("asb,bs->ab", part @ times.T, times_seed)
    replicates = weights @ _log_errors(errors, seeds * positions)
    error = replicates.std(ddof=1) * np.sqrt(seeds / (seeds - 1))
    return Contrast(float(theta), float(error), seeds)


def _log_errors(lost: np.ndarray, of: int) -> np.ndarray:
    return np.log((lost + 0.5) / (of + 1))


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm (1979): with p sorted, p̃_k = max_{j ≤ k} min(1, (m − j + 1) p_j)."""
    order = np.argsort(p, kind="stable")
    factors = len(p) - np.arange(len(p))
    adjusted = np.maximum.accumulate(np.minimum(1, factors * np.asarray(p)[order]))
    found = np.empty(len(p))
    found[order] = adjusted
    return found.tolist()
