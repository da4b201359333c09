"""Evaluations of positions, shared by all games: what was evaluated once is not evaluated again."""

from __future__ import annotations

from collections.abc import Callable

import torch

from probzero.config import Search
from probzero.network.inference import Evaluation
from probzero.search.table import KeyTable, hash_rows

Evaluate = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], Evaluation]  # own [n], opp [n], legal [n, A]


class CachedEvaluation:
    """An `Evaluate` that remembers: equal positions get the very same numbers, from one network evaluation.

    When `capacity` positions are held, all are forgotten.
    """

    def __init__(self, evaluate: Evaluate, actions: int, capacity: int, device: torch.device) -> None:
        self.evaluate = evaluate
        self.table = KeyTable(capacity, 2, "evaluation cache", device)  # keys: own, opp
        self.prior = torch.zeros(capacity, actions, device=device)
        self.value = torch.zeros(capacity, 3, device=device)
        self.reward = torch.zeros(capacity, 3, device=device)

    def __call__(self, own: torch.Tensor, opp: torch.Tensor, legal: torch.Tensor) -> Evaluation:
        if self.table.count + len(own) > self.table.capacity:
            self.table.clear()  # forgetting costs time, never results
        if len(own) > self.table.capacity:
            return self.evaluate(own, opp, legal)
        keys = torch.stack([own, opp], dim=1)
        entries, added = self.table.insert(keys, hash_rows(keys))
        if len(added):
            fresh = self.evaluate(own[added], opp[added], legal[added])
            self.prior[entries[added]] = fresh.prior
            self.value[entries[added]] = fresh.value
            self.reward[entries[added]] = fresh.reward
        return Evaluation(self.prior[entries], self.value[entries], self.reward[entries])


def remembered(evaluate: Evaluate, settings: Search, actions: int, capacity: int, device: torch.device) -> Evaluate:
    """Return `evaluate` with a cache of `capacity` positions around it, if the settings ask for one."""
    return CachedEvaluation(evaluate, actions, capacity, device) if settings.cache else evaluate
