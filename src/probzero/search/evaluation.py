"""Evaluations of positions, shared by all games: what was evaluated once is not evaluated again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from probzero import wdl
from probzero.kinds import Array
from probzero.network.evaluation import Evaluation
from probzero.search.key_table import KeyTable

if TYPE_CHECKING:
    from probzero.search.backends.base import Backend

# States [n, W] and their legal moves [n, K], each row filled up with its first; priors come by listed move.
Evaluate = Callable[[Array, Array], Evaluation]


class CachedEvaluation:
    """An `Evaluate` that remembers: equal positions get the very same numbers, from one network evaluation.

    When `capacity` positions are held, all are forgotten.
    """

    def __init__(self, evaluate: Evaluate, backend: Backend, capacity: int) -> None:
        self.evaluate, self.backend = evaluate, backend
        game = backend.game
        self.table = KeyTable(backend, capacity, game.words, "evaluation cache")  # keys: states
        self.prior = backend.zeros(capacity, game.most_moves)
        self.value = backend.zeros(capacity, wdl.SIZE)
        self.reward = backend.zeros(capacity, wdl.SIZE)

    def __call__(self, states: Array, moves: Array) -> Evaluation:
        if len(states) > self.table.capacity:
            return self.evaluate(states, moves)
        if self.table.count + len(states) > self.table.capacity:
            self.table.clear()  # forgetting costs time, never results
        held = self.table.count
        entries, added = self.table.insert(states, self.backend.hash_rows(states))
        stored = (self.prior, self.value, self.reward)
        if len(added):
            fresh = self.evaluate(states[added], moves[added])
            for store, column in zip(stored, fresh, strict=True):
                store[held : self.table.count] = column  # rows were added in the order of entries
        return Evaluation(*(store[entries] for store in stored))
