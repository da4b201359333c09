"""Evaluation sets: positions stratified by the phase of the game, labelled by the solver, kept as CSV.

A position is *decisive* if some legal move gives the game-theoretic result away: only there can a move be wrong. The
sets that are drawn from all positions which can be reached (`database/position_sets.py`) have two columns more, the
margin of each move and a line of play from the start.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from probzero.errors import ProbZeroError, bad
from probzero.games.base import Game
from probzero.games.random_play import play_by_seed
from probzero.games.records import replay
from probzero.tables import read_table, refuse
from probzero.truth.labels import ILLEGAL, Labels, Lookup, Solver, check_solvable, decisive, keeps_result

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
REACHABLE = "reachable"  # the source of positions drawn from all that can be reached
FIXED = {"margins": str, "line": str}
GAMES_PER_POSITION = 40  # random games played for each position wanted of a stratum


def from_random_play(game: Game, per_stratum: int, seed: int) -> np.ndarray:
    """Return states [n, words] of random games, at most `per_stratum` a phase, distinct up to symmetry.

    A game that chance sets up is not played on: the positions are those of the set-up."""
    played = play_by_seed(game, GAMES_PER_POSITION * per_stratum, game.set_up or game.longest_game, seed)
    return stratified(game, played.states[game.set_up :].reshape(-1, game.words), per_stratum, seed)


def stratified(game: Game, states: np.ndarray, per_stratum: int, seed: int) -> np.ndarray:
    """Choose among states [n, words] those with at least two moves, at most `per_stratum` of each phase."""
    choice = game.legal(states).sum(1) > 1
    states = np.unique(game.canonical(states[choice]), axis=0)
    states = states[np.random.default_rng(seed).permutation(len(states))]
    phase = game.phase(states)
    order = np.argsort(phase, kind="stable")
    first = np.searchsorted(phase[order], phase[order])  # where the stratum begins
    return states[order[np.arange(len(order)) - first < per_stratum]]


def labelled(game: Game, states: np.ndarray, source: str, threads: int, lookup: Lookup | None = None) -> pd.DataFrame:
    """Return states [n, words] with their exact results, one row each (`COLUMNS`), from the solver."""
    check_solvable(game)
    return as_table(game, source, Solver(game, threads=threads, lookup=lookup).label(states, margins=False))


def as_table(game: Game, source: str, labels: Labels) -> pd.DataFrame:
    """Return labelled states, one row each (`COLUMNS`)."""
    states = labels.states
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
    table = read_table(path, COLUMNS, KIND, **wanted)
    table = table[[name for name in table if name in COLUMNS or name in FIXED]]
    try:
        keeping, losing = move_masks(game, table.keeping), move_masks(game, table.losing)
        states = states_of(game, table)
        if "margins" in table:
            signs = np.sign([margins_of(game, text) for text in table.margins])
        if "line" in table:
            reached = replay(game, [game.parse_moves(line) for line in table.line]).final
    except ProbZeroError as error:
        raise ProbZeroError(f"{KIND}: {path}: {error}") from None
    wrong = ((keeping | losing) != game.legal(states)).any(1) | (keeping & losing).any(1) | ~keeping.any(1)
    _refuse(path, table, "keeping", wrong, "with losing, the legal moves of the position")
    _refuse(path, table, "phase", table.phase != game.phase(states), "the phase of the position")
    _refuse(path, table, "result", ~table.result.isin([1, 0, -1]), "1, 0 or -1")
    lost = losing.any(1) & (table.result == -1).to_numpy()
    _refuse(path, table, "result", lost, "1 or 0 where a move loses the result")
    _refuse(path, table, "decisive", table.decisive != losing.any(1), "1 if a move loses the result, else 0")
    if "margins" in table:
        best = np.where(keeping, table.result.to_numpy()[:, None], np.where(losing, signs, np.sign(ILLEGAL)))
        wrong = (signs != best).any(1) | (losing & (signs >= table.result.to_numpy()[:, None])).any(1)
        _refuse(path, table, "margins", wrong, "margins that agree with the result and the moves that keep it")
    if "line" in table:
        _refuse(path, table, "line", (reached != states).any(1), "moves that lead to the position")
    return table


def judged(positions: pd.DataFrame, share: int = 1) -> pd.DataFrame:
    """Return the rows on which moves are judged: those of a fixed set, one in `share`, or all where there is none."""
    fixed = positions[positions.source == REACHABLE]
    return fixed.iloc[::share].reset_index(drop=True) if len(fixed) else positions


def for_calibration(positions: pd.DataFrame) -> pd.DataFrame:
    """Return the other rows: nobody loses a decisive position, so that values are not judged on those alone."""
    others = positions[positions.source != REACHABLE]
    return others.reset_index(drop=True) if len(others) else positions


def _refuse(path: str | Path, table: pd.DataFrame, column: str, wrong: Any, expected: str) -> None:
    refuse(Path(path), table, column, pd.Series(wrong), expected, KIND)


def states_of(game: Game, positions: pd.DataFrame) -> np.ndarray:
    """Return the states [n, words] of the rows."""
    return np.array([game.from_text(text) for text in positions.position], dtype=np.int64).reshape(-1, game.words)


def margins_text(game: Game, values: np.ndarray) -> str:
    """Return the values [A] of legal moves as text, `d3:13 c4:-2`."""
    return " ".join(f"{game.move_name(int(move))}:{values[move]}" for move in np.flatnonzero(values != ILLEGAL))


def margins_of(game: Game, text: str) -> np.ndarray:
    """Return the values [A] of moves, ILLEGAL elsewhere, from what `margins_text` wrote."""
    values = np.full(game.actions, ILLEGAL, dtype=np.int8)
    for part in text.split():
        name, _, value = part.partition(":")
        if not re.fullmatch(r"-?\d{1,3}", value) or not ILLEGAL < int(value) < -ILLEGAL:
            raise bad("margins", repr(text), "MOVE:MARGIN for every move", part)
        values[game.parse_moves(name)] = int(value)
    return values


def move_masks(game: Game, names: pd.Series) -> np.ndarray:
    """Return the named actions as booleans [n, A]."""
    masks = np.zeros((len(names), game.actions), dtype=bool)
    for mask, text in zip(masks, names, strict=True):
        mask[game.parse_moves(text)] = True
    return masks
