# mypy: disable-error-code="no-untyped-def"
"""What the benchmark times of the compiled form of a game: legal moves and a move, one state after another."""

from __future__ import annotations

import numpy as np
from numba import njit

rules = globals()["rules"]  # given by the loader
MOVES = rules.MOVES


@njit(cache=True)
def play_first(states, after):
    """Write into `after` [n, W] what the first legal move of each of the unfinished states [n, W] leads to."""
    moves = np.zeros(MOVES, np.int64)
    for row in range(len(states)):
        rules.legal(states[row], moves)
        rules.play(states[row], moves[0], after[row])
