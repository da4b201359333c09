# mypy: disable-error-code="no-untyped-def"
"""Wins that nobody can delay, by trying every move and every reply: a template over any game's compiled rules.

It uses legal, play and outcome, as searches do, and nothing else that is known of a game.
"""

from __future__ import annotations

import numpy as np
from numba import njit

rules = globals()["rules"]  # given by the loader
legal, play, outcome = rules.legal, rules.play, rules.outcome
WORDS, MOVES = rules.WORDS, rules.MOVES


@njit(cache=True, nogil=True)
def _lost(level, left, states, moves):
    """Return whether the player to move at states[level] has lost, or loses whatever it does, the other one making at
    most `left` more moves."""
    replies = legal(states[level], moves[level])
    if replies == 0:
        return outcome(states[level]) < 0
    if left == 0:
        return False
    for reply in range(replies):
        play(states[level], moves[level, reply], states[level + 1])
        found = False
        for slot in range(legal(states[level + 1], moves[level + 1])):
            play(states[level + 1], moves[level + 1, slot], states[level + 2])
            if _lost(level + 2, left - 1, states, moves):
                found = True
                break
        if not found:
            return False
    return True


@njit(cache=True, nogil=True)
def shortest(positions, most, needed, ways, first):
    """Fill needed [n]: in how many of their own moves the players to move win positions [n, WORDS] at the soonest, 0
    where `most` do not suffice; ways [n]: how many moves begin such a win; first [n]: the first of them by action."""
    states, moves = np.empty((2 * most + 1, WORDS), np.int64), np.empty((2 * most + 1, MOVES), np.int64)
    for row in range(len(positions)):
        needed[row] = ways[row] = 0
        for count in range(1, most + 1):
            states[0] = positions[row]
            for slot in range(legal(states[0], moves[0])):
                play(states[0], moves[0, slot], states[1])
                if _lost(np.int64(1), np.int64(count - 1), states, moves):
                    if ways[row] == 0:
                        first[row] = moves[0, slot]
                    ways[row] += 1
            if ways[row] > 0:
                needed[row] = count
                break
