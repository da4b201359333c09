"""Positions to measure with."""

from __future__ import annotations

import numpy as np

from probzero.games.base import Game
from probzero.games.random_play import play_by_seed


def random_positions(game: Game, count: int, seed: int) -> np.ndarray:
    """Return unfinished states [count, W] from random games at random plies, repeated if too few were going on."""
    played = play_by_seed(game, 2 * count, game.longest_game // 2, seed).states
    ply = np.random.default_rng(seed).integers(0, len(played), 2 * count)
    states = played[ply, np.arange(2 * count)]
    return np.resize(states[~game.finished(states)], (count, game.words))
