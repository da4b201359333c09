"""The published form of datasets: an int32 sample count, then float32 numbers for each sample, little-endian.

For a game with planes F·H·W and actions A:

    planes F·H·W | policy A | mask A | value 3 | reward 3 | valid 1 | weight 1        (110 in all on 5×5)

Value and reward are loss, draw, win there: the order of `wdl` turned round, as in published networks.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from probzero import files, wdl
from probzero.errors import bad
from probzero.games.base import Game, list_moves
from probzero.learning.dataset import KIND, Samples, by_action, require, verify


def export_samples(path: str | Path, samples: Samples, game: Game) -> None:
    """Write samples in the published form, whole or not at all."""
    moves = list_moves(game.legal(samples.states), samples.policy.shape[1])
    policy, mask = (by_action(column, moves, game.actions) for column in (samples.policy, samples.mask))
    value, reward = wdl.flip(samples.value), wdl.flip(samples.reward)
    columns = (game.encode(samples.states), policy, mask, value, reward, samples.valid, samples.weight)
    parts = zip(columns, _widths(game), strict=True)
    table = np.concatenate([column.reshape(len(samples), width) for column, width in parts], axis=1)
    with files.replacing(path) as temporary, temporary.open("wb") as out:
        out.write(np.array(len(samples), dtype="<i4").tobytes())
        out.write(table.astype("<f4", copy=False).tobytes())


def import_samples(path: str | Path, game: Game) -> Samples:
    """Read samples in the published form, verifying what can be: it holds no checksum and does not name its game."""
    data = files.read_bytes(path, KIND)
    if len(data) < 4:
        raise bad(KIND, path, "a sample count of 4 bytes", f"{len(data)} bytes")
    count = int(np.frombuffer(data, "<i4", count=1)[0])
    widths = _widths(game)
    expected = 4 + 4 * sum(widths) * count
    if count < 0 or len(data) != expected:
        wanted = f"{expected} bytes for {count} samples of {game.identity}" if count >= 0 else "a sample count ≥ 0"
        raise bad(KIND, path, wanted, f"{len(data)} bytes" if count >= 0 else count)
    table = np.frombuffer(data, "<f4", offset=4).reshape(count, sum(widths))
    planes, policy, mask, value, reward, valid, weight = (
        np.ascontiguousarray(part, np.float32) for part in np.split(table, np.cumsum(widths)[:-1], axis=1)
    )
    states = _states(path, planes, game)
    legal = game.legal(states)
    for name, column in (("policy", policy), ("mask", mask)):
        require(path, name, (column == 0) | legal, column, "0 for moves that are not legal")
    widest = int(legal.sum(1).max(initial=0))
    moves = list_moves(legal, widest)
    real = np.arange(widest) < legal.sum(1, keepdims=True)
    policy, mask = (np.take_along_axis(column, moves, axis=1) * real for column in (policy, mask))
    samples = Samples(states, policy, mask, wdl.flip(value), wdl.flip(reward), valid[:, 0], weight[:, 0])
    verify(samples, game, path)
    return samples


def _states(path: str | Path, planes: np.ndarray, game: Game) -> np.ndarray:
    """Return the states [n, words] whose planes [n, F·H·W] these are."""
    states = game.decode(planes.reshape(len(planes), *game.shape[:3]))
    require(path, "planes", game.encode(states).reshape(planes.shape) == planes, planes, "the planes of a position")
    return states


def _widths(game: Game) -> tuple[int, ...]:
    """Return how many numbers each field of a sample takes."""
    return game.shape.planes * game.shape.squares, game.actions, game.actions, wdl.SIZE, wdl.SIZE, 1, 1
