"""The exact result lost in self-play: how often a game-theoretic win or draw was given away."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from probzero.errors import bad
from probzero.games.base import Game
from probzero.tables import read_table
from probzero.truth.labels import Solver, check_solvable


def read_games(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Read recorded games of self-play; an empty opening is a game from the start."""
    columns = {"opening_moves": str, "moves": str}
    return pd.concat([read_table(path, columns, "games") for path in paths], ignore_index=True)


def count_blunders(game: Game, games: pd.DataFrame, threads: int) -> dict[str, Any]:
    """Replay games and count the moves that lost the result for who made them.

    Column `opening_moves` leads from the start to where a game begins and is not counted; `moves` is.

    Half a result is lost where a win became a draw or a draw a loss, a whole one where a win became a loss.
    """
    check_solvable(game)
    states, action, number = _replayed(game, games)
    distinct, which = np.unique(states, axis=0, return_inverse=True)
    labels = Solver(game, threads=threads).label(distinct, margins=False)
    lost = labels.result[which] - labels.action_result[which, action]
    return {
        "games": len(games),
        "moves": len(action),
        "blunders": int((lost > 0).sum()),
        "blunders_per_game": float((lost > 0).sum() / len(games)),
        "result_lost_per_game": float(lost.sum() / 2 / len(games)),
        "games_without_blunder": int(len(games) - len(np.unique(number[lost > 0]))),
    }


def _replayed(game: Game, games: pd.DataFrame) -> tuple[np.ndarray, ...]:
    """Return state [moves, words], action [moves] and game number [moves] of every counted move of every game."""
    openings = [game.parse_moves(moves) for moves in games.opening_moves]
    sequences = [before + game.parse_moves(moves) for before, moves in zip(openings, games.moves, strict=True)]
    first = np.array([len(before) for before in openings])  # ply of the first counted move
    table = np.full((len(sequences), max(map(len, sequences))), -1)
    for row, sequence in enumerate(sequences):
        table[row, : len(sequence)] = sequence
    states = np.tile(game.start(), (len(table), 1))
    parts = []
    for ply in range(table.shape[1]):
        going = np.flatnonzero(table[:, ply] >= 0)
        action = table[going, ply]
        illegal = ~game.legal(states[going])[np.arange(len(going)), action]
        if illegal.any():
            raise bad("games", f"game {going[illegal][0]}, ply {ply + 1}", "a legal move", "an illegal one")
        counted = ply >= first[going]
        parts.append(tuple(column[counted] for column in (states[going], action, going)))
        states[going] = game.play(states[going], action)
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))
