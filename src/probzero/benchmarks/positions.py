"""Positions to measure with."""

from __future__ import annotations

import numpy as np

from probzero.games.othello import Othello
from probzero.games.random_play import play_randomly


def random_positions(rules: Othello, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return `count` unfinished positions (own, opp) from random games at random plies."""
    played = play_randomly(rules, 2 * count, rules.squares - 5, seed)
    ply = np.random.default_rng(seed).integers(0, len(played.own), 2 * count)
    own, opp = (side[ply, np.arange(2 * count)] for side in (played.own, played.opp))
    going = np.flatnonzero(~rules.terminal(own, opp))[:count]
    return own[going], opp[going]
