"""Evaluations of positions, shared by all games: what was evaluated once is not evaluated again."""

from __future__ import annotations

from collections.abc import Callable

import torch

from probzero.config import Search
from probzero.network.inference import Evaluation
from probzero.search.arrays import zeros
from probzero.search.table import KeyTable, hash_rows

Evaluate = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], Evaluation]  # own [n], opp [n], legal [n, A]


class CachedEvaluation:
    """An `Evaluate` that remembers: equal positions get the very same numbers, from one network evaluation.

    When `capacity` positions are held, all are forgotten.
    """

    def __init__(self, evaluate: Evaluate, actions: int, capacity: int, device: torch.device) -> None:
        self.evaluate = evaluate
        self.table = KeyTable(capacity, 2, "evaluation cache", device)  # keys: own, opp
        self.prior = zeros(capacity, actions, device=device)
        self.value = zeros(capacity, 3, device=device)
        self.reward = zeros(capacity, 3, device=device)

    def __call__(self, own: torch.Tensor, opp: torch.Tensor, legal: torch.Tensor) -> Evaluation:
        if self.table.count + len(own) > self.table.capacity:
            self.table.clear()  # forgetting costs time, never results
        if len(own) > self.table.capacity:
            return self.evaluate(own, opp, legal)
        keys = torch.stack([own, opp], dim=1)
        held = self.table.count
        entries, added = self.table.insert(keys, hash_rows(keys))
        stored = (self.prior, self.value, self.reward)
        if len(added):
            fresh = self.evaluate(*(part.index_select(0, added) for part in (own, opp, legal)))
            for store, column in zip(stored, fresh, strict=True):
                store[held : self.table.count] = column  # rows were added in the order of entries
        return Evaluation(*(store.index_select(0, entries) for store in stored))


def remembered(evaluate: Evaluate, settings: Search, actions: int, capacity: int, device: torch.device) -> Evaluate:
    """Return `evaluate` with a cache of `capacity` positions around it, if the settings ask for one."""
    return CachedEvaluation(evaluate, actions, capacity, device) if settings.cache else evaluate
