"""Evaluation sets: positions stratified by disc count, labelled by the solver, kept as CSV.

A position is *decisive* if some legal move gives the game-theoretic result away: only there can a move be wrong.
"""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from probzero.errors import bad
from probzero.games.bits import pack, popcount
from probzero.games.othello import Othello, parse_moves, square_name
from probzero.games.random_play import play_randomly
from probzero.games.symmetry import canonical_bitboards
from probzero.tables import read_table
from probzero.truth.labels import decisive, keeps_result, label

COLUMNS = {
    "source": str,
    "phase": int,
    "own": int,
    "opp": int,
    "result": int,
    "decisive": int,
    "keeping": str,
    "losing": str,
}
GAMES_PER_POSITION = 40  # random games played for each position wanted of a stratum


def from_random_play(rules: Othello, per_stratum: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return positions (own, opp) of random games, at most `per_stratum` a disc count, distinct up to symmetry."""
    played = play_randomly(rules, GAMES_PER_POSITION * per_stratum, rules.longest_game, seed)
    return stratified(rules, played.own.ravel(), played.opp.ravel(), per_stratum, seed)


def from_boards(rules: Othello, boards: np.ndarray, per_stratum: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The same from flat planes [n, 2N²] of a dataset."""
    planes = boards.reshape(len(boards), 2, rules.squares) != 0
    return stratified(rules, pack(planes[:, 0]), pack(planes[:, 1]), per_stratum, seed)


def stratified(
    rules: Othello, own: np.ndarray, opp: np.ndarray, per_stratum: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Choose among positions [n] those with at least two moves, at most `per_stratum` of each disc count."""
    choice = rules.legal(own, opp).sum(1) > 1
    own, opp = canonical_bitboards(rules.size, own[choice], opp[choice])
    own, opp = np.unique(np.stack([own, opp], axis=1), axis=0).T
    order = np.random.default_rng(seed).permutation(len(own))
    own, opp = own[order], opp[order]
    discs = popcount(own | opp)
    order = np.argsort(discs, kind="stable")
    first = np.searchsorted(discs[order], discs[order])  # where the stratum begins
    chosen = order[np.arange(len(order)) - first < per_stratum]
    return own[chosen], opp[chosen]


def labelled(rules: Othello, own: np.ndarray, opp: np.ndarray, source: str, threads: int) -> pd.DataFrame:
    """Return the positions with their exact results, one row each (`COLUMNS`), from the solver."""
    labels = label(rules.size, own, opp, margins=False, threads=threads, progress=sys.stderr.isatty())
    legal, keeps = rules.legal(own, opp), keeps_result(labels)
    names = np.array([square_name(rules.size, action) for action in range(rules.actions)])
    return pd.DataFrame(
        {
            "source": source,
            "phase": popcount(own | opp),
            "own": own,
            "opp": opp,
            "result": labels.result,
            "decisive": decisive(labels).astype(int),
            "keeping": [" ".join(names[row]) for row in keeps],
            "losing": [" ".join(names[row]) for row in legal & ~keeps],
        },
        columns=list(COLUMNS),
    )


def read_positions(path: str | Path, rules: Othello) -> pd.DataFrame:
    """Read an evaluation set, verifying columns, squares and labels."""
    table = read_table(path, COLUMNS, "evaluation set")[list(COLUMNS)]
    keeping, losing = move_masks(rules, table.keeping), move_masks(rules, table.losing)
    legal = rules.legal(*boards(table))
    wrong = np.flatnonzero(((keeping | losing) != legal).any(1) | (keeping & losing).any(1) | ~keeping.any(1))
    if len(wrong):
        raise bad("evaluation set", f"{path}, row {wrong[0] + 1}", "the legal moves of the position", "others")
    return table


def boards(positions: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return own and opp [n] of the rows."""
    return positions.own.to_numpy(np.int64, copy=True), positions.opp.to_numpy(np.int64, copy=True)


def move_masks(rules: Othello, names: pd.Series) -> np.ndarray:
    """Return the named actions as booleans [n, N² + 1]."""
    masks = np.zeros((len(names), rules.actions), dtype=bool)
    actions = [parse_moves(rules.size, text) for text in names]
    masks[np.repeat(np.arange(len(names)), [len(row) for row in actions]), list(chain(*actions))] = True
    return masks
