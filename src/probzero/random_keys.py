"""Random numbers as pure functions of keys: no generator state, no dependence on time or order of execution.

`key` turns names and numbers into one integer; `uniform` mixes arrays of 64-bit words into draws. A draw depends on its
words alone, so a game plays the same whatever else is in flight beside it.
"""

from __future__ import annotations

import hashlib

from probzero.bits import signed
from probzero.kinds import Array, cast

GOLDEN = signed(0x9E3779B97F4A7C15)
FIRST = signed(0xBF58476D1CE4E5B9)
SECOND = signed(0x94D049BB133111EB)


def key(*parts: str | int) -> int:
    """Return an integer in [0, 2^63) that depends on every part, on their types and on their order."""
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def _shifted(words: Array, count: int) -> Array:
    """Logical right shift of int64 words."""
    return (words >> count) & ((1 << (64 - count)) - 1)


def mix(*words: Array | int) -> Array:
    """Return int64 hashes of broadcast int64 words: splitmix64's finaliser, chained over the arguments."""
    state: Array | int = 0
    for word in words:
        mixed = (word ^ state) + GOLDEN
        assert not isinstance(mixed, int), "the first word must be an array"
        mixed = (mixed ^ _shifted(mixed, 30)) * FIRST
        mixed = (mixed ^ _shifted(mixed, 27)) * SECOND
        state = mixed ^ _shifted(mixed, 31)
    return state


def uniform(*words: Array | int) -> Array:
    """Return float64 draws in [0, 1) for broadcast int64 words, the upper 53 bits of their hash."""
    return cast(_shifted(mix(*words), 11), "float64") * 2.0**-53
