"""Openings for matches: short random games, distinct even when the board is turned or mirrored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from probzero.errors import bad
from probzero.games.othello import Othello
from probzero.games.random_play import play_randomly
from probzero.games.symmetry import canonical_bitboards

ATTEMPTS_PER_OPENING = 200


@dataclass(frozen=True)
class Openings:
    """Positions seen by the player to move, with the plies that led there."""

    own: np.ndarray  # [n] int64
    opp: np.ndarray  # [n] int64
    moves: np.ndarray  # [n, plies] actions

    def __len__(self) -> int:
        return len(self.own)


def random_openings(rules: Othello, count: int, plies: int, seed: int) -> Openings:
    """Return `count` unfinished positions after `plies` random plies, no two the same up to symmetry."""
    played = play_randomly(rules, count * ATTEMPTS_PER_OPENING, plies, seed)
    own, opp, moves = played.own[-1], played.opp[-1], played.action.T
    going = ~rules.terminal(own, opp)
    own, opp, moves = own[going], opp[going], moves[going]
    first = np.unique(np.stack(canonical_bitboards(rules.size, own, opp), axis=1), axis=0, return_index=True)[1]
    if len(first) < count:
        raise bad("openings", "arena.openings", f"at most {len(first)} after {plies} plies", count)
    chosen = np.sort(first)[:count]
    return Openings(own[chosen], opp[chosen], moves[chosen])
