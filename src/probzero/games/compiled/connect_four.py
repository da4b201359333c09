# mypy: disable-error-code="no-untyped-def"
"""Connect Four on W×H boards, one state at a time; the rules are in `probzero.games.connect_four`."""

from __future__ import annotations

import numpy as np
from numba import njit

from probzero import templates

words = templates.load("probzero.games.compiled.bits")
count = words.count

WIDTH, HEIGHT = globals()["width"], globals()["height"]  # given by the loader
SQUARES = WIDTH * HEIGHT
WORDS, MOVES, ACTIONS = 2, WIDTH, WIDTH
LARGEST = 1  # outcome
ZERO, ONE = np.uint64(0), np.uint64(1)
STRIDE = np.uint64(WIDTH)


def _starts(right):
    """Return the squares from which three more steps to the right (or left) stay on the board."""
    columns = [column for column in range(WIDTH) if 0 <= column + 3 * right < WIDTH]
    return np.uint64(sum(1 << row * WIDTH + column for row in range(HEIGHT) for column in columns))


ALONG, BACK = _starts(1), _starts(-1)


@njit(forceinline=True)
def _line(discs, shift, starts):
    """Return whether four discs follow each other `shift` bits apart, beginning on one of `starts`."""
    pairs = discs & (discs >> shift)
    return (pairs & (pairs >> (shift + shift)) & starts) != ZERO


@njit(forceinline=True)
def _four(discs):
    return (
        _line(discs, ONE, ALONG)
        or _line(discs, STRIDE, ~ZERO)
        or _line(discs, STRIDE + ONE, ALONG)
        or _line(discs, STRIDE - ONE, BACK)
    )


@njit(forceinline=True)
def _dropped(state, column):
    """Return the bit of the lowest empty square of a column."""
    square = np.int64(column)
    while ((state[0] | state[1]) >> square) & 1:
        square += WIDTH
    return np.int64(1) << square


@njit(forceinline=True)
def legal(state, moves):
    found = 0
    if _four(np.uint64(state[1])):
        return found
    held = np.uint64(state[0] | state[1])
    for column in range(WIDTH):
        if (held >> np.uint64(SQUARES - WIDTH + column)) & ONE == ZERO:
            moves[found] = column
            found += 1
    return found


@njit(forceinline=True)
def play(state, move, out):
    out[0], out[1] = state[1], state[0] | _dropped(state, move)


@njit(forceinline=True)
def outcome(state):
    return -1 if _four(np.uint64(state[1])) else 0


@njit(forceinline=True)
def value(state):
    """Return the outcome: what the solver maximises."""
    return outcome(state)


@njit(forceinline=True)
def left(state):
    """Return the empty squares: how much of the game is to come."""
    return SQUARES - count(np.uint64(state[0] | state[1]))


@njit(forceinline=True)
def rank(state, moves, found):
    return SQUARES - left(state)


@njit(forceinline=True)
def promise(state, move):
    """Return how early the solver should try a move: wins first, then the middle columns."""
    wins = _four(np.uint64(state[0] | _dropped(state, move)))
    return 100 * wins - abs(2 * move - (WIDTH - 1))
