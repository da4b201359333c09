"""place as a Triton kernel: every key probes by itself, and the first to come to a free slot has it.

Which of several equal keys that is, and in which slots unequal ones end up, depends on the device's timing. Nothing
else does: equal keys share a place, and whoever numbers the entries goes by rows (`search/backends/tensor_table.py`).
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from probzero.kernels.place import slots as parts_of

_EMPTY, _ENTRY_BITS = tl.constexpr(parts_of.EMPTY), tl.constexpr(parts_of.ENTRY_BITS)
_ENTRY, _HASH, _BIDS = (tl.constexpr(n) for n in (parts_of.ENTRY, parts_of.HASH, parts_of.BIDS))
_NEVER = tl.constexpr(-(1 << 63))  # what no slot holds: comparing with it only looks

BLOCK = 128  # keys of a program
NUM_WARPS = 4


@triton.jit
def place_kernel(
    slots,  # int64 [count], bids written
    held,  # int64 [M, WIDTH]
    keys,  # int64 [n, WIDTH]
    hashes,  # int64 [n]
    places,  # int64 [n], written
    n,
    count,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = row < n
    part = (tl.load(hashes + row, mask=inside, other=0) >> 1) & _HASH
    place = ((part >> _ENTRY_BITS) * count) >> (63 - _ENTRY_BITS)
    todo = inside
    probes = count * 0
    while (tl.sum(todo.to(tl.int32)) > 0) & (probes < count):
        found = tl.atomic_cas(slots + place, tl.where(todo, _EMPTY, _NEVER).to(tl.int64), row + _BIDS)
        bid = found < 0
        other = todo & (bid | ((found & _HASH) == part)) & (found != _EMPTY)
        entry = (found & _ENTRY) - 1
        bidder = found - _BIDS
        same = other
        for column in tl.static_range(WIDTH):
            mine = tl.load(keys + row * WIDTH + column, mask=other, other=0)
            bidders = tl.load(keys + bidder * WIDTH + column, mask=other & bid, other=0)
            theirs = tl.load(held + entry * WIDTH + column, mask=other & (bid == 0), other=0)
            same = same & (mine == tl.where(bid, bidders, theirs))
        todo = todo & (same == 0) & (found != _EMPTY)
        place = tl.where(todo, (place + 1) & (count - 1), place)
        probes += 1
    tl.store(places + row, place, mask=inside)


def place(slots: torch.Tensor, held: torch.Tensor, keys: torch.Tensor, hashes: torch.Tensor) -> torch.Tensor:
    """Return the places [n] of keys [n, width] with hashes [n] among slots [S]; keys of entries are held [M, width].

    Bids stay in the slots that were free. If there is none left for a key, its place is any."""
    places = torch.empty_like(hashes)
    if len(hashes):
        place_kernel[(triton.cdiv(len(hashes), BLOCK),)](
            slots, held, keys.contiguous(), hashes, places, len(hashes), len(slots),
            WIDTH=keys.shape[1], BLOCK=BLOCK, num_warps=NUM_WARPS,
        )  # fmt: skip
    return places
