"""The exact result lost in self-play: how often a game-theoretic win or draw was given away."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from probzero.games.base import Game
from probzero.games.records import replay, sequences_of
from probzero.learning.selfplay import GAMES
from probzero.tables import read_table
from probzero.truth.labels import Lookup, Solver, check_solvable

BLUNDERS = "blunders"  # the kind of a file of counts


def read_games(paths: Iterable[str | Path], **wanted: Any) -> pd.DataFrame:
    """Read recorded games of self-play; an empty opening is a game from the start. `wanted`: what origins must be."""
    columns = {"opening_moves": str, "moves": str}
    return pd.concat([read_table(path, columns, GAMES, **wanted) for path in paths], ignore_index=True)


def count_blunders(game: Game, games: pd.DataFrame, threads: int, lookup: Lookup | None = None) -> dict[str, Any]:
    """Replay games and count the moves that lost the result for who made them.

    Column `opening_moves` leads from the start to where a game begins and is not counted; `moves` is.

    Half a result is lost where a win became a draw or a draw a loss, a whole one where a win became a loss.
    """
    check_solvable(game)
    sequences, opening = sequences_of(game, games)
    played = replay(game, sequences)
    counted = played.ply >= opening[played.game]
    states, action, number = (part[counted] for part in (played.states, played.action, played.game))
    distinct, which = np.unique(states, axis=0, return_inverse=True)
    labels = Solver(game, threads=threads, lookup=lookup).label(distinct, margins=False)
    lost = labels.result[which] - labels.action_result[which, action]
    return {
        "games": len(games),
        "moves": len(action),
        "blunders": int((lost > 0).sum()),
        "blunders_per_game": float((lost > 0).sum() / len(games)),
        "result_lost_per_game": float(lost.sum() / 2 / len(games)),
        "games_without_blunder": int(len(games) - len(np.unique(number[lost > 0]))),
    }
