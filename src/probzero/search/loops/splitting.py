# mypy: disable-error-code="no-untyped-def"
"""How the particles of a node are divided among its moves, compiled; `kernels/descend/splitting` says what is meant.

Each scheme turns weights share[: len(count)] into particle counts; of the weights their running sum is left.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from probzero import templates

table = templates.load("probzero.search.loops.hashing")
mixed, uniform = table.mixed, table.uniform


@njit(forceinline=True)
def _sum_up(share, count):
    total = 0.0
    for slot in range(len(count)):
        total += share[slot]
        share[slot] = total
        count[slot] = 0
    return total


@njit(forceinline=True)
def _place(share, count, volume, offset):
    total = _sum_up(share, count)
    if total == 0:
        return
    before = 0
    for slot in range(len(count)):
        upto = min(volume, np.int64(share[slot] / total * volume + offset))
        count[slot] = upto - before
        before = upto


@njit(nogil=True)
def systematic(share, count, volume, drawn_key):
    _place(share, count, volume, uniform(mixed(drawn_key, np.uint64(0))))


@njit(nogil=True)
def middle(share, count, volume, drawn_key):
    _place(share, count, volume, 0.5)


@njit(nogil=True)
def multinomial(share, count, volume, drawn_key):
    total = _sum_up(share, count)
    if total == 0:
        return
    first = mixed(drawn_key, np.uint64(0))
    for particle in range(volume):
        drawn = uniform(mixed(np.uint64(particle), first))
        for slot in range(len(count)):
            if drawn < share[slot] / total:
                count[slot] += 1
                break


SPLITTERS = {"systematic": systematic, "middle": middle, "multinomial": multinomial}
