"""A position as people look at it: what stands on which square, what squares are called, where each move lands."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class View(NamedTuple):
    """A board of R rows, from the top, and C columns."""

    owner: np.ndarray  # int8 [R, C] +1 what belongs to the player to move, −1 to the opponent, 0 an empty square
    sign: tuple[tuple[str, ...], ...]  # [R][C] a letter for the kind of piece, "" where all are of one kind
    rows: tuple[str, ...]  # [R] what rows are called
    columns: tuple[str, ...]  # [C] and columns
    target: dict[int, tuple[int, int]]  # row and column on which each legal move lands; none for a pass


def letters(count: int) -> tuple[str, ...]:
    """Return a, b, c, …"""
    return tuple("abcdefghijklmnopqrstuvwxyz"[:count])


def numbers(count: int) -> tuple[str, ...]:
    """Return 1, 2, 3, …"""
    return tuple(str(number + 1) for number in range(count))
