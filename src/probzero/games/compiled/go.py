# mypy: disable-error-code="no-untyped-def"
"""Go on N×N boards, one state at a time; the rules are in `probzero.games.go`."""

from __future__ import annotations

import numpy as np
from numba import njit

from probzero import templates

words = templates.load("probzero.games.compiled.bits")
count, lowest, number = words.count, words.lowest, words.number

SIZE, KOMI, LONGEST = globals()["size"], globals()["komi"], globals()["longest"]  # given by the loader
SQUARES = SIZE * SIZE
WORDS, MOVES, ACTIONS = 4, SQUARES + 1, SQUARES + 1
DOUBLE_KOMI = round(2 * KOMI)
LARGEST = SQUARES + (DOUBLE_KOMI + 1) // 2  # margin
PASSES = 3  # the bits of the clock that count them
ZERO, ONE, WIDTH = np.uint64(0), np.uint64(1), np.uint64(SIZE)
FULL = np.uint64((1 << SQUARES) - 1)
OFF_FIRST = FULL & ~np.uint64(sum(1 << row * SIZE for row in range(SIZE)))  # columns
OFF_LAST = FULL & ~np.uint64(sum(1 << row * SIZE + SIZE - 1 for row in range(SIZE)))


@njit(forceinline=True)
def _beside(squares):
    along = ((squares & OFF_LAST) << ONE) | ((squares & OFF_FIRST) >> ONE)
    return (along | (squares << WIDTH) | (squares >> WIDTH)) & FULL


@njit
def _joined(seeds, within):
    """Return the squares of `within` that are joined to one of its `seeds`."""
    more = (seeds | _beside(seeds)) & within
    while more != seeds:
        seeds = more
        more = (seeds | _beside(seeds)) & within
    return seeds


@njit
def _alive(stones, others):
    """Return those stones whose group has a liberty."""
    return _joined(_beside(FULL & ~(stones | others)) & stones, stones)


@njit
def _breathes(stone, own, opp):
    """Return whether a stone placed here has a liberty, or takes what it needs."""
    held, mine = own | opp, own | stone
    if _beside(stone) & ~held != ZERO:
        return True
    if _beside(_joined(stone, mine)) & ~(held | stone) != ZERO:
        return True
    return _alive(opp, mine) != opp


@njit(forceinline=True)
def legal(state, moves):
    own, opp, clock = np.uint64(state[0]), np.uint64(state[1]), state[3]
    found = 0
    if clock & PASSES >= 2 or clock >> 2 >= LONGEST:
        return found
    open_to = FULL & ~(own | opp | np.uint64(state[2]))
    while open_to != ZERO:
        stone = lowest(open_to)
        open_to ^= stone
        if _breathes(stone, own, opp):
            moves[found] = np.int64(number(stone))
            found += 1
    moves[found] = SQUARES
    return found + 1


@njit(forceinline=True)
def play(state, move, out):
    own, opp, clock = np.uint64(state[0]), np.uint64(state[1]), state[3]
    if move == SQUARES:
        out[0], out[1], out[2], out[3] = np.int64(opp), np.int64(own), 0, clock + 5
        return
    stone = ONE << np.uint64(move)
    mine = own | stone
    theirs, beside, ko = opp, _beside(stone), ZERO
    if beside & opp != ZERO:
        theirs = _alive(opp, mine)
        taken = opp ^ theirs
        if taken & (taken - ONE) == ZERO and beside & own == ZERO and beside & ~(mine | theirs) == taken:
            ko = taken  # by one stone, whose only liberty is there
    out[0], out[1], out[2], out[3] = np.int64(theirs), np.int64(mine), np.int64(ko), (clock | PASSES) + 1


@njit(forceinline=True)
def value(state):
    """Return the points by which the player to move is ahead, komi counted: what the solver maximises."""
    own, opp = np.uint64(state[0]), np.uint64(state[1])
    empty = FULL & ~(own | opp)
    ours, theirs = own | _joined(_beside(own) & empty, empty), opp | _joined(_beside(opp) & empty, empty)
    area = count(ours & ~theirs) - count(theirs & ~ours)
    second = (state[3] >> 2) & 1  # who gets the komi is to move
    doubled = 2 * area + DOUBLE_KOMI * (2 * second - 1)
    return (doubled + (doubled > 0)) >> 1


@njit(forceinline=True)
def outcome(state):
    margin = value(state)
    return 1 if margin > 0 else -1 if margin < 0 else 0


@njit(forceinline=True)
def rank(state, moves, found):
    return state[3] >> 2


@njit(forceinline=True)
def left(state):
    """Return the plies to come at most: how much of the game is left."""
    return LONGEST - (state[3] >> 2)
