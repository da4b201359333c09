"""A hash table from integer keys to consecutive entry numbers, looked up and filled by whole arrays at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probzero.errors import bad
from probzero.kinds import Array

if TYPE_CHECKING:
    from probzero.search.backends.base import Backend

EMPTY = 0  # a free slot; that of entry k holds k + 1 and the upper bits of its key's hash
ENTRY_BITS = 32  # the lower ones of a slot
FIRST_SLOTS = 1 << 14


class KeyTable:
    """Open addressing with linear probing over arrays; entry k's key is `keys[k]`.

    Entries are numbered in order of first appearance, so arrays indexed by entry can live beside the table. There are
    only as many slots as the entries need: memory that is touched for the first time costs more than looking up a key.
    The upper bits of a hash say where its search begins, so that slots move in order when their number grows.
    """

    def __init__(self, backend: Backend, capacity: int, width: int, setting: str) -> None:
        self.backend = backend
        self.capacity = capacity
        self.setting = setting  # that bounds the table, for the error
        self.count = 0
        self.keys = backend.zeros(capacity, width, dtype="int64")  # [capacity, width]
        self.slots = self._free_slots(min(2 * capacity, FIRST_SLOTS))

    def _free_slots(self, least: int) -> Array:
        return self.backend.zeros(1 << max(4, (least - 1).bit_length()), dtype="int64")

    def insert(self, keys: Array, hashes: Array) -> tuple[Array, Array]:
        """Find each key [n, width] by its hash [n], adding it if absent.

        Returns the entries [n] and the rows [k] that were added, one for each distinct new key, in entry order."""
        self.make_room(len(keys))
        return self.backend.insert(self, keys, hashes)

    def make_room(self, count: int) -> None:
        """Have so many slots that at most half of them are taken after `count` further entries."""
        needed = 2 * min(self.count + count, self.capacity)
        if needed > len(self.slots):
            taken, self.slots = self.slots, self._free_slots(needed)
            self.backend.move_slots(taken, self.slots)

    def clear(self) -> None:
        self.count = 0
        self.slots = self._free_slots(min(2 * self.capacity, FIRST_SLOTS))

    def reserve(self, count: int) -> int:
        """Take the next `count` entries; return the first of them."""
        first = self.count
        if first + count > self.capacity:
            raise bad("memory", self.setting, f"at most {self.capacity} positions", f"{first + count} needed")
        self.count = first + count
        return first
