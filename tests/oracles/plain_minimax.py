"""All positions of a small game and their values by plain minimax on the array form, which the database never uses."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from probzero.games.base import Game

Key = tuple[int, ...]


class Solved(NamedTuple):
    """Positions up to symmetry."""

    value: dict[Key, int]  # for the player to move
    moves: dict[Key, list[int]]  # the values of all moves
    games: dict[Key, int]  # complete games from there


@cache
def solve(game: Game) -> Solved:
    """Enumerate and solve everything from the start, each position in the turned form that comes first."""
    start = tuple(game.canonical(game.start()[None])[0].tolist())
    follow: dict[Key, list[Key]] = {}
    frontier = [start]
    while frontier:
        states = np.array(frontier, dtype=np.int64)
        row, action = np.nonzero(game.legal(states))
        after = game.canonical(game.play(states[row], action)).tolist()
        follow |= {key: [] for key in frontier}
        for place, child in zip(row.tolist(), after, strict=True):
            follow[frontier[place]].append(tuple(child))
        frontier = sorted({child for key in frontier for child in follow[key]} - follow.keys())
    ended = np.array(sorted(key for key in follow if not follow[key]), dtype=np.int64)
    on_board = game.margin(ended) if game.has_margin else game.outcome(ended)
    value = {tuple(key): int(at_end) for key, at_end in zip(ended.tolist(), on_board, strict=True)}
    moves: dict[Key, list[int]] = {key: [] for key in value}
    games = dict.fromkeys(value, 1)

    def settle(key: Key) -> None:
        if key not in value:
            for child in follow[key]:
                settle(child)
            moves[key] = [-value[child] for child in follow[key]]
            value[key], games[key] = max(moves[key]), sum(games[child] for child in follow[key])

    settle(start)
    return Solved(value, moves, games)
