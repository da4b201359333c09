"""Games of uniformly random moves, all side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from probzero.games.base import NUMBERS, Game


class Games(NamedTuple):
    """Positions of n games after 0, 1, … plies; a finished game stays where it is."""

    states: np.ndarray  # [plies + 1, n, words] int64
    action: np.ndarray  # [plies, n] int64, −1 after the end


def play_randomly(game: Game, games: int, plies: int, draw: Callable[[int, range], np.ndarray]) -> Games:
    """Play `games` games from the start for `plies` plies, or to their ends.

    At ply p, games g … h play their legal actions with the largest of draw(p, range(g, h)) [h − g, A], from 0 to 1.
    """
    states = np.empty((plies + 1, games, game.words), dtype=np.int64)
    action = np.empty((plies, games), dtype=np.int64)
    states[0] = game.start()
    together = max(1, NUMBERS // game.actions)
    parts = [range(first, min(first + together, games)) for first in range(0, games, together)]
    for ply in range(plies):
        for part in parts:
            legal = game.legal(states[ply, part.start : part.stop])
            drawn = np.where(legal, draw(ply, part), -1.0).argmax(1)
            action[ply, part.start : part.stop] = np.where(legal.any(1), drawn, -1)
        going = action[ply] >= 0
        if not going.any():
            states[ply + 1 :], action[ply:] = states[ply], -1
            break
        states[ply + 1] = np.where(going[:, None], game.play(states[ply], action[ply].clip(0)), states[ply])
    return Games(states, action)


def play_by_seed(game: Game, games: int, plies: int, seed: int) -> Games:
    """Play randomly with the draws of numpy's generator."""
    rng = np.random.default_rng(seed)
    return play_randomly(game, games, plies, lambda ply, part: rng.random((len(part), game.actions)))
