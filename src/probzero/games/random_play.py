"""Games of uniformly random moves, all side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from probzero.games.base import Game


class Games(NamedTuple):
    """Positions of n games after 0, 1, … plies; a finished game stays where it is."""

    states: np.ndarray  # [plies + 1, n, words] int64
    action: np.ndarray  # [plies, n] int64, −1 after the end


def play_randomly(game: Game, games: int, plies: int, draw: Callable[[int], np.ndarray]) -> Games:
    """Play `games` games from the start for `plies` plies, or to their ends.

    At ply p the legal action with the largest number of draw(p) [games, A], from 0 to 1, is played.
    """
    states = np.empty((plies + 1, games, game.words), dtype=np.int64)
    action = np.empty((plies, games), dtype=np.int64)
    states[0] = game.start()
    for ply in range(plies):
        legal = game.legal(states[ply])
        going = legal.any(1)
        action[ply] = np.where(legal, draw(ply), -1.0).argmax(1)
        states[ply + 1] = np.where(going[:, None], game.play(states[ply], action[ply]), states[ply])
        action[ply, ~going] = -1
    return Games(states, action)


def play_by_seed(game: Game, games: int, plies: int, seed: int) -> Games:
    """Play randomly with the draws of numpy's generator."""
    rng = np.random.default_rng(seed)
    return play_randomly(game, games, plies, lambda ply: rng.random((games, game.actions)))
