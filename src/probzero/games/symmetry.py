"""The eight symmetries of the square board, as permutations of squares.

Symmetry k in 0 … 7 reads the new board from the old one: new[r, c] = old[r', c'], where (r', c') is (c, r) if k & 4 and
(r, c) if not, then r' is mirrored if k & 2 and c' if k & 1. The rules of Othello commute with each; pass stays pass.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch

from probzero.games.bits import Words, pack, unpack

COUNT = 8
INVERSE = (0, 1, 2, 3, 4, 6, 5, 7)  # all are their own inverses but the two quarter turns


@cache
def sources(size: int) -> np.ndarray:
    """Return [8, N²]: the old square from which symmetry k fills each new square."""
    tables = np.empty((COUNT, size, size), dtype=np.int64)
    row, column = np.indices((size, size))
    for k in range(COUNT):
        r, c = (column, row) if k & 4 else (row, column)
        r = size - 1 - r if k & 2 else r
        c = size - 1 - c if k & 1 else c
        tables[k] = r * size + c
    return _frozen(tables.reshape(COUNT, size * size))


@cache
def plane_sources(size: int) -> np.ndarray:
    """Return [8, 2N²]: `sources` for two flat planes, one after the other."""
    squares = sources(size)
    return _frozen(np.concatenate([squares, squares + size * size], axis=1))


@cache
def action_sources(size: int) -> np.ndarray:
    """Return [8, N² + 1]: `sources` for actions; pass comes from pass."""
    return _frozen(np.concatenate([sources(size), np.full((COUNT, 1), size * size)], axis=1))


def turn_planes(size: int, planes: Words, k: Words) -> Words:
    """Return planes [n, 2, N, N] or [n, 2N²] with row i turned by symmetry k[i]."""
    return _gather(planes.reshape(len(planes), -1), plane_sources(size), k).reshape(planes.shape)


def turn_policies(size: int, policies: Words, k: Words) -> Words:
    """Return numbers given for each action [n, N² + 1] with row i turned by symmetry k[i]."""
    return _gather(policies, action_sources(size), k)


def turn_actions(size: int, actions: Words, k: Words) -> Words:
    """Return where symmetry k[i] takes actions[i], [n]."""
    targets = np.argsort(action_sources(size), axis=1)
    if isinstance(actions, torch.Tensor):
        return torch.tensor(targets, device=actions.device)[k, actions]
    return targets[k, actions]


def turn_bitboards(size: int, words: Words, k: Words) -> Words:
    """Return bitboards [n] (int64) with row i turned by symmetry k[i]."""
    return pack(_gather(unpack(words, size * size), sources(size), k))


def canonical_bitboards(size: int, own: Words, opp: Words) -> tuple[Words, Words]:
    """Return the one of the eight turned positions (own, opp) [n] that comes first, by own and then by opp."""
    best_own, best_opp = own, opp
    for k in range(1, COUNT):
        every = own * 0 + k
        turned_own, turned_opp = turn_bitboards(size, own, every), turn_bitboards(size, opp, every)
        first = (turned_own < best_own) | ((turned_own == best_own) & (turned_opp < best_opp))
        best_own = turned_own * first + best_own * ~first
        best_opp = turned_opp * first + best_opp * ~first
    return best_own, best_opp


def _gather(rows: Words, table: np.ndarray, k: Words) -> Words:
    """Return rows [n, m] with row i permuted by table[k[i]]."""
    if isinstance(rows, torch.Tensor):
        return rows.gather(1, torch.tensor(table, device=rows.device)[k])
    return np.take_along_axis(rows, table[k], axis=1)


def _frozen(table: np.ndarray) -> np.ndarray:
    table.flags.writeable = False
    return table
