# mypy: disable-error-code="no-untyped-def"
"""From logits to probabilities, compiled: a template, see `probzero.templates`. The same bits on every processor.

Libraries have an exp of their own for each set of instructions. Here it is a chain of products and sums in float64,
each rounded as IEEE 754 says, and rounded to float32 in the end: exp(x) = 2^k · exp(r) with x = k · ln 2 + r, |r| ≤
ln 2 / 2, and exp(r) by its series to r^13 / 13!, which is exact to float64's rounding.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

PER_LN2 = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # k · LN2_HIGH is exact
FACTORS = tuple(1.0 / math.factorial(k) for k in range(13, -1, -1))
SMALLEST = -700.0  # less is 0


@njit(forceinline=True)
def power(x):
    """exp(x) for x ≤ 0."""
    if not x >= SMALLEST:
        return x * 0.0 if x != x else 0.0
    k = math.floor(x * PER_LN2 + 0.5)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    total = 0.0
    for factor in FACTORS:
        total = total * r + factor
    return math.ldexp(total, int(k))


@njit(cache=True, nogil=True)
def over_moves(logits, moves, prior):
    """Fill prior [n, K] with the softmax of logits [n, A] over the actions listed in moves [n, K], some repeatedly."""
    weight, counted = np.zeros(logits.shape[1]), np.full(logits.shape[1], -1)
    for row in range(len(logits)):
        largest = -np.inf
        for k in range(moves.shape[1]):
            largest = max(largest, logits[row, moves[row, k]])
        total = 0.0
        for k in range(moves.shape[1]):
            action = moves[row, k]
            if counted[action] != row:
                counted[action] = row
                weight[action] = power(np.float64(logits[row, action]) - largest)
                total += weight[action]
        for k in range(moves.shape[1]):
            prior[row, k] = weight[moves[row, k]] / total


@njit(cache=True, nogil=True)
def softmax(logits, count, chances):
    """Fill chances [n, count] with the softmax of the first `count` columns of logits [n, K]."""
    weight = np.zeros(count)
    for row in range(len(logits)):
        largest = -np.inf
        for k in range(count):
            largest = max(largest, logits[row, k])
        total = 0.0
        for k in range(count):
            weight[k] = power(np.float64(logits[row, k]) - largest)
            total += weight[k]
        for k in range(count):
            chances[row, k] = weight[k] / total


@njit(cache=True, nogil=True)
def means(chances, value):
    """Fill value [n] with the means of distributions chances [n, S] over S points evenly spaced from −1 to 1."""
    last = chances.shape[1] - 1
    for row in range(len(chances)):
        total = 0.0
        for k in range(last + 1):
            total += chances[row, k] * (2.0 * k / last - 1.0)
        value[row] = min(max(total, -1.0), 1.0)
