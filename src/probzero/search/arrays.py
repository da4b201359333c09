"""The structs in which compiled loops take arrays, and large arrays that cost nothing until they are used."""

from __future__ import annotations

import mmap
import sys
from contextlib import suppress
from math import prod
from typing import NamedTuple

import numpy as np

LARGE = 1 << 20  # bytes from which on an array has memory of its own
HUGE = 1 << 22  # and from which on in pages of 2 MiB, where Linux has them
# Linux refuses a mapping larger than all memory unless it is told that little of it is used. Python has no name for it.
NO_RESERVE = 0x4000 if sys.platform == "linux" else 0


def paged_zeros(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Return zeros of that shape in a processor's memory; a page of a large array takes some when it is first touched.

    An allocator that hands out memory used before writes all of it, though a graph rarely fills its capacity. Memory
    mapped anew is zero without being written. It is private: pages of shared memory take twice as long and stay small.
    """
    numbers = np.dtype(dtype)
    if prod(shape) * numbers.itemsize < LARGE:
        return np.zeros(shape, numbers)
    memory = mmap.mmap(-1, prod(shape) * numbers.itemsize, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
    if len(memory) >= HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a system without them
            memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, numbers).reshape(shape)


class GraphArrays(NamedTuple):
    """The memory of a `Graph` as numpy sees it; `graph` says what each array holds."""

    keys: np.ndarray
    key: np.ndarray
    rank: np.ndarray
    evaluated: np.ndarray
    closed: np.ndarray
    visits: np.ndarray
    volume: np.ndarray
    first_edge: np.ndarray
    edge_count: np.ndarray
    first_parent: np.ndarray
    search: np.ndarray
    net: np.ndarray
    edge_child: np.ndarray
    edge_policy: np.ndarray
    edge_action: np.ndarray
    edge_visits: np.ndarray
    next_parent: np.ndarray
    game_key: np.ndarray
    scratch: np.ndarray
    rank_heads: np.ndarray


class ResultArrays(NamedTuple):
    """What MCTS keeps beside the graph, as numpy sees it; `mcts` says what each array holds."""

    edge_value: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Scoring(NamedTuple):
    """How MCTS scores moves; the formulas are in `scores`."""

    ucb: bool  # UCB1 in the place of PUCT
    constant: float  # c
    logarithmic: bool  # c grows
    minmax: bool  # Q is scaled
    untried_first: bool
    untried_parent: bool  # an untried move has its node's Q
    reduction: float  # less this
    virtual_loss: int  # of a simulation on its way
