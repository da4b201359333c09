"""Counting the leaves of a game's tree, to compare with published counts."""

from __future__ import annotations

import numpy as np

from probzero.games.base import Game


def perft(game: Game, depth: int) -> list[int]:
    """Leaves at depths 1 … depth; a pass is a ply and a finished game stays one leaf."""
    states = game.start()[None]
    finished, counts = 0, []
    for _ in range(depth):
        legal = game.legal(states)
        finished += int((~legal.any(axis=1)).sum())
        row, action = np.nonzero(legal)
        states = game.play(states[row], action)
        counts.append(len(states) + finished)
    return counts
