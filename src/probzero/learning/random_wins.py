# mypy: disable-error-code="no-untyped-def"
"""Random games that somebody wins, compiled over the rules of a game."""

from __future__ import annotations

import numpy as np
from numba import njit

from probzero import templates

mixed = templates.load("probzero.search.loops.hashing").mixed

rules = globals()["rules"]  # given by the loader
WORDS, MOVES = rules.WORDS, rules.MOVES


@njit(cache=True, nogil=True)
def first_won(states, keys, tries, moves, plies):
    """Play up to `tries` random games from each of states [n, WORDS], and keep the first that somebody wins.

    Fills its actions into moves [n, longest] and their number into plies [n], 0 where nobody won any. The moves of a
    game are keyed by keys [n], its number and the ply.
    """
    state, legal = np.empty(WORDS, np.int64), np.empty(MOVES, np.int64)
    for row in range(len(states)):
        plies[row] = 0
        for game in range(tries):
            drawn = mixed(np.uint64(game), np.uint64(keys[row]))
            state[:] = states[row]
            ply, count = 0, rules.legal(state, legal)
            while count > 0:
                drawn = mixed(np.uint64(ply), drawn)
                moves[row, ply] = legal[np.int64(drawn % np.uint64(count))]
                rules.play(state, moves[row, ply], state)
                ply, count = ply + 1, rules.legal(state, legal)
            if rules.outcome(state) != 0:
                plies[row] = ply
                break
