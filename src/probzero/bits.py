"""Bit operations on signed 64-bit words, written with operators only, for numpy arrays and torch tensors alike.

Bit 63 is the sign, and `>>` copies it: every right shift here is followed by a mask that clears the copies.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import torch

Words = TypeVar("Words", np.ndarray, torch.Tensor)


def signed(word: int) -> int:
    """Return the 64-bit pattern `word` as the signed integer that an int64 array can hold."""
    word &= (1 << 64) - 1
    return word - (1 << 64) if word >> 63 else word


_PAIRS = signed(0x5555555555555555)
_QUADS = signed(0x3333333333333333)
_BYTES = signed(0x0F0F0F0F0F0F0F0F)
_ONES = signed(0x0101010101010101)


def popcount(words: Words) -> Words:
    """Return the number of set bits of each int64 word [...]."""
    words = words - ((words >> 1) & _PAIRS)
    words = (words & _QUADS) + ((words >> 2) & _QUADS)
    words = (words + (words >> 4)) & _BYTES
    return ((words * _ONES) >> 56) & 0xFF


def unpack(words: Words, count: int) -> Words:
    """Return the lowest `count` bits of each word [...] as 0/1 integers [..., count], bit 0 first."""
    if isinstance(words, torch.Tensor):
        positions = torch.arange(count, device=words.device)
        return (words[..., None] >> positions) & 1
    return (words[..., None] >> np.arange(count)) & 1


def pack(bits: Words) -> Words:
    """Return the int64 words [...] whose bit k is bits[..., k] (0/1 integers)."""
    if isinstance(bits, torch.Tensor):
        positions = torch.arange(bits.shape[-1], device=bits.device)
        return (bits.to(torch.int64) << positions).sum(-1)
    return (bits.astype(np.int64) << np.arange(bits.shape[-1])).sum(-1)
