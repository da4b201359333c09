"""Exact labels of positions: the value of every legal move, and what follows from it.

All numbers speak for the player to move. A *result* is +1, 0 or −1; a *margin* is own minus opposing discs at the end
of the game under perfect play, empty squares counting for nobody.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from tqdm import tqdm

from probzero.errors import bad
from probzero.games.bits import popcount
from probzero.games.othello import othello
from probzero.truth.solver import ENTRY, ILLEGAL, LIMIT, label_positions

NODE_BUDGET = 1_000_000_000  # per position, when none is given: some two minutes, so that nothing runs for ever
TABLE_BITS = 20  # 2^20 entries of 32 bytes per thread
CHUNK = 32  # positions per step of the progress bar


@dataclass(frozen=True)
class Labels:
    """Exact values of n positions and of their A = N² + 1 actions; ILLEGAL marks actions that are not legal.

    The two margins are None where only results were asked for. A finished game has no legal action, and its
    value is the one on the board.
    """

    size: int
    own: np.ndarray  # int64 [n]
    opp: np.ndarray  # int64 [n]
    result: np.ndarray  # int8 [n]
    action_result: np.ndarray  # int8 [n, A]
    margin: np.ndarray | None  # int8 [n]
    action_margin: np.ndarray | None  # int8 [n, A]


class Workspace:
    """What one thread needs besides the positions: a table for one board size, room for move lists, counters."""

    def __init__(self, table_bits: int) -> None:
        self.table = np.zeros(int(ENTRY) << table_bits, dtype=np.uint64)
        self.lists = np.zeros((64, 64), dtype=np.int64)  # [empty squares left after the move, moves found]
        self.counters = np.zeros(64, dtype=np.int64)  # padded, so that no two threads write to one cache line


class Solver:
    """Labels positions of one board size; its tables are kept from call to call.

    Labels are exact, so they depend on nothing but the position. How many nodes a position needs does depend on what
    the tables already hold, hence whether a scant `node_budget` (per position) suffices may differ with the number of
    threads and the order of the calls. Memory is threads · 2^table_bits · 32 bytes.
    """

    def __init__(
        self, size: int, *, threads: int = 2, node_budget: int | None = None, table_bits: int = TABLE_BITS
    ) -> None:
        self.game = othello(size)
        self.node_budget = NODE_BUDGET if node_budget is None else node_budget
        if threads < 1:
            raise bad("solver", "threads", "at least 1", threads)
        if self.node_budget < 1:
            raise bad("solver", "node_budget", "at least 1", self.node_budget)
        if not 1 <= table_bits <= 30:
            raise bad("solver", "table_bits", "1 to 30", table_bits)
        self.workspaces = [Workspace(table_bits) for _ in range(threads)]

    def label(self, own: ArrayLike, opp: ArrayLike, *, margins: bool = True, progress: bool = True) -> Labels:
        """Return the labels of positions own, opp [n]; without `margins` only results, about ten times as fast."""
        own, opp = self._checked(own, opp)
        values = self._values(own, opp, 64 if margins else 1, progress)
        legal = values != ILLEGAL
        value = np.where(legal.any(-1), values.max(-1), self.game.margin(own, opp)).astype(np.int8)
        return Labels(
            size=self.game.size,
            own=own,
            opp=opp,
            result=np.sign(value),
            action_result=np.where(legal, np.sign(values), np.int8(ILLEGAL)),
            margin=value if margins else None,
            action_margin=values if margins else None,
        )

    def _checked(self, own: ArrayLike, opp: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        boards = []
        for name, given in (("own", own), ("opp", opp)):
            board = np.asarray(given)
            if board.ndim != 1 or (board.size and board.dtype.kind not in "iu"):
                raise bad("positions", name, "a list of whole numbers", f"{board.dtype} of shape {board.shape}")
            boards.append(board.astype(np.int64))
        own, opp = boards
        if len(own) != len(opp):
            raise bad("positions", "own and opp", "equally many", f"{len(own)} and {len(opp)}")
        size = self.game.size
        for wrong, expected in (
            ((own & opp) != 0, "at most one disc per square"),
            (((own | opp) & ~self.game.full) != 0, f"discs on the {size}×{size} board only"),
        ):
            if wrong.any():
                index = int(wrong.argmax())
                raise bad("illegal position", f"number {index}", expected, self._written(own[index], opp[index]))
        return own, opp

    @staticmethod
    def _written(own: Any, opp: Any) -> str:
        return " ".join(f"{name}={int(word) % (1 << 64):#x}" for name, word in (("own", own), ("opp", opp)))

    def _values(self, own: np.ndarray, opp: np.ndarray, width: int, progress: bool) -> np.ndarray:
        """Return int8 [n, A]: exact margins of the actions for width 64, only their signs right for width 1.

        Positions are dealt out to the threads in turn, the emptiest first: equal shares of the hard ones, and the
        tables hold much of what the later ones need.
        """
        words = own.view(np.uint64), opp.view(np.uint64)
        values = np.full((len(own), self.game.actions), ILLEGAL, dtype=np.int8)
        discs = popcount(own | opp)
        order = np.argsort(discs, kind="stable")
        lock = Lock()
        bar = tqdm(total=len(own), desc=f"solving {self.game.size}×{self.game.size}", unit="pos", disable=not progress)

        def work(share: np.ndarray, space: Workspace) -> int:
            for begin in range(0, len(share), CHUNK):
                chunk = share[begin : begin + CHUNK]
                failed: int = label_positions(
                    *words, chunk, self.game.size, width, space.table, space.lists, space.counters, values
                )
                if failed >= 0:
                    return failed
                with lock:
                    bar.update(len(chunk))
            return -1

        threads = len(self.workspaces)
        for space in self.workspaces:
            space.counters[LIMIT] = self.node_budget
        with bar, ThreadPoolExecutor(threads) as pool:
            try:
                jobs = [pool.submit(work, order[k::threads].copy(), self.workspaces[k]) for k in range(threads)]
                for job in as_completed(jobs):
                    if (index := job.result()) >= 0:
                        empty = self.game.squares - int(discs[index])
                        raise bad(
                            "solver",
                            f"position {index} ({self._written(own[index], opp[index])}, {empty} empty squares)",
                            f"a solution within the budget of {self.node_budget} nodes",
                            "the budget used up",
                        )
            finally:
                for space in self.workspaces:
                    space.counters[LIMIT] = -1  # an error or an interrupt stops the threads still searching
        return values


def label(
    size: int,
    own: ArrayLike,
    opp: ArrayLike,
    *,
    margins: bool = True,
    threads: int = 2,
    node_budget: int | None = None,
    table_bits: int = TABLE_BITS,
    progress: bool = True,
) -> Labels:
    """Return the exact labels of positions own, opp [n] on an N×N board; see `Solver` for the parameters."""
    solver = Solver(size, threads=threads, node_budget=node_budget, table_bits=table_bits)
    return solver.label(own, opp, margins=margins, progress=progress)


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
