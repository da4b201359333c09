"""Random but proper samples."""

from __future__ import annotations

import numpy as np

from probzero import games
from probzero.games.base import Game
from probzero.learning.dataset import Samples

SQUARE = [games.make("othello", size=size) for size in (4, 5, 6, 8)]
OBLONG = [games.make("connect_four", width=width, height=height) for width, height in ((5, 4), (7, 6))]
FOUR, FIVE, SIX, EIGHT = SQUARE


def invented(game: Game, count: int, seed: int = 0, boards: int | None = None) -> Samples:
    """Random discs with a legal move; `boards` limits how many different positions there are."""
    draws = np.random.default_rng(seed)
    squares = game.shape.squares
    bits = np.left_shift(np.uint64(1), np.arange(squares, dtype=np.uint64))
    discs = draws.integers(0, 3, (20 * (boards or count), squares))
    if game.name == "connect_four":  # discs fall
        height = game.shape.height
        rows = discs.reshape(len(discs), height, -1)
        discs = (rows * np.logical_and.accumulate(rows > 0, axis=1)).reshape(len(discs), -1)
    states = np.stack([((discs == side) * bits).sum(1, dtype=np.uint64) for side in (1, 2)], axis=1).view(np.int64)
    states = states[game.legal(states).any(1)][: boards or count][draws.integers(0, boards or count, count)]
    moves = game.legal(states).sum(1)
    slots = np.arange(moves.max())
    mask = (draws.random((count, len(slots))) < 0.3) & (slots < moves[:, None])
    mask[np.arange(count), draws.integers(0, moves)] = True
    policy = draws.random(mask.shape) * mask
    value, reward = draws.random((2, count, 3))
    valid = draws.random(count) < 0.6
    columns = (
        policy / policy.sum(axis=1, keepdims=True),
        mask,
        value / value.sum(axis=1, keepdims=True),
        reward / reward.sum(axis=1, keepdims=True) * valid[:, None],
        valid,
        draws.integers(1, 50, count),
    )
    return Samples(states, *(column.astype(np.float32) for column in columns))


def same(first: Samples, second: Samples) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(first.columns(), second.columns(), strict=True))
