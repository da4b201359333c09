# mypy: disable-error-code="no-untyped-def"
"""Othello on N×N boards, one state at a time; the rules are in `probzero.games.othello`."""

from __future__ import annotations

import numpy as np
from numba import njit

from probzero import templates

words = templates.load("probzero.games.compiled.bits")
count, lowest, number, leading_zeros = words.count, words.lowest, words.number, words.leading_zeros

SIZE = globals()["size"]  # given by the loader
SQUARES = SIZE * SIZE
WORDS, MOVES, ACTIONS = 2, SQUARES - 4, SQUARES + 1
LARGEST = SQUARES  # margin
ZERO, ONE, TOP = np.uint64(0), np.uint64(1), np.uint64(1 << 63)
WIDTH = np.uint64(SIZE)
LONG = SIZE > 6  # runs of more than four discs


def _mask(squares):
    return np.uint64(sum(1 << row * SIZE + column for row, column in squares))


_SPAN, _ENDS = range(SIZE), (0, SIZE - 1)
FULL = _mask([(row, column) for row in _SPAN for column in _SPAN])
INNER = _mask([(row, column) for row in _SPAN for column in _SPAN if column not in _ENDS])
CORNERS = _mask([(row, column) for row in _ENDS for column in _ENDS])


def _rays():
    """Return uint64 [N², 8]: the squares seen from each square, excluding it, in the 8 directions.

    The first four directions lead to higher bits, the last four to lower bits.
    """
    rays = np.zeros((SQUARES, 8), dtype=np.uint64)
    steps = ((0, 1), (1, -1), (1, 0), (1, 1), (0, -1), (-1, 1), (-1, 0), (-1, -1))
    for square in range(SQUARES):
        for index, (down, right) in enumerate(steps):
            row, column = square // SIZE + down, square % SIZE + right
            while 0 <= row < SIZE and 0 <= column < SIZE:
                rays[square, index] |= np.uint64(1 << row * SIZE + column)
                row, column = row + down, column + right
    return rays


RAYS = _rays()


@njit(forceinline=True)
def _landings(own, opp, shift):
    """Return the squares one step past a run of `opp` that starts beside `own`, both ways along one line.

    Runs grow by doubling: 1, 2, 4 discs, which is all that fits for N <= 6, and on larger boards 6.
    """
    up, down = opp & (own << shift), opp & (own >> shift)
    up |= opp & (up << shift)
    down |= opp & (down >> shift)
    twice = shift + shift
    pairs_up, pairs_down = opp & (opp << shift), opp & (opp >> shift)
    up |= pairs_up & (up << twice)
    down |= pairs_down & (down >> twice)
    if LONG:
        up |= pairs_up & (up << twice)
        down |= pairs_down & (down >> twice)
    return (up << shift) | (down >> shift)


@njit(forceinline=True)
def _placements(own, opp):
    """Return the squares where the player to move may place a disc.

    A run that goes sideways cannot use the outer columns, so masking them off also stops wrapping round the edge.
    """
    inner = opp & INNER
    found = _landings(own, inner, ONE) | _landings(own, opp, WIDTH)
    found |= _landings(own, inner, WIDTH - ONE) | _landings(own, inner, WIDTH + ONE)
    return found & ~(own | opp) & FULL


@njit(forceinline=True)
def _turned(own, opp, square):
    """Return the opposing discs turned by placing on `square`; none if the move is illegal.

    Along a ray the disc that matters is the nearest square not held by `opp`. Towards higher bits, adding 1 to
    (opp | outside of the ray) carries exactly up to it; towards lower bits it is the highest set bit.
    """
    turned = ZERO
    for direction in range(4):
        ray = RAYS[square, direction]
        end = ((opp | ~ray) + ONE) & own & ray
        turned |= (end - np.uint64(end != ZERO)) & ray
    for direction in range(4, 8):
        ray = RAYS[square, direction]
        end = (TOP >> leading_zeros(ray & ~opp | ONE)) & own & ray
        turned |= (ZERO - (end << ONE)) & ray
    return turned


@njit(forceinline=True)
def legal(state, moves):
    own, opp = np.uint64(state[0]), np.uint64(state[1])
    mine, found = _placements(own, opp), 0
    if mine == ZERO and _placements(opp, own) != ZERO:
        moves[0] = SQUARES
        found = 1
    while mine != ZERO:
        bit = lowest(mine)
        mine ^= bit
        moves[found] = np.int64(number(bit))
        found += 1
    return found


@njit(forceinline=True)
def play(state, move, out):
    own, opp = np.uint64(state[0]), np.uint64(state[1])
    placed = turned = ZERO
    if move < SQUARES:
        placed = ONE << np.uint64(move)
        turned = _turned(own, opp, np.uint64(move))
    out[0], out[1] = np.int64(opp ^ turned), np.int64(own | turned | placed)


@njit(forceinline=True)
def value(state):
    """Return own discs minus opposing discs: what the solver maximises."""
    return count(np.uint64(state[0])) - count(np.uint64(state[1]))


@njit(forceinline=True)
def outcome(state):
    margin = value(state)
    return 1 if margin > 0 else -1 if margin < 0 else 0


@njit(forceinline=True)
def rank(state, moves, found):
    return 2 * count(np.uint64(state[0] | state[1])) + (found > 0 and moves[0] < SQUARES)


@njit(forceinline=True)
def left(state):
    """Return the empty squares: how much of the game is to come."""
    return SQUARES - count(np.uint64(state[0] | state[1]))


@njit(forceinline=True)
def promise(state, move):
    """Return how early the solver should try a placement; a pass is never one of several moves.

    First those that leave the opponent the fewest replies (corners count more), with a bonus for taking a corner. The
    weights are the best of a handful tried on 5×5.
    """
    own, opp = np.uint64(state[0]), np.uint64(state[1])
    bit = ONE << np.uint64(move)
    turned = _turned(own, opp, np.uint64(move))
    replies = _placements(opp ^ turned, own | turned | bit)
    return 5 * count(bit & CORNERS) - 4 * count(replies) - 2 * count(replies & CORNERS)
