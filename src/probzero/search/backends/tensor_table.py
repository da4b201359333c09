"""Looking up and filling a `KeyTable` in tensor operations of fixed shapes, so that nothing has to be waited for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from probzero.kernels.place.slots import BIDS, EMPTY, ENTRY, HASH

if TYPE_CHECKING:
    from probzero.search.key_table import KeyTable

Place = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]  # see `kernels/place`
HIGHEST = (1 << 63) - 1


def enter(table: KeyTable, keys: torch.Tensor, hashes: torch.Tensor, place: Place) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the entries [n] of keys [n, width], adding those that are absent, and which rows [n] did so.

    The first row of equal new keys adds them; entries are numbered by rows. Beyond the capacity numbers are wrong, and
    the table counts more than it has room for: who asks it next (`KeyTable.settle`) hears of it.
    """
    rows = torch.arange(len(keys), device=keys.device)
    places = place(table.slots, table.keys, keys, hashes)
    new = table.slots[places] < EMPTY
    table.slots.scatter_reduce_(0, places, torch.where(new, rows + BIDS, HIGHEST), "amin")
    adds = table.slots[places] == rows + BIDS
    numbers = table.used + adds.cumsum(0)  # from 1
    slots = torch.where(adds, ((hashes >> 1) & HASH) | numbers, -HIGHEST)
    table.slots.scatter_reduce_(0, places, slots, "amax")
    table.used += adds.sum()
    entries = ((table.slots[places] & ENTRY) - 1).clamp(0, table.capacity - 1)
    table.keys[entries] = keys  # those that were there have been given their own once more
    return entries, adds
