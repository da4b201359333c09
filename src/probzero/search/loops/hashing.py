# mypy: disable-error-code="no-untyped-def"
"""Hash tables and the hashes behind all random draws, compiled: `KeyTable`, `random_keys`."""

from __future__ import annotations

import numpy as np
from numba import njit

EMPTY, ENTRY_BITS = 0, 32  # those of `kernels.place.slots`
ENTRY, HASH = (1 << ENTRY_BITS) - 1, (1 << 63) - (1 << ENTRY_BITS)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
U11, U27, U30, U31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)


@njit(forceinline=True)
def first_slot(slot, count):
    """Return where among `count` slots the search for what the slot holds begins."""
    return ((slot >> ENTRY_BITS) * count) >> (63 - ENTRY_BITS)


@njit(cache=True, nogil=True)
def move_slots(taken, slots):
    """`Backend.move_slots`."""
    mask = len(slots) - 1
    for held in taken:
        if held != EMPTY:
            place = first_slot(held, len(slots))
            while slots[place] != EMPTY:
                place = (place + 1) & mask
            slots[place] = held


@njit(cache=True, nogil=True)
def insert(keys, hashes, slots, held, count, entries, added):
    """`KeyTable.insert` for keys [n, width]: fill entries [n] and added [n]; return the number of entries and of added.

    Stops with a count above len(held) when the table is full, having stored what fits.
    """
    mask = len(slots) - 1
    fresh = 0
    for row in range(len(keys)):
        part = (hashes[row] >> 1) & HASH
        place = first_slot(part, len(slots))
        while True:
            slot = slots[place]
            if slot == EMPTY:
                if count >= len(held):
                    return count + 1, fresh
                slots[place] = part | (count + 1)
                for column in range(keys.shape[1]):
                    held[count, column] = keys[row, column]
                entries[row] = count
                added[fresh] = row
                fresh += 1
                count += 1
                break
            if slot & HASH == part:
                entry = (slot & ENTRY) - 1
                same = True
                for column in range(keys.shape[1]):
                    same &= held[entry, column] == keys[row, column]
                if same:
                    entries[row] = entry
                    break
            place = (place + 1) & mask
    return count, fresh


@njit(forceinline=True)
def mixed(word, state):
    """One step of `random_keys.mix`, on unsigned words."""
    word = (word ^ state) + GOLDEN
    word = (word ^ (word >> U30)) * FIRST
    word = (word ^ (word >> U27)) * SECOND
    return word ^ (word >> U31)


@njit(forceinline=True)
def uniform(word):
    """Return a hash as a number in [0, 1)."""
    return np.float64(word >> U11) * 2.0**-53


@njit(cache=True, nogil=True)
def mix_rows(words, hashes):
    """Fill hashes [n] with `random_keys.mix` of the columns of words [n, width]."""
    for row in range(len(words)):
        state = np.uint64(0)
        for column in range(words.shape[1]):
            state = mixed(np.uint64(words[row, column]), state)
        hashes[row] = np.int64(state)
