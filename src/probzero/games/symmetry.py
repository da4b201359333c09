"""The symmetries of a board, as permutations of squares.

Symmetry k reads the new board from the old one: new[r, c] = old[r', c'], where (r', c') is (c, r) if k & 4 and (r, c)
if not, then r' is mirrored if k & 2 and c' if k & 1. All eight are their own inverses but the two quarter turns, 5, 6.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

SQUARE = range(8)  # the symmetries of a square board
LEFT_RIGHT = (0, 1)  # those of a board that has an up and a down


def sources(height: int, width: int, kinds: Iterable[int]) -> np.ndarray:
    """Return [S, H·W]: the old square from which each of these symmetries fills each new square."""
    tables = []
    row, column = np.indices((height, width))
    for k in kinds:
        r, c = (column, row) if k & 4 else (row, column)
        r = height - 1 - r if k & 2 else r
        c = width - 1 - c if k & 1 else c
        tables.append((r * width + c).ravel())
    return np.stack(tables)
