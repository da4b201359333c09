# mypy: disable-error-code="no-untyped-def, call-overload"
"""The compiled part of the solver: exact negamax with alpha-beta bounds, a transposition table and move ordering.

A template over any game's compiled rules, `game.loops("probzero.truth.solver")`. Of these it uses legal, play and

    value(state)            the value for the player to move, in a finished game: what is maximised
    LARGEST                 no value is larger, none smaller than −LARGEST
    left(state)             how much of the game is to come, a whole number >= 0
    promise(state, move)    optional: how early to try a move, where there are several; without it, by rising action

The recursive function must be called with one set of types only: a literal argument (True, 0) is a type of its own, and
numba crashes when it loads two versions of a recursive function from the cache. It makes no arrays and its caller holds
those it gets, so it counts no references (`_nrt=False`): counting them at every node would take half of the time.
"""

from __future__ import annotations

import numpy as np
from numba import njit

rules = globals()["rules"]  # given by the loader
legal, play, value, left = rules.legal, rules.play, rules.value, rules.left
WORDS, LARGEST = rules.WORDS, rules.LARGEST

NODES, LIMIT = 0, 1  # places in `counters`: nodes visited for the position at hand, and how many may be
FEW = 4  # with at most this much left, ordering and table cost more than they save
WORST = -LARGEST - 1  # below every value
FIRST = 1 << 20  # above every promise
SPAN = 1 << (rules.ACTIONS - 1).bit_length()  # promise·SPAN + move is one number to sort by

# A table entry is a row: the state; LARGEST + lower bound, LARGEST − upper bound and best move + 1, sixteen bits each;
# how much was left. Zeros know nothing. A bucket is two entries: the first keeps the larger search, the second the
# latest.
KNOWN, LEFT, ENTRY = WORDS, WORDS + 1, WORDS + 2
BITS, MASK = 16, 0xFFFF


@njit(forceinline=True)
def _in_order(state, move):
    return -move


promise = getattr(rules, "promise", _in_order)


@njit(forceinline=True)
def _bucket(state, table):
    """Return the first row of a state's bucket in the table, whose length is a power of two."""
    mixed = np.uint64(0)
    for word in range(WORDS):
        mixed = (mixed ^ np.uint64(state[word])) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(mixed >> np.uint64(32)) * 2 & (len(table) - 1)


@njit(forceinline=True)
def _holds(entry, state):
    same = True
    for word in range(WORDS):
        same &= entry[word] == state[word]
    return same


@njit(cache=True, nogil=True, _nrt=False)
def _search(depth, low, high, states, moves, table, counters):
    """Return the value v of states[depth] if low < v < high; otherwise a bound beyond the window on the same side.

    A table entry holds a lower and an upper bound on v that are true whatever window they were found with, so one
    table serves searches for the result and for the margin, and all positions of a batch. Once the nodes exceed the
    limit every call returns at once, its value is meaningless and nothing more is stored. Rows below `depth` of states
    and moves are room for what follows.
    """
    counters[NODES] += 1
    if counters[NODES] > counters[LIMIT]:
        return 0
    state, after, listed = states[depth], states[depth + 1], moves[depth]
    found = legal(state, listed)
    if found == 0:
        return value(state)
    if found == 1:
        play(state, listed[0], after)
        return -_search(depth + 1, -high, -low, states, moves, table, counters)
    best, remaining = WORST, left(state)
    if remaining <= FEW:
        for index in range(found):
            play(state, listed[index], after)
            best = max(best, -_search(depth + 1, -high, -low, states, moves, table, counters))
            low = max(low, best)
            if low >= high:
                break
        return best

    at_least, at_most, known = -LARGEST, LARGEST, -1
    first = _bucket(state, table)
    for row in range(first, first + 2):
        if _holds(table[row], state):
            entry = table[row, KNOWN]
            at_least, at_most = (entry & MASK) - LARGEST, LARGEST - (entry >> BITS & MASK)
            known = (entry >> 2 * BITS) - 1
            break
    low, high = max(low, at_least), min(high, at_most)
    if low >= high:
        return at_least if at_least >= high else at_most

    for index in range(found):
        move = listed[index]
        listed[index] = (FIRST if move == known else promise(state, move)) * SPAN + move
    floor, best_move = low, known
    for index in range(found):
        for other in range(index + 1, found):
            if listed[other] > listed[index]:
                listed[index], listed[other] = listed[other], listed[index]
        move = listed[index] & (SPAN - 1)
        play(state, move, after)
        ceiling = high if index == 0 else low + 1  # later moves first have to show that they beat the best
        found_value = -_search(depth + 1, -ceiling, -low, states, moves, table, counters)
        if ceiling <= found_value < high:
            found_value = -_search(depth + 1, -high, -found_value, states, moves, table, counters)
        if counters[NODES] > counters[LIMIT]:
            return 0
        if found_value > best:
            best = found_value
            if best > low:
                low, best_move = best, move
                if best >= high:
                    break

    if best > floor:
        at_least = max(at_least, best)
    if best < high:
        at_most = min(at_most, best)
    row = first + (table[first, LEFT] > remaining)
    for word in range(WORDS):
        table[row, word] = state[word]
    table[row, KNOWN] = (at_least + LARGEST) | (LARGEST - at_most) << BITS | (best_move + 1) << 2 * BITS
    table[row, LEFT] = remaining
    return best


@njit(cache=True, nogil=True)
def label_positions(positions, order, width, states, moves, table, counters, values):
    """Fill values[i, a] (int8 [n, actions]) for i in `order` and the legal a; return −1, or the i out of budget.

    With width LARGEST values are exact; with width 1 only their signs are right, and far cheaper. States [ranks + 1,
    words] and moves [ranks + 1, most moves] are working space, table [2^bits, ENTRY] is kept from call to call.
    """
    for index in order:
        counters[NODES] = 0
        states[0] = positions[index]
        for place in range(legal(states[0], moves[0])):
            move = moves[0, place]
            play(states[0], move, states[1])
            values[index, move] = -_search(np.int64(1), -width, width, states, moves, table, counters)
        if counters[NODES] > counters[LIMIT]:
            return index
    return -1
