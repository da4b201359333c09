"""A hash table from integer keys to consecutive entry numbers, looked up and filled by whole arrays at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probzero.errors import bad
from probzero.kinds import Array

if TYPE_CHECKING:
    from probzero.search.backends.base import Backend

EMPTY = 0  # a free slot; that of entry k holds k + 1


class KeyTable:
    """Open addressing with linear probing over arrays; entry k's key is `keys[k]`.

    Entries are numbered in order of first appearance, so arrays indexed by entry can live beside the table.
    """

    def __init__(self, backend: Backend, capacity: int, width: int, setting: str) -> None:
        self.backend = backend
        self.capacity = capacity
        self.setting = setting  # that bounds the table, for the error
        self.count = 0
        self.keys = backend.zeros(capacity, width, dtype="int64")  # [capacity, width]
        size = 1 << max(4, (2 * capacity - 1).bit_length())  # at most half full
        self.slots = backend.zeros(size, dtype="int64")  # entry + 1, or EMPTY

    def insert(self, keys: Array, hashes: Array) -> tuple[Array, Array]:
        """Find each key [n, width] by its hash [n], adding it if absent.

        Returns the entries [n] and the rows [k] that were added, one for each distinct new key, in entry order."""
        return self.backend.insert(self, keys, hashes)

    def clear(self) -> None:
        self.count = 0
        self.slots[:] = EMPTY

    def reserve(self, count: int) -> int:
        """Take the next `count` entries; return the first of them."""
        first = self.count
        if first + count > self.capacity:
            raise bad("memory", self.setting, f"at most {self.capacity} positions", f"{first + count} needed")
        self.count = first + count
        return first
