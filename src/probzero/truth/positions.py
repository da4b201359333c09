"""Evaluation sets: positions stratified by the phase of the game, labelled by the solver, kept as CSV.

A position is *decisive* if some legal move gives the game-theoretic result away: only there can a move be wrong.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from probzero.errors import ProbZeroError
from probzero.games.base import Game
from probzero.games.random_play import play_by_seed
from probzero.tables import read_table, refuse
from probzero.truth.labels import Solver, check_solvable, decisive, keeps_result

KIND = "evaluation set"
COLUMNS = {
    "source": str,
    "phase": int,
    "position": str,
    "result": int,
    "decisive": int,
    "keeping": str,
    "losing": str,
}
GAMES_PER_POSITION = 40  # random games played for each position wanted of a stratum


def from_random_play(game: Game, per_stratum: int, seed: int) -> np.ndarray:
    """Return states [n, words] of random games, at most `per_stratum` a phase, distinct up to symmetry."""
    played = play_by_seed(game, GAMES_PER_POSITION * per_stratum, game.longest_game, seed)
    return stratified(game, played.states.reshape(-1, game.words), per_stratum, seed)


def stratified(game: Game, states: np.ndarray, per_stratum: int, seed: int) -> np.ndarray:
    """Choose among states [n, words] those with at least two moves, at most `per_stratum` of each phase."""
    choice = game.legal(states).sum(1) > 1
    states = np.unique(game.canonical(states[choice]), axis=0)
    states = states[np.random.default_rng(seed).permutation(len(states))]
    phase = game.phase(states)
    order = np.argsort(phase, kind="stable")
    first = np.searchsorted(phase[order], phase[order])  # where the stratum begins
    return states[order[np.arange(len(order)) - first < per_stratum]]


def labelled(game: Game, states: np.ndarray, source: str, threads: int) -> pd.DataFrame:
    """Return states [n, words] with their exact results, one row each (`COLUMNS`), from the solver."""
    check_solvable(game)
    labels = Solver(game, threads=threads).label(states, margins=False)
    legal, keeps = game.legal(states), keeps_result(labels)
    return pd.DataFrame(
        {
            "source": source,
            "phase": game.phase(states),
            "position": [game.to_text(state) for state in states],
            "result": labels.result,
            "decisive": decisive(labels).astype(int),
            "keeping": [game.move_names(np.flatnonzero(row)) for row in keeps],
            "losing": [game.move_names(np.flatnonzero(row)) for row in legal & ~keeps],
        },
        columns=list(COLUMNS),
    )


def read_positions(path: str | Path, game: Game, **wanted: Any) -> pd.DataFrame:
    """Read an evaluation set, verifying columns, positions and moves; `wanted` is what its origin must be."""
    table = read_table(path, COLUMNS, KIND, **wanted)[list(COLUMNS)]
    try:
        keeping, losing = move_masks(game, table.keeping), move_masks(game, table.losing)
        states = states_of(game, table)
    except ProbZeroError as error:
        raise ProbZeroError(f"{KIND}: {path}: {error}") from None
    wrong = ((keeping | losing) != game.legal(states)).any(1) | (keeping & losing).any(1) | ~keeping.any(1)
    _refuse(path, table, "keeping", wrong, "with losing, the legal moves of the position")
    _refuse(path, table, "phase", table.phase != game.phase(states), "the phase of the position")
    _refuse(path, table, "result", ~table.result.isin([1, 0, -1]), "1, 0 or -1")
    lost = losing.any(1) & (table.result == -1).to_numpy()
    _refuse(path, table, "result", lost, "1 or 0 where a move loses the result")
    _refuse(path, table, "decisive", table.decisive != losing.any(1), "1 if a move loses the result, else 0")
    return table


def _refuse(path: str | Path, table: pd.DataFrame, column: str, wrong: Any, expected: str) -> None:
    refuse(Path(path), table, column, pd.Series(wrong), expected, KIND)


def states_of(game: Game, positions: pd.DataFrame) -> np.ndarray:
    """Return the states [n, words] of the rows."""
    return np.array([game.from_text(text) for text in positions.position], dtype=np.int64).reshape(-1, game.words)


def move_masks(game: Game, names: pd.Series) -> np.ndarray:
    """Return the named actions as booleans [n, A]."""
    masks = np.zeros((len(names), game.actions), dtype=bool)
    for mask, text in zip(masks, names, strict=True):
        mask[game.parse_moves(text)] = True
    return masks
