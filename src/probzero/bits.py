"""Bit operations on signed 64-bit words, written with operators only, for numpy arrays and torch tensors alike.

Bit 63 is the sign, and `>>` copies it: every right shift here is followed by a mask that clears the copies.
"""

from __future__ import annotations

from probzero.kinds import Array, cast, count_up


def signed(word: int) -> int:
    """Return the 64-bit pattern `word` as the signed integer that an int64 array can hold."""
    word &= (1 << 64) - 1
    return word - (1 << 64) if word >> 63 else word


_PAIRS = signed(0x5555555555555555)
_QUADS = signed(0x3333333333333333)
_BYTES = signed(0x0F0F0F0F0F0F0F0F)
_ONES = signed(0x0101010101010101)


def popcount(words: Array) -> Array:
    """Return the number of set bits of each int64 word [...]."""
    words = words - ((words >> 1) & _PAIRS)
    words = (words & _QUADS) + ((words >> 2) & _QUADS)
    words = (words + (words >> 4)) & _BYTES
    return ((words * _ONES) >> 56) & 0xFF


def unpack(words: Array, count: int) -> Array:
    """Return the lowest `count` bits of each word [...] as 0/1 integers [..., count], bit 0 first."""
    return (words[..., None] >> count_up(words, count)) & 1


def pack(bits: Array) -> Array:
    """Return the int64 words [...] whose bit k is bits[..., k] (0/1 integers)."""
    return (cast(bits, "int64") << count_up(bits, bits.shape[-1])).sum(-1)
