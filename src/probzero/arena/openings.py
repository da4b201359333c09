"""Openings for matches: short random games, distinct even when the board is turned or mirrored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from probzero.errors import bad
from probzero.games.base import Game
from probzero.games.random_play import play_by_seed

ATTEMPTS_PER_OPENING = 200


@dataclass(frozen=True)
class Openings:
    """Positions seen by the player to move, with the plies that led there."""

    states: np.ndarray  # [n, words] int64
    moves: np.ndarray  # [n, plies] actions

    def __len__(self) -> int:
        return len(self.states)


def random_openings(game: Game, count: int, plies: int, seed: int) -> Openings:
    """Return `count` unfinished positions after `plies` random plies, no two the same up to symmetry."""
    played = play_by_seed(game, count * ATTEMPTS_PER_OPENING, plies, seed)
    going = ~game.finished(played.states[-1])
    states, moves = played.states[-1][going], played.action.T[going]
    first = np.unique(game.canonical(states), axis=0, return_index=True)[1]
    if len(first) < count:
        raise bad("openings", "arena.openings", f"at most {len(first)} after {plies} plies", count)
    chosen = np.sort(first)[:count]
    return Openings(states[chosen], moves[chosen])
