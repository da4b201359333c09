"""A hash table from integer keys to consecutive entry numbers, looked up and filled by whole arrays at a time."""

from __future__ import annotations

import torch

from probzero.errors import bad
from probzero.random_keys import mix
from probzero.search import compiled
from probzero.search.arrays import zeros

EMPTY = compiled.EMPTY
BIDS = -(1 << 62)  # bids for a slot are below every entry


def hash_rows(words: torch.Tensor) -> torch.Tensor:
    """Return `mix` of the columns of int64 words [n, width]: hashes [n]."""
    if words.device.type != "cpu":
        return mix(*words.unbind(1))
    hashes = torch.empty(len(words), dtype=torch.int64)
    compiled.mix_rows(words.numpy(), hashes.numpy())
    return hashes


class KeyTable:
    """Open addressing with linear probing over torch tensors; entry k's key is `keys[k]`.

    Entries are numbered in order of first appearance, so arrays indexed by entry can live beside the table.
    """

    def __init__(self, capacity: int, width: int, what: str, device: torch.device, in_step: bool | None = None) -> None:
        self.capacity = capacity
        self.what = what  # the setting that bounds the table, for the error
        self.count = 0
        self.in_step = device.type != "cpu" if in_step is None else in_step  # tensor operations, no compiled loop
        self.keys = zeros(capacity, width, dtype=torch.int64, device=device)  # [capacity, width]
        size = 1 << max(4, (2 * capacity - 1).bit_length())  # at most half full
        self.slots = zeros(size, dtype=torch.int64, device=device)  # entry + 1, or EMPTY
        if device.type == "cpu":  # the same memory for compiled loops
            self.keys_array, self.slots_array = self.keys.numpy(), self.slots.numpy()

    def insert(self, keys: torch.Tensor, hashes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Find each key [n, width] by its hash [n], adding it if absent.

        Returns the entries [n] and the rows [k] that were added, one for each distinct new key, in entry order."""
        return (self._insert_in_step if self.in_step else self._insert_compiled)(keys, hashes)

    def _insert_compiled(self, keys: torch.Tensor, hashes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        entries, added = torch.empty_like(hashes), torch.empty_like(hashes)
        count, fresh = compiled.insert(
            keys.numpy(),
            hashes.numpy(),
            self.slots_array,
            self.keys_array,
            self.count,
            entries.numpy(),
            added.numpy(),
        )
        self.reserve(count - self.count)
        return entries, added[:fresh]

    def _insert_in_step(self, keys: torch.Tensor, hashes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The same with tensor operations on any device.

        All keys probe in step. Those at an empty slot bid for it, the lowest row wins and writes its key, and the
        others look at the slot again: an equal key then finds its entry, a different one moves on.
        """
        entries = torch.full_like(hashes, -1)
        added = []
        mask = len(self.slots) - 1
        todo = torch.arange(len(hashes), device=hashes.device)
        slots = hashes & mask
        while len(todo):
            held = self.slots[slots]
            empty = held == EMPTY
            if empty.any():
                bids = todo + BIDS
                self.slots.scatter_reduce_(0, slots[empty], bids[empty], "amin")
                won = self.slots[slots] == bids
                winners = todo[won]
                first = self.reserve(len(winners))
                numbers = torch.arange(first, self.count, device=hashes.device)
                self.keys[first : self.count] = keys[winners]
                self.slots[slots[won]] = numbers + 1
                added.append(winners)
                held = self.slots[slots]
            same = (self.keys[held - 1] == keys[todo]).all(-1)
            entries[todo[same]] = held[same] - 1
            todo, slots = todo[~same], (slots[~same] + 1) & mask
        return entries, torch.cat(added) if added else todo

    def clear(self) -> None:
        self.count = 0
        self.slots.fill_(EMPTY)

    def reserve(self, count: int) -> int:
        """Take the next `count` entries; return the first of them."""
        first = self.count
        if first + count > self.capacity:
            raise bad("memory", self.what, f"at most {self.capacity} positions", f"{first + count} needed")
        self.count = first + count
        return first
