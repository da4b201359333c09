"""The exact result lost in self-play: how often a game-theoretic win or draw was given away."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from probzero.errors import bad
from probzero.games.base import Game
from probzero.games.records import check_results, replay, sequences_of
from probzero.learning.selfplay import GAMES
from probzero.tables import read_table, refuse
from probzero.truth.labels import Lookup, Solver, check_solvable

BLUNDERS = "blunders"  # the kind of a file of counts


COLUMNS = {
    **dict.fromkeys(("opening_moves", "moves"), str),
    **dict.fromkeys(("game", "plies", "result", "resigned"), int),
}


def read_games(paths: Iterable[str | Path], game: Game, count: int, **wanted: Any) -> pd.DataFrame:
    """Read the `count` games of self-play that each file records, replayed; a file is named after its shard.

    An empty opening is a game from the start. `wanted` is what origins must be."""
    return pd.concat([_read_shard(Path(path), game, count, wanted) for path in paths], ignore_index=True)


def _read_shard(path: Path, game: Game, count: int, wanted: dict[str, Any]) -> pd.DataFrame:
    shard = re.fullmatch(r"shard(\d+)", path.stem)
    if shard is None:
        raise bad(GAMES, path, "a file named after its shard, as shard0.csv", path.name)
    columns = {**COLUMNS, **({"margin": int} if game.has_margin else {})}
    games = read_table(path, columns, GAMES, shard=int(shard[1]), **wanted)
    if len(games) != count:
        raise bad(GAMES, path, f"{count} games", len(games))
    refuse(path, games, "game", games["game"] != np.arange(count), "every game once, numbered from 0", GAMES)
    check_results(game, games, path, selfplay=True)
    return games


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
