"""What a slot of a hash table holds, in all forms of it.

A taken slot holds the upper bits of a key's hash and the number of its entry + 1. While keys are placed, a slot that
was free may hold the *bid* of the row that it was given to, below everything else.
"""

EMPTY = 0  # a free slot
ENTRY_BITS = 32  # the lower ones of a slot
ENTRY, HASH = (1 << ENTRY_BITS) - 1, (1 << 63) - (1 << ENTRY_BITS)  # the parts of a slot
BIDS = -(1 << 62)  # the bid of row 0; that of row k is k more
