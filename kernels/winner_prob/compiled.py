# mypy: disable-error-code="no-untyped-def"
"""winner_prob as a compiled loop: the path on processors, and a part of backup's. The equations are in `reference`."""

from __future__ import annotations

import numpy as np
from numba import njit

from probzero import wdl
from probzero.kernels.winner_prob.constants import EPS, LOST_RAW, RATIO_FLOOR

WIN, DRAW, LOSS = wdl.WIN, wdl.DRAW, wdl.LOSS


@njit(forceinline=True)
def weigh(children, count, exponent, raw):
    """Fill raw[: count] for children's triples float64 [count, 3]; return Σ raw: the weights are raw / Σ raw."""
    ratio = 1.0
    for slot in range(count):
        win = children[slot, WIN] + EPS
        ratio *= win / (win + children[slot, DRAW])
    ratio = max(ratio, RATIO_FLOOR)
    largest = 0.0
    for slot in range(count):
        win, draw = children[slot, WIN] + EPS, children[slot, DRAW]
        raw[slot] = draw / win * ratio + children[slot, LOSS] / (win + draw)
        largest = max(largest, raw[slot])
    total = 0.0
    for slot in range(count):
        if exponent != 1.0 and largest > 0:
            raw[slot] = (raw[slot] / largest) ** exponent
        raw[slot] += LOST_RAW
        total += raw[slot]
    return total


@njit(cache=True, nogil=True)
def winner_prob(values, mask, exponent, weights):
    """Fill weights float32 [n, K] for triples float32 [n, K, 3] and mask bool [n, K]; exponent is 1/τ."""
    children, raw = np.zeros((mask.shape[1], wdl.SIZE)), np.zeros(mask.shape[1])
    for row in range(mask.shape[0]):
        count = 0
        for slot in range(mask.shape[1]):
            if mask[row, slot]:
                children[count] = values[row, slot]
                count += 1
        total = weigh(children, count, exponent, raw)
        count = 0
        for slot in range(mask.shape[1]):
            weights[row, slot] = 0.0
            if mask[row, slot]:
                weights[row, slot] = raw[count] / total
                count += 1
