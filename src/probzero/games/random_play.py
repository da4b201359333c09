"""Games of uniformly random moves, all side by side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probzero.games.othello import Othello


class Games(NamedTuple):
    """Positions of n games after 0, 1, … plies, seen by the player to move; a finished game stays where it is."""

    own: np.ndarray  # [plies + 1, n] int64
    opp: np.ndarray  # [plies + 1, n] int64
    action: np.ndarray  # [plies, n] int64, −1 after the end


def play_randomly(rules: Othello, games: int, plies: int, seed: int) -> Games:
    """Play `games` games from the start for `plies` plies, or to their ends."""
    rng = np.random.default_rng(seed)
    own = np.empty((plies + 1, games), dtype=np.int64)
    opp = np.empty_like(own)
    action = np.empty((plies, games), dtype=np.int64)
    own[0], opp[0] = rules.start()
    for ply in range(plies):
        legal = rules.legal(own[ply], opp[ply])
        going = legal.any(1)
        action[ply] = np.where(legal, rng.random(legal.shape), -1.0).argmax(1)
        after = rules.place(own[ply], opp[ply], action[ply])
        own[ply + 1] = np.where(going, after[0], own[ply])
        opp[ply + 1] = np.where(going, after[1], opp[ply])
        action[ply, ~going] = -1
    return Games(own, opp, action)
