# mypy: disable-error-code="no-untyped-def"
"""The rules of a game over rows of states: the array form of a game whose rules are written in compiled form alone."""

from __future__ import annotations

import numpy as np
from numba import njit

rules = globals()["rules"]  # given by the loader
WORDS, MOVES = rules.WORDS, rules.MOVES


@njit(cache=True, nogil=True)
def mark_legal(states, found):
    """Mark the legal moves of states [n, WORDS] in found [n, A], which is all false."""
    moves = np.empty(MOVES, np.int64)
    for row in range(len(states)):
        for slot in range(rules.legal(states[row], moves)):
            found[row, moves[slot]] = True


@njit(cache=True, nogil=True)
def play(states, actions, out):
    for row in range(len(states)):
        rules.play(states[row], actions[row], out[row])


@njit(cache=True, nogil=True)
def outcome(states, found):
    for row in range(len(states)):
        found[row] = rules.outcome(states[row])


@njit(cache=True, nogil=True)
def rank(states, found):
    moves = np.empty(MOVES, np.int64)
    for row in range(len(states)):
        found[row] = rules.rank(states[row], moves, rules.legal(states[row], moves))


@njit(cache=True, nogil=True)
def perft(state, depth):
    """Return the number of lines of so many plies; those that end earlier count where they end no more."""
    moves = np.empty((depth, MOVES), np.int64)
    line = np.empty((depth + 1, WORDS), np.int64)
    left = np.zeros(depth, np.int64)
    line[0] = state
    level, total = 0, rules.legal(line[0], moves[0])
    if depth == 1:
        return total
    left[0], total = total, 0
    while level >= 0:
        if left[level] == 0:
            level -= 1
            continue
        left[level] -= 1
        rules.play(line[level], moves[level, left[level]], line[level + 1])
        following = rules.legal(line[level + 1], moves[level + 1])
        if level + 2 == depth:
            total += following
        else:
            level += 1
            left[level] = following
    return total
