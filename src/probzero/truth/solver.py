"""The compiled part of the solver: exact negamax with alpha-beta bounds, a transposition table and move ordering.

Boards are uint64 words, bit row·N + column, seen by the player to move. A value is the final disc difference, own minus
opposing (empty squares count for nobody), for the player to move. `label_positions` is what Python calls; everything
else is reached from it.

All compiled functions live in this one file because numba's cache on disk notices a change of the file that holds a
function, but not of files that the function calls into. The recursive ones must be called with one set of types only:
a literal argument (True, 0) is a type of its own, and numba crashes when it loads two versions of a recursive function
from the cache.
"""

# mypy reads compiled functions as plain Python: it knows neither numba's types nor how intrinsics are called.
# mypy: disable-error-code="assignment, call-arg, import-untyped"

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from probzero.games.othello import SIZES

ILLEGAL = -128  # stands in for the value of an action that is not legal
NODES, LIMIT = 0, 1  # places in `counters`: nodes visited for the position at hand, and how many may be
FEW = 4  # with at most this many empty squares, ordering and table cost more than they save
WORST = -99  # below every value
NO_MOVE = 64

# A table entry is four words: own; opp; bounds and best move; empty squares left after the move. A bucket is two
# entries: the first keeps the larger search, the second the latest.
OPP, BOUNDS, LEFT, ENTRY, BUCKET = (np.uint64(word) for word in (1, 2, 3, 4, 8))
ZERO, ONE = np.uint64(0), np.uint64(1)
TOP = np.uint64(1 << 63)


def _rays(size: int) -> np.ndarray:
    """Return uint64 [64, 8]: the squares seen from each square, excluding it, in the 8 directions.

    The first four directions lead to higher bits, the last four to lower bits.
    """
    rays = np.zeros((64, 8), dtype=np.uint64)
    steps = ((0, 1), (1, -1), (1, 0), (1, 1), (0, -1), (-1, 1), (-1, 0), (-1, -1))
    for square in range(size * size):
        for index, (down, right) in enumerate(steps):
            row, column = square // size + down, square % size + right
            while 0 <= row < size and 0 <= column < size:
                rays[square, index] |= np.uint64(1 << row * size + column)
                row, column = row + down, column + right
    return rays


def _mask(size: int, squares: list[tuple[int, int]]) -> int:
    return sum(1 << row * size + column for row, column in squares)


_LARGEST = max(SIZES)
RAYS = np.zeros((_LARGEST + 1, 64, 8), dtype=np.uint64)  # [size, square, direction]
FULL = np.zeros(_LARGEST + 1, dtype=np.uint64)  # [size] all squares
INNER = np.zeros(_LARGEST + 1, dtype=np.uint64)  # [size] all but the first and the last column
CORNERS = np.zeros(_LARGEST + 1, dtype=np.uint64)  # [size]
for _size in SIZES:
    _span, _ends = range(_size), (0, _size - 1)
    RAYS[_size] = _rays(_size)
    FULL[_size] = _mask(_size, [(row, column) for row in _span for column in _span])
    INNER[_size] = _mask(_size, [(row, column) for row in _span for column in _span if column not in _ends])
    CORNERS[_size] = _mask(_size, [(row, column) for row in _ends for column in _ends])


@intrinsic
def _leading_zeros(typing, word):
    """Return the number of zero bits above the highest set bit of a uint64 (64 for zero): one instruction."""

    def build(context, builder, signature, arguments):
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), build


@njit(cache=True, nogil=True)
def count(word):
    """Return the number of set bits; the compiler recognises the pattern and emits one instruction."""
    word = word - ((word >> ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def lowest(word):
    """Return the lowest set bit, as a word."""
    return word & (~word + ONE)


@njit(cache=True, nogil=True)
def square_of(bit):
    """Return the square of a single bit, unsigned so that indexing needs no test for negative numbers."""
    return np.uint64(count(bit - ONE))


@njit(cache=True, nogil=True)
def _landings(own, opp, shift, long):
    """Return the squares one step past a run of `opp` that starts beside `own`, both ways along one line.

    Runs grow by doubling: 1, 2, 4 discs, which is all that fits for N <= 6, and on `long` boards 6.
    """
    up, down = opp & (own << shift), opp & (own >> shift)
    up |= opp & (up << shift)
    down |= opp & (down >> shift)
    twice = shift + shift
    pairs_up, pairs_down = opp & (opp << shift), opp & (opp >> shift)
    up |= pairs_up & (up << twice)
    down |= pairs_down & (down >> twice)
    if long:
        up |= pairs_up & (up << twice)
        down |= pairs_down & (down >> twice)
    return (up << shift) | (down >> shift)


@njit(cache=True, nogil=True)
def placements(own, opp, size):
    """Return the squares where the player to move may place a disc.

    A run that goes sideways cannot use the outer columns, so masking them off also stops wrapping round the edge.
    """
    width, long = np.uint64(size), size > 6
    inner = opp & INNER[size]
    found = _landings(own, inner, ONE, long) | _landings(own, opp, width, long)
    found |= _landings(own, inner, width - ONE, long) | _landings(own, inner, width + ONE, long)
    return found & ~(own | opp) & FULL[size]


@njit(cache=True, nogil=True)
def flips(own, opp, square, size):
    """Return the opposing discs turned by placing on `square`; none if the move is illegal.

    Along a ray the disc that matters is the nearest square not held by `opp`. Towards higher bits, adding 1 to
    (opp | outside of the ray) carries exactly up to it; towards lower bits it is the highest set bit.
    """
    turned = ZERO
    for direction in range(4):
        ray = RAYS[size, square, direction]
        end = ((opp | ~ray) + ONE) & own & ray
        turned |= (end - np.uint64(end != ZERO)) & ray
    for direction in range(4, 8):
        ray = RAYS[size, square, direction]
        end = (TOP >> _leading_zeros(ray & ~opp | ONE)) & own & ray
        turned |= (ZERO - (end << ONE)) & ray
    return turned


@njit(cache=True, nogil=True)
def _last(own, opp, empty, size):
    """Return the value with one empty square: whoever can, fills it."""
    square, margin = square_of(empty), count(own) - count(opp)
    turned = flips(own, opp, square, size)
    if turned != ZERO:
        return margin + 1 + 2 * count(turned)
    turned = flips(opp, own, square, size)
    if turned != ZERO:
        return margin - 1 - 2 * count(turned)
    return margin


@njit(cache=True, nogil=True)
def _finish(own, opp, low, high, empty, size, counters):
    """Return the value with few empty squares (at least one), trying them in board order; bounds as in `_search`."""
    counters[NODES] += 1
    if empty == lowest(empty):
        return _last(own, opp, empty, size)
    best, rest = WORST, empty
    while rest != ZERO:
        bit = lowest(rest)
        rest ^= bit
        turned = flips(own, opp, square_of(bit), size)
        if turned != ZERO:
            best = max(best, -_finish(opp ^ turned, own | turned | bit, -high, -low, empty ^ bit, size, counters))
            low = max(low, best)
            if low >= high:
                return best
    if best > WORST:
        return best
    if placements(opp, own, size) == ZERO:
        return count(own) - count(opp)
    return -_finish(opp, own, -high, -low, empty, size, counters)


@njit(cache=True, nogil=True)
def _bucket(own, opp, table):
    """Return where the bucket of a position begins in the table, whose length is a power of two."""
    mixed = (own * np.uint64(0x9E3779B97F4A7C15)) ^ ((opp * np.uint64(0xC2B2AE3D27D4EB4F)) >> np.uint64(7))
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(24)) * BUCKET & np.uint64(len(table) - 1)


@njit(cache=True, nogil=True)
def _order(own, opp, moves, known, size, row):
    """Write score·64 + square of each move into row [64] and return how many there are.

    First the move the table remembers, then those that leave the opponent the fewest replies (his corners count
    more), with a bonus for taking a corner. The weights are the best of a handful tried on 5×5.
    """
    found, corners = 0, CORNERS[size]
    while moves != ZERO:
        bit = lowest(moves)
        moves ^= bit
        square = square_of(bit)
        score = 1 << 20
        if square != np.uint64(known):
            turned = flips(own, opp, square, size)
            replies = placements(opp ^ turned, own | turned | bit, size)
            score = 1000 - 4 * count(replies) - 2 * count(replies & corners) + 5 * count(bit & corners)
        row[found] = score * 64 + np.int64(square)
        found += 1
    return found


@njit(cache=True, nogil=True)
def _search(own, opp, low, high, size, table, lists, counters):
    """Return the value v of a position if low < v < high; otherwise a bound beyond the window on the same side.

    A table entry holds a lower and an upper bound on v that are true whatever window they were found with, so one
    table serves searches for the result and for the margin, and all positions of a batch. Once the nodes exceed the
    limit every call returns at once, its value is meaningless and nothing more is stored.
    """
    counters[NODES] += 1
    if counters[NODES] > counters[LIMIT]:
        return 0
    moves = placements(own, opp, size)
    if moves == ZERO:
        if placements(opp, own, size) == ZERO:
            return count(own) - count(opp)
        return -_search(opp, own, -high, -low, size, table, lists, counters)

    at_least, at_most, known = -64, 64, NO_MOVE
    first = _bucket(own, opp, table)
    slot = first
    for _ in range(2):
        if table[slot] == own and table[slot + OPP] == opp:
            entry = np.int64(table[slot + BOUNDS])
            at_least, at_most, known = (entry & 255) - 64, ((entry >> 8) & 255) - 64, entry >> 16
            break
        slot += ENTRY
    low, high = max(low, at_least), min(high, at_most)
    if low >= high:
        return at_least if at_least >= high else at_most

    empty = FULL[size] & ~(own | opp)
    remaining = count(empty) - 1
    row = lists[remaining]
    found = _order(own, opp, moves, known, size, row)
    floor, best, best_move = low, WORST, known
    for index in range(found):
        for other in range(index + 1, found):
            if row[other] > row[index]:
                row[index], row[other] = row[other], row[index]
        square = np.uint64(row[index] & 63)
        bit = ONE << square
        turned = flips(own, opp, square, size)
        next_own, next_opp = opp ^ turned, own | turned | bit
        if remaining == 0:
            value = count(next_opp) - count(next_own)
        elif remaining <= FEW:
            value = -_finish(next_own, next_opp, -high, -low, empty ^ bit, size, counters)
        else:
            ceiling = high if index == 0 else low + 1  # later moves first have to show that they beat the best
            value = -_search(next_own, next_opp, -ceiling, -low, size, table, lists, counters)
            if ceiling <= value < high:
                value = -_search(next_own, next_opp, -high, -value, size, table, lists, counters)
        if counters[NODES] > counters[LIMIT]:
            return 0
        if value > best:
            best = value
            if value > low:
                low, best_move = value, np.int64(square)
                if value >= high:
                    break

    if best > floor:
        at_least = max(at_least, best)
    if best < high:
        at_most = min(at_most, best)
    slot = first
    if table[slot + LEFT] > np.uint64(remaining):
        slot += ENTRY
    table[slot], table[slot + OPP] = own, opp
    table[slot + BOUNDS] = np.uint64((at_least + 64) | (at_most + 64) << 8 | best_move << 16)
    table[slot + LEFT] = np.uint64(remaining)
    return best


@njit(cache=True, nogil=True)
def label_positions(own, opp, order, size, width, table, lists, counters, values):
    """Fill values[i] (int8 [actions], ILLEGAL where illegal) for i in `order`; return −1, or the i out of budget.

    With width 64 values are exact margins; with width 1 only their signs are right, and far cheaper.
    """
    squares = size * size
    for index in order:
        counters[NODES] = 0
        mine, theirs = own[index], opp[index]
        values[index] = ILLEGAL
        moves = placements(mine, theirs, size)
        if moves == ZERO and placements(theirs, mine, size) != ZERO:
            values[index, squares] = -_search(theirs, mine, -width, width, size, table, lists, counters)
        while moves != ZERO:
            bit = lowest(moves)
            moves ^= bit
            square = square_of(bit)
            turned = flips(mine, theirs, square, size)
            values[index, square] = -_search(
                theirs ^ turned, mine | turned | bit, -width, width, size, table, lists, counters
            )
        if counters[NODES] > counters[LIMIT]:
            return index
    return -1
