# mypy: disable-error-code="no-untyped-def, call-overload"
"""The compiled part of the database: followers of positions, and their values by look-up in the layer behind.

A template over any game's compiled rules whose state is two words of `bits` bits each. A *key* is the whole position in
one number, own · 2^bits + opp, of the one of its turned forms for which that is smallest. A *layer* holds the positions
with equally much of the game left; a move leads into the next layer, or is forced and stays in its own (a pass).
"""

from __future__ import annotations

import numpy as np
from numba import njit

rules = globals()["rules"]  # given by the loader, as are the next two
SYMMETRIES, BITS = globals()["symmetries"], globals()["bits"]
legal, play, value, left = rules.legal, rules.play, rules.value, rules.left
WORDS, MOVES = rules.WORDS, rules.MOVES

CHUNK = 9  # bits that are turned at once, by table
CHUNKS = -(-BITS // CHUNK)
CHUNK_MASK, WORD_MASK = np.uint64((1 << CHUNK) - 1), np.int64((1 << BITS) - 1)
LAST = np.int64((1 << 63) - 1)  # above every key
COUNTS = ("terminal", "passes", "wins", "draws", "losses", "choices", "decisive", "single")
TERMINAL, PASSES, WINS, DRAWS, LOSSES, CHOICES, DECISIVE, SINGLE = range(len(COUNTS))
UNKNOWN = -1
BUCKETS = 1 << 13  # parts of a layer, each of which a processor's cache holds


@njit(forceinline=True)
def _key(state, turned):
    """Return the key of a state; turned uint32 [CHUNKS, 2^CHUNK, SYMMETRIES] has the bits of a chunk turned."""
    own, opp, smallest = np.uint64(state[0]), np.uint64(state[1]), LAST
    for k in range(SYMMETRIES):
        first = second = np.uint32(0)
        for chunk in range(CHUNKS):
            shift = np.uint64(CHUNK * chunk)
            first |= turned[chunk, own >> shift & CHUNK_MASK, k]
            second |= turned[chunk, opp >> shift & CHUNK_MASK, k]
        smallest = min(smallest, np.int64(first) << BITS | np.int64(second))
    return smallest


@njit(forceinline=True)
def _unpack(key, state):
    state[0], state[1] = key >> BITS, key & WORD_MASK


@njit(cache=True, nogil=True)
def keys_of(states, turned, keys):
    """Write the keys [n] of states [n, 2]."""
    for row in range(len(states)):
        keys[row] = _key(states[row], turned)


@njit(cache=True, nogil=True)
def expand(keys, turned, out):
    """Write the keys that follow in the next layer, with repetitions; return how many, or UNKNOWN.

    That is where a move stays in the layer though it is not forced: such a game has no layers."""
    states, moves, written = np.empty((2, WORDS), np.int64), np.empty(MOVES, np.int64), 0
    for key in keys:
        _unpack(key, states[0])
        found, remaining = legal(states[0], moves), left(states[0])
        for place in range(found):
            play(states[0], moves[place], states[1])
            if left(states[1]) == remaining - 1:
                out[written] = _key(states[1], turned)
                written += 1
            elif found > 1 or left(states[1]) != remaining:
                return UNKNOWN
    return written


@njit(cache=True, nogil=True)
def passed(keys, turned, out):
    """Write the keys that follow within the layer; return how many."""
    states, moves, written = np.empty((2, WORDS), np.int64), np.empty(MOVES, np.int64), 0
    for key in keys:
        _unpack(key, states[0])
        if legal(states[0], moves) == 1:
            play(states[0], moves[0], states[1])
            if left(states[1]) == left(states[0]):
                out[written] = _key(states[1], turned)
                written += 1
    return written


@njit(cache=True, nogil=True)
def unique(keys):
    """Bring the distinct ones of sorted keys to the front; return how many."""
    kept = min(1, len(keys))
    for row in range(1, len(keys)):
        if keys[row] != keys[row - 1]:
            keys[kept] = keys[row]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def fill_index(keys, shift, index):
    """Fill index [m + 1]: sorted keys whose leading bits, key >> shift, are p stand at index[p] … index[p + 1] − 1."""
    filled = 0
    for row in range(len(keys)):
        while filled <= keys[row] >> shift:
            index[filled] = row
            filled += 1
    index[filled:] = len(keys)


@njit(forceinline=True)
def index_size(keys, shift):
    """Return how many leading bits there are among sorted keys."""
    return (keys[-1] >> shift) + 1 if len(keys) else 1


@njit(forceinline=True)
def _find(keys, index, shift, key):
    """Return where a key stands among sorted keys, or UNKNOWN."""
    leading = key >> shift
    if leading >= len(index) - 1:
        return UNKNOWN
    first = np.int64(index[leading])
    length = np.int64(index[leading + 1]) - first
    while length > 1:
        half = length >> 1
        if keys[first + half] <= key:
            first += half
        length -= half
    return first if length == 1 and keys[first] == key else UNKNOWN


@njit(forceinline=True)
def _passes(states, moves):
    """Return whether the move of states[0] stays in its layer, and leave what follows in states[1]."""
    if legal(states[0], moves) != 1:
        return False
    play(states[0], moves[0], states[1])
    return left(states[1]) == left(states[0])


@njit(cache=True, nogil=True)
def followers(keys, turned, asked, begins):
    """Write the keys that follow in the next layer from keys [n] by row, and where each row begins, begins [n + 1].

    Those of a position that must pass are those of what follows from it in its own layer."""
    states, moves, written = np.empty((3, WORDS), np.int64), np.empty(MOVES, np.int64), 0
    for row in range(len(keys)):
        begins[row] = written
        _unpack(keys[row], states[0])
        turn = 1 if _passes(states, moves) else 0
        for place in range(legal(states[turn], moves)):
            play(states[turn], moves[place], states[2])
            asked[written] = _key(states[2], turned)
            written += 1
    begins[len(keys)] = written


@njit(cache=True, nogil=True)
def answer(asked, keys, known, index, shift, answers):
    """Fill answers [m] with what is known [n] of the keys asked for [m]; return UNKNOWN, or the first not there.

    They are looked up in coarse order of keys, so that what is near each other in memory is read together."""
    coarse = 0
    while index_size(keys, coarse) > BUCKETS:
        coarse += 1
    begins = np.zeros(index_size(keys, coarse) + 1, np.int64)
    last = len(begins) - 2
    for key in asked:
        begins[min(key >> coarse, last) + 1] += 1
    begins = begins.cumsum()
    order, sorted_keys = np.empty(len(asked), np.uint32), np.empty(len(asked), np.int64)
    for row in range(len(asked)):
        bucket = min(asked[row] >> coarse, last)
        order[begins[bucket]], sorted_keys[begins[bucket]] = row, asked[row]
        begins[bucket] += 1
    for place in range(len(asked)):
        at = _find(keys, index, shift, sorted_keys[place])
        if at == UNKNOWN:
            return np.int64(order[place])
        answers[order[place]] = known[at]
    return np.int64(UNKNOWN)


@njit(cache=True, nogil=True)
def settle(keys, begins, worth, solved, counts):
    """Fill solved, the values [n] of keys, from the values of what `followers` wrote; count kinds of positions.

    A value is that of the best move, and a pass turns the value of what follows."""
    states, moves = np.empty((2, WORDS), np.int64), np.empty(MOVES, np.int64)
    for row in range(len(keys)):
        _unpack(keys[row], states[0])
        passes, first, found = _passes(states, moves), begins[row], begins[row + 1] - begins[row]
        best = value(states[1 if passes else 0])
        if found > 0:
            best = -np.int64(worth[first : first + found].min())
        if passes:
            counts[PASSES] += 1
        elif found == 0:
            counts[TERMINAL] += 1
        elif found > 1:
            keeping = 0
            for place in range(first, first + found):
                keeping += np.sign(-np.int64(worth[place])) == np.sign(best)
            counts[CHOICES] += 1
            counts[DECISIVE] += keeping < found
            counts[SINGLE] += keeping == 1
        best = -best if passes else best
        solved[row] = best
        counts[WINS] += best > 0
        counts[DRAWS] += best == 0
        counts[LOSSES] += best < 0


@njit(cache=True, nogil=True)
def add_up(begins, games, counted):
    """Fill counted [n] with the sums over what `followers` wrote, and 1 where nothing follows."""
    for row in range(len(counted)):
        first, last = begins[row], begins[row + 1]
        counted[row] = games[first:last].sum() if last > first else 1


@njit(cache=True, nogil=True)
def look_up(states, keys, margins, later, later_margins, index, later_index, shift, turned, values):
    """Fill values int8 [n, actions] of the legal moves of states [n, 2] of one layer; return as `solve` does.

    A state that is not in the layer itself is not found either."""
    after, moves = np.empty(WORDS, np.int64), np.empty(MOVES, np.int64)
    for row in range(len(states)):
        state = states[row]
        if _find(keys, index, shift, _key(state, turned)) == UNKNOWN:
            return row
        for place in range(legal(state, moves)):
            play(state, moves[place], after)
            key = _key(after, turned)
            if left(after) == left(state):
                at = _find(keys, index, shift, key)
                values[row, moves[place]] = -margins[at]
            else:
                at = _find(later, later_index, shift, key)
                if at == UNKNOWN:
                    return row
                values[row, moves[place]] = -later_margins[at]
    return UNKNOWN


@njit(cache=True, nogil=True)
def parents(keys, wanted, within, turned, first):
    """Lower first [m] to the first row of keys that has a move to the wanted key (sorted, [m]), where there is one.

    `within` says whether moves that stay in the layer count, or those that leave it."""
    states, moves = np.empty((2, WORDS), np.int64), np.empty(MOVES, np.int64)
    whole = np.array([0, len(wanted)])
    for row in range(len(keys)):
        _unpack(keys[row], states[0])
        for place in range(legal(states[0], moves)):
            play(states[0], moves[place], states[1])
            if (left(states[1]) == left(states[0])) == within:
                at = _find(wanted, whole, 62, _key(states[1], turned))
                if at != UNKNOWN:
                    first[at] = min(first[at], row)
    return UNKNOWN
