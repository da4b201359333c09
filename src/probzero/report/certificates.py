"""Certificates of a run, counted: which agents are certified from the start, and from how many won positions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from probzero.arena.names import iteration_of
from probzero.tables import read_table, refuse

KIND = "certificates"
COLUMNS = {
    **dict.fromkeys(("player", "source", "position", "line"), str),
    **dict.fromkeys(("particles", "key", "moves_first", "positions", "decisions"), int),
    **dict.fromkeys(("exact", "result", "certified", "holes", "hole_plies"), int),
    **dict.fromkeys(("random_wins", "random_draws"), float),
}


def read_certificates(paths: Iterable[Path], **wanted: Any) -> pd.DataFrame:
    """Return the rows of all files, each of the player that the file is named after; `wanted`: what origins must be."""
    parts = []
    for path in paths:
        part = read_table(path, COLUMNS, KIND, subject=path.stem, **wanted)
        refuse(path, part, "player", part["player"] != path.stem, path.stem, KIND)
        refuse(path, part, "certified", part["certified"] != (part["result"] >= part["exact"]), "what follows", KIND)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def certificate_summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return how many agents are certified, by player, source, particles and whether the search draws (by key).

    `agents` counts pairs of a start and a key. Of all of them there are the most positions met, the worst margin (if
    the game has one) and the fewest games won against random moves; the fewest plies to a hole, if there are holes.
    """
    table = rows.assign(
        iteration=pd.array([iteration_of(player) for player in rows["player"]], dtype="Int64"),
        draws=(rows["key"] >= 0).astype(int),
        to_hole=rows["hole_plies"].where(rows["hole_plies"] >= 0),
    )
    groups = table.groupby(["player", "iteration", "source", "particles", "draws"], dropna=False)
    measured = {
        "agents": ("certified", "size"),
        "certified": ("certified", "sum"),
        "positions": ("positions", "max"),
        **({"margin": ("margin", "min")} if "margin" in table else {}),
        "holes": ("holes", "sum"),
        "hole_plies": ("to_hole", "min"),
        "random_wins": ("random_wins", "min"),
    }
    return groups.agg(**measured).reset_index().astype({"hole_plies": "Int64"})
