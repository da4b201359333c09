"""Rows of the table of speeds, and how a speed is measured."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

ROUNDS = 5


class Row(NamedTuple):
    part: str  # of the program
    case: str  # with which settings
    quantity: str
    value: float
    unit: str = ""


def speed(work: Callable[[], object], amount: int, seconds: float = 1.0) -> float:
    """Return `amount` per second of `work`: the median of rounds that take `seconds` together."""
    work()
    began = time.perf_counter()
    work()
    repeats = max(1, round(seconds / ROUNDS / max(1e-6, time.perf_counter() - began)))
    rates = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(repeats):
            work()
        rates.append(amount * repeats / (time.perf_counter() - began))
    return statistics.median(rates)
