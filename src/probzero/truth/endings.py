"""Exact truth near the end of games that nobody solves from the start: which moves keep the result there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from probzero.errors import bad
from probzero.games.base import Game
from probzero.kinds import pick
from probzero.truth.labels import Solver
from probzero.truth.positions import as_table, from_random_play, move_masks, states_of

NODE_BUDGET = 200_000_000  # of one position: some twenty seconds
SOURCE = "random"


def solved_from(game: Game) -> int:
    """Return the least phase from which positions of a game are solved within seconds."""
    found = 0 if game.solvable else game.entry.solved_from(**game.options)
    if found is None:
        raise bad("solver", game.identity, "a game whose endings can be solved", "another")
    return found


def endings(game: Game, first: int, each: int, seed: int) -> pd.DataFrame:
    """Return decisive positions of random games from phase `first` on, solved (`positions.COLUMNS`).

    Drawn are at most `each` of a phase, distinct up to symmetry; those without a move that gives the result away go."""
    states = from_random_play(game, each, seed)
    states = states[game.phase(states) >= first]
    if not len(states):
        raise bad("positions", game.identity, f"some of phase {first} or more", "none")
    table = as_table(game, SOURCE, Solver(game, threads=1, node_budget=NODE_BUDGET).label(states, margins=False))
    return table[table.decisive == 1].reset_index(drop=True)


def kept(game: Game, positions: pd.DataFrame, players: dict[str, Callable[[np.ndarray], np.ndarray]]) -> pd.DataFrame:
    """Count the moves of players that keep the exact result. A player returns moves [n] for states [n, words].

    Columns: player, phase, positions, kept."""
    states, keeping = states_of(game, positions), move_masks(game, positions.keeping)
    parts = []
    for name, choose in players.items():
        right = pick(keeping, choose(states)[:, None])[:, 0].astype(int)
        grouped = positions[["phase"]].assign(kept=right).groupby("phase").kept.agg(positions="size", kept="sum")
        parts.append(grouped.reset_index().assign(player=name))
    return pd.concat(parts, ignore_index=True)[["player", "phase", "positions", "kept"]]
