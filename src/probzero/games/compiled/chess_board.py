# mypy: disable-error-code="no-untyped-def"
"""The chessboard: words of a state, lines and leaps as tables, and what attacks a square.

The rules are in `chess`, beside this file. Squares are numbered 8·row + file, row 0 the mover's own.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from probzero import templates

words = templates.load("probzero.games.compiled.bits")
lowest, number, leading_zeros = words.lowest, words.number, words.leading_zeros

WORDS = 8
OWN, OPP, PAWNS, KNIGHTS, DIAGONAL, STRAIGHT, KINGS, NOTES = range(WORDS)

ZERO, ONE, ALL = np.uint64(0), np.uint64(1), ~np.uint64(0)
STEPS = np.array([8, 9, 1, -7, -8, -9, -1, 7])  # N, NE, E, SE, S, SW, W, NW
ASIDE = np.array([0, 1, 1, 1, 0, -1, -1, -1])
JUMPS = np.array([(2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1)])  # rows, files


def _reached(square, rows, files, most=7):
    """Return the squares that so many rows and files, and again, lead to without leaving the board, in order."""
    row, file = divmod(square, 8)
    steps = ((row + k * rows, file + k * files) for k in range(1, most + 1))
    return [8 * r + f for r, f in steps if 0 <= r < 8 and 0 <= f < 8]


def _board(squares):
    return sum(1 << square for square in squares)


_WAYS = [(step - aside) // 8 for step, aside in zip(STEPS.tolist(), ASIDE.tolist(), strict=True)]
RAYS = np.array([[_board(_reached(s, _WAYS[d], ASIDE[d])) for s in range(64)] for d in range(8)], np.uint64)
NEAR = np.array(
    [_board(s2 for d in range(8) for s2 in _reached(s, _WAYS[d], ASIDE[d], 1)) for s in range(64)], np.uint64
)
LEAPS = np.array([_board(s2 for r, f in JUMPS.tolist() for s2 in _reached(s, r, f, 1)) for s in range(64)], np.uint64)
HITS = np.array(
    [_board(s2 for f in (-1, 1) for s2 in _reached(s, 1, f, 1)) for s in range(64)], np.uint64
)  # own pawns'
_THROUGH = [
    [next((int(RAYS[d][a] | RAYS[d - 4][a]) for d in range(8) if int(RAYS[d][a]) >> b & 1), 0) for b in range(64)]
    for a in range(64)
]
LINES = np.array(_THROUGH, np.uint64)  # the whole line through two squares
JUMP_TO = np.array([[(_reached(s, r, f, 1) or [-1])[0] for r, f in JUMPS.tolist()] for s in range(64)])


@njit(forceinline=True)
def nearest(direction, board):
    """Return the first square in a direction of those of a board that is not empty."""
    if direction < 3 or direction == 7:
        return np.int64(number(lowest(board)))
    return np.int64(np.uint64(63) - leading_zeros(board))


@njit(forceinline=True)
def sliders_along(state, direction):
    return np.uint64(state[DIAGONAL] if direction & 1 else state[STRAIGHT])


@njit
def attacked(state, square, held, opp):
    """Return whether one of the opposing pieces `opp` attacks a square of a board that is `held` so."""
    if LEAPS[square] & opp & np.uint64(state[KNIGHTS]) or HITS[square] & opp & np.uint64(state[PAWNS]):
        return True
    if NEAR[square] & opp & np.uint64(state[KINGS]):
        return True
    for direction in range(8):
        sliders = sliders_along(state, direction) & opp
        if RAYS[direction, square] & sliders:
            met = RAYS[direction, square] & held
            if sliders >> np.uint64(nearest(direction, met)) & ONE:
                return True
    return False


@njit(forceinline=True)
def view_along(direction, square, held):
    """Return the squares in a direction up to the first that is held."""
    ray = RAYS[direction, square]
    met = ray & held
    if met:
        ray ^= RAYS[direction, nearest(direction, met)]
    return ray


@njit(forceinline=True)
def turned(board):
    """Return a board seen from the other side: its rows in the opposite order."""
    board = ((board >> np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)) | (
        (board & np.uint64(0x00FF00FF00FF00FF)) << np.uint64(8)
    )
    board = ((board >> np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)) | (
        (board & np.uint64(0x0000FFFF0000FFFF)) << np.uint64(16)
    )
    return (board >> np.uint64(32)) | (board << np.uint64(32))
