"""Openings for matches: short random games, distinct even when the board is turned or mirrored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from probzero.errors import bad
from probzero.games.othello import Othello
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
    rng = np.random.default_rng(seed)
    attempts = count * ATTEMPTS_PER_OPENING
    black, white = rules.start()
    own, opp = np.full(attempts, black), np.full(attempts, white)
    moves = np.zeros((attempts, plies), dtype=np.int64)
    for ply in range(plies):
        legal = rules.legal(own, opp)
        going = legal.any(1)  # games that end early are dropped
        own, opp, moves, legal = own[going], opp[going], moves[going], legal[going]
        moves[:, ply] = np.where(legal, rng.random(legal.shape), -1.0).argmax(1)
        own, opp = rules.place(own, opp, moves[:, ply])
    going = ~rules.terminal(own, opp)
    own, opp, moves = own[going], opp[going], moves[going]
    first = np.unique(np.stack(canonical_bitboards(rules.size, own, opp), axis=1), axis=0, return_index=True)[1]
    if len(first) < count:
        raise bad("openings", "arena.openings", f"at most {len(first)} after {plies} plies", count)
    chosen = np.sort(first)[:count]
    return Openings(own[chosen], opp[chosen], moves[chosen])
