"""Looking up and filling a `KeyTable` in tensor operations: all keys probe in step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from probzero.search.key_table import EMPTY, ENTRY_BITS

if TYPE_CHECKING:
    from probzero.search.key_table import KeyTable

BIDS = -(1 << 62)  # bids for a slot are below whatever slots hold
ENTRY, HASH = (1 << ENTRY_BITS) - 1, (1 << 63) - (1 << ENTRY_BITS)  # the parts of a slot


def insert(table: KeyTable, keys: torch.Tensor, hashes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """See `Backend.insert`.

    Keys at an empty slot bid for it, the lowest row wins and writes its key, and the others look at the slot again: an
    equal key then finds its entry, a different one moves on.
    """
    entries = torch.full_like(hashes, -1)
    added = []
    mask = len(table.slots) - 1
    todo = torch.arange(len(hashes), device=hashes.device)
    parts = (hashes >> 1) & HASH
    places = _first_slots(parts, len(table.slots))
    while len(todo):
        slots = table.slots[places]
        empty = slots == EMPTY
        if empty.any():
            bids = todo + BIDS
            table.slots.scatter_reduce_(0, places[empty], bids[empty], "amin")
            won = table.slots[places] == bids
            winners = todo[won]
            first = table.reserve(len(winners))
            numbers = torch.arange(first, table.count, device=hashes.device)
            table.keys[first : table.count] = keys[winners]
            table.slots[places[won]] = parts[winners] | (numbers + 1)
            added.append(winners)
            slots = table.slots[places]
        found = (slots & ENTRY) - 1
        same = (table.keys[found] == keys[todo]).all(-1)
        entries[todo[same]] = found[same]
        todo, places = todo[~same], (places[~same] + 1) & mask
    return entries, torch.cat(added) if added else todo


def move_slots(taken: torch.Tensor, slots: torch.Tensor) -> None:
    """See `Backend.move_slots`: of what is at one free slot the largest goes there, the others move on."""
    todo = taken[taken != EMPTY]
    places = _first_slots(todo, len(slots))
    while len(todo):
        free = slots[places] == EMPTY
        slots.scatter_reduce_(0, places[free], todo[free], "amax")
        left = slots[places] != todo
        todo, places = todo[left], (places[left] + 1) & (len(slots) - 1)


def _first_slots(slots: torch.Tensor, count: int) -> torch.Tensor:
    """Return where among `count` slots the search for what slots [n] hold begins."""
    return ((slots >> ENTRY_BITS) * count) >> (63 - ENTRY_BITS)
