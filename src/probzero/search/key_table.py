"""A hash table from integer keys to consecutive entry numbers, looked up and filled by whole arrays at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probzero.errors import bad
from probzero.kinds import Array

if TYPE_CHECKING:
    from probzero.search.backends.base import Backend

FIRST_SLOTS = 1 << 14


class KeyTable:
    """Open addressing with linear probing over arrays (`kernels/place`); entry k's key is `keys[k]`.

    Entries are numbered in order of first appearance, so arrays indexed by entry can live beside the table. There are
    only as many slots as the entries need: memory that is touched for the first time costs more than looking up a key.
    The upper bits of a hash say where its search begins, so that slots move in order when their number grows. A device
    that the host would have to ask how many there are has all slots from the beginning.
    """

    def __init__(self, backend: Backend, capacity: int, width: int, setting: str) -> None:
        self.backend = backend
        self.capacity = capacity
        self.setting = setting  # that bounds the table, for the error
        self.count = 0  # of entries, as far as the host knows
        self.used = backend.zeros(1, dtype="int64")  # [1] the same as a device counts them
        self.keys = backend.zeros(capacity, width, dtype="int64")  # [capacity, width]
        self.slots = self._free_slots(FIRST_SLOTS)

    def _free_slots(self, least: int) -> Array:
        least = min(2 * self.capacity, least) if self.backend.grows_tables else 2 * self.capacity
        return self.backend.zeros(1 << max(4, (least - 1).bit_length()), dtype="int64")

    def insert(self, keys: Array, hashes: Array) -> tuple[Array, Array]:
        """Find each key [n, width] by its hash [n], adding it if absent.

        Returns the entries [n] and the rows [k] that were added, one for each distinct new key, in entry order."""
        self.make_room(len(keys))
        return self.backend.insert(self, keys, hashes)

    def enter(self, keys: Array, hashes: Array) -> Array:
        """Return the entries [n] alone, which no host need wait for; see `settle`."""
        self.make_room(len(keys))
        return self.backend.enter(self, keys, hashes)

    def settle(self) -> None:
        """Bring `count` up to date, where it is a device that counts."""
        self.backend.settle(self)

    def make_room(self, count: int) -> None:
        """Have so many slots that at most half of them are taken after `count` further entries."""
        needed = 2 * min(self.count + count, self.capacity)
        if needed > len(self.slots):
            taken, self.slots = self.slots, self._free_slots(needed)
            self.backend.move_slots(taken, self.slots)

    def clear(self) -> None:
        self.count = 0
        self.used[:] = 0
        self.slots = self._free_slots(FIRST_SLOTS)

    def reach(self, count: int) -> None:
        """Have so many entries from now on, if there is room for them."""
        if count > self.capacity:
            raise bad("memory", self.setting, f"at most {self.capacity} positions", f"{count} needed")
        self.count = count
