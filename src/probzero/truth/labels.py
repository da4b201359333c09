"""Exact labels of positions: the value of every legal move, and what follows from it.

All numbers speak for the player to move. A *result* is +1, 0 or −1; a *margin*, where games are won by one, is that at
the end of the game under perfect play.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from probzero.errors import bad
from probzero.games.base import NO_VALUE, Game

ILLEGAL = NO_VALUE  # stands in for the value of an action that is not legal
NODE_BUDGET = 1_000_000_000  # per position, when none is given: some two minutes, so that nothing runs for ever
TABLE_BITS = 20  # 2^20 entries per thread, of 32 bytes for states of two words


@dataclass(frozen=True)
class Labels:
    """Exact values of n positions and of their A actions; ILLEGAL marks actions that are not legal.

    The two margins are None where only results were asked for; in a game with tables
    they say how soon it is won. A finished game has no legal action, and its
    value is the one on the board.
    """

    states: np.ndarray  # int64 [n, words]
    result: np.ndarray  # int8 [n]
    action_result: np.ndarray  # int8 [n, A]
    margin: np.ndarray | None  # int8 [n]
    action_margin: np.ndarray | None  # int8 [n, A]


class Lookup(Protocol):
    """Somebody who may know values already: a database."""

    def values(self, states: np.ndarray) -> np.ndarray | None:
        """Return the exact values int8 [n, A] of all moves of states [n, words], ILLEGAL elsewhere, or None."""


class Workspace:
    """What one thread needs besides the positions: a table, room for states and moves along a line, counters."""

    def __init__(self, game: Game, loops: ModuleType, table_bits: int) -> None:
        longest = game.ranks + 1  # ranks rise along a line, so it has no more states
        self.states = np.zeros((longest, game.words), dtype=np.int64)
        self.moves = np.zeros((longest, game.most_moves), dtype=np.int64)
        self.table = np.zeros((1 << table_bits, loops.ENTRY), dtype=np.int64)
        self.counters = np.zeros(64, dtype=np.int64)  # padded, so that no two threads write to one cache line


class Solver:
    """Labels positions of one game, by what the game knows itself, else by search; tables are kept from call to call.

    Labels are exact, so they depend on nothing but the position. How many nodes a position needs does depend on what
    the tables already hold, hence whether a scant `node_budget` (per position) suffices may differ with the number of
    threads and the order of the calls. Memory is threads · 2^table_bits · 8 (words + 2) bytes.
    """

    def __init__(
        self,
        game: Game,
        *,
        threads: int = 2,
        node_budget: int = NODE_BUDGET,
        table_bits: int = TABLE_BITS,
        lookup: Lookup | None = None,
    ) -> None:
        self.game, self.lookup, self.node_budget = game, lookup, node_budget
        if threads < 1:
            raise bad("solver", "threads", "at least 1", threads)
        self.threads, self.table_bits = threads, table_bits

    @cached_property
    def loops(self) -> ModuleType:
        return self.game.loops("probzero.truth.solver")

    @cached_property
    def workspaces(self) -> list[Workspace]:
        return [Workspace(self.game, self.loops, self.table_bits) for _ in range(self.threads)]

    def label(self, states: ArrayLike, *, margins: bool = True) -> Labels:
        """Return the labels of states [n, words]; without `margins` only results, which may be ten times as fast."""
        if margins and not (self.game.has_margin or self.game.entry.has_tables):
            raise bad("solver", self.game.identity, "a game that is won by a margin", "margins asked of another")
        states = self._checked(states)
        values = self.lookup.values(states) if self.lookup is not None else self.game.known(states)
        if values is None:
            values = self._values(states, self.loops.LARGEST if margins else 1)
        legal = values != ILLEGAL
        on_board = self.game.margin(states) if self.game.has_margin else self.game.outcome(states)
        value = np.where(legal.any(-1), values.max(-1), on_board).astype(np.int8)
        return Labels(
            states=states,
            result=np.sign(value),
            action_result=np.where(legal, np.sign(values), np.int8(ILLEGAL)),
            margin=value if margins else None,
            action_margin=values if margins else None,
        )

    def _checked(self, given: ArrayLike) -> np.ndarray:
        states = np.asarray(given)
        if not states.size:
            return np.zeros((0, self.game.words), dtype=np.int64)
        if states.ndim != 2 or states.shape[1] != self.game.words or states.dtype.kind not in "iu":
            expected = f"whole numbers [n, {self.game.words}]"
            raise bad("positions", self.game.identity, expected, f"{states.dtype} of shape {states.shape}")
        states = np.ascontiguousarray(states, dtype=np.int64)
        self.game.check_states(states)
        return states

    def _values(self, states: np.ndarray, width: int) -> np.ndarray:
        """Return int8 [n, A]: exact values of the actions for width LARGEST, only their signs right for width 1.

        Positions are dealt out to the threads in turn, the earliest first: equal shares of the hard ones, and the
        tables hold much of what the later ones need.
        """
        values = np.full((len(states), self.game.actions), ILLEGAL, dtype=np.int8)
        order = np.argsort(self.game.rank(states, self.game.legal(states)), kind="stable")
        threads, limit = len(self.workspaces), self.loops.LIMIT
        for space in self.workspaces:
            space.counters[limit] = self.node_budget

        def work(share: np.ndarray, space: Workspace) -> int:
            room = space.states, space.moves, space.table, space.counters
            return self.loops.label_positions(states, share, width, *room, values)

        with ThreadPoolExecutor(threads) as pool:
            try:
                jobs = [pool.submit(work, order[k::threads].copy(), self.workspaces[k]) for k in range(threads)]
                for job in as_completed(jobs):
                    if (index := job.result()) >= 0:
                        raise bad(
                            "solver",
                            f"position {index} ({self.game.to_text(states[index])})",
                            f"a solution within the budget of {self.node_budget} nodes",
                            "the budget used up",
                        )
            finally:
                for space in self.workspaces:
                    space.counters[limit] = -1  # an error or an interrupt stops the threads still searching
        return values


def check_solvable(game: Game) -> None:
    """Refuse a game whose positions, early ones among them, take too long to solve."""
    if not game.solvable:
        raise bad("solver", game.identity, "a game that can be solved", "one that is too large")


def keeps_result(labels: Labels) -> np.ndarray:
    """Return which actions keep the game-theoretic result, as booleans [n, A]."""
    return labels.action_result == labels.result[:, None]


def keeps_margin(labels: Labels) -> np.ndarray:
    """Return which actions keep the exact margin, as booleans [n, A]; a subset of those that keep the result."""
    if labels.margin is None or labels.action_margin is None:
        raise bad("labels", "margin", "labels made with margins", "results only")
    return labels.action_margin == labels.margin[:, None]


def decisive(labels: Labels) -> np.ndarray:
    """Return whether some legal action gives the result away, as booleans [n]."""
    return ((labels.action_result != ILLEGAL) & ~keeps_result(labels)).any(-1)


def best_moves(labels: Labels) -> np.ndarray:
    """Return the moves a perfect player chooses among, as booleans [n, A]: by margin where known, else by result."""
    return keeps_result(labels) if labels.margin is None else keeps_margin(labels)
