"""The number of complete games, counted as paths through the layers: others know it from plain enumeration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from probzero.database.build import follow_up
from probzero.database.lookup import Database

GAMES = "numbers of games"  # the kind of a file


def count_games(database: Database, threads: int, say: Callable[..., None]) -> pd.DataFrame:
    """Return how many complete games begin with each first move: columns first_move, games.

    games(position) = Σ over its moves of games(what follows), and 1 for a finished game."""
    form = database.form
    later = known = np.empty(0, dtype=np.int64)
    for phase in range(database.last, database.first, -1):
        keys = database.layer(phase).keys.copy()
        counted = np.empty(len(keys), dtype=np.int64)

        def add_up(slab: slice, begins: np.ndarray, games: np.ndarray) -> None:
            form.loops.add_up(begins, games, counted[slab])  # noqa: B023 (called before the next phase)

        follow_up(form, phase, later, known, threads, add_up, keys)
        later, known = keys, counted
        say(f"counted {phase}", f"{len(keys):,} positions")
    start = form.game.start()[None]
    moves = np.flatnonzero(form.game.legal(start)[0])
    follow = form.keys(form.game.play(np.repeat(start, len(moves), axis=0), moves))
    games = known[np.searchsorted(later, follow)]
    return pd.DataFrame({"first_move": [form.game.move_name(int(move)) for move in moves], "games": games})
