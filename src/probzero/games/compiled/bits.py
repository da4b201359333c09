# mypy: disable-error-code="no-untyped-def, call-arg"
"""Compiled operations on unsigned 64-bit words, for the rules of games on bitboards.

Rules work on uint64: a signed word with an unsigned one would become a floating-point number.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

ZERO, ONE = np.uint64(0), np.uint64(1)


@intrinsic
def leading_zeros(typing, word):
    """Return the number of zero bits above the highest set bit (64 for zero): one instruction."""

    def build(context, builder, signature, arguments):
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), build


@njit(forceinline=True)
def count(word):
    """Return the number of set bits; the compiler recognises the pattern and emits one instruction."""
    word = word - ((word >> ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(forceinline=True)
def lowest(word):
    """Return the lowest set bit, as a word."""
    return word & (~word + ONE)


@njit(forceinline=True)
def number(bit):
    """Return which bit it is, for a word with one set bit; unsigned, so that indexing tests for no negative number."""
    return np.uint64(count(bit - ONE))
