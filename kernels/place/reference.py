"""place in plain torch: the oracle of the tests. All keys probe in step.

With linear probing among S slots (a power of two) from the slot that the upper bits h of a key's hash name,

    p_0 = ⌊h · S / 2^31⌋,   p_{i+1} = (p_i + 1) mod S,

the place of a key is the first p_i that holds its entry or the bid of an equal key, or is free: then a bid goes there.
"""

from __future__ import annotations

import torch

from probzero.kernels.place.slots import BIDS, EMPTY, ENTRY, ENTRY_BITS, HASH


def place(slots: torch.Tensor, held: torch.Tensor, keys: torch.Tensor, hashes: torch.Tensor) -> torch.Tensor:
    """Return the places [n] of keys [n, width] with hashes [n] among slots [S]; keys of entries are held [M, width].

    Bids stay in the slots that were free. If there is none left for a key, its place is any."""
    parts = (hashes >> 1) & HASH
    places = ((parts >> ENTRY_BITS) * len(slots)) >> (63 - ENTRY_BITS)
    todo = torch.arange(len(hashes), device=hashes.device)
    for _ in range(len(slots)):
        at = places[todo]
        free = slots[at] == EMPTY
        slots.scatter_reduce_(0, at[free], todo[free] + BIDS, "amin")  # below what is free: the first row's bid stays
        found = slots[at]
        entry, bidder = ((found & ENTRY) - 1).clamp(0, len(held) - 1), (found - BIDS).clamp(0, max(0, len(keys) - 1))
        theirs = torch.where((found < 0)[:, None], keys[bidder], held[entry])
        todo = todo[~(theirs == keys[todo]).all(1)]
        if not len(todo):
            break
        places[todo] = (places[todo] + 1) & (len(slots) - 1)
    return places
