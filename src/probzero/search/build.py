"""The one way to make a search: which algorithm, over which graph, with which evaluations, in which form."""

from __future__ import annotations

import torch

from probzero.arms import ARMS
from probzero.config import Search
from probzero.errors import bad
from probzero.games.base import Game
from probzero.network.inference import Evaluation, Evaluator
from probzero.search.backends.base import Backend
from probzero.search.base import GraphSearch
from probzero.search.evaluation import CachedEvaluation, Evaluate
from probzero.search.graph import Graph


class SearchFactory:
    """Makes searches of one kind with one network (None for UCB1); they share the cache of its evaluations."""

    def __init__(self, game: Game, evaluator: Evaluator | None, settings: Search, capacity: int, setting: str) -> None:
        """`capacity` bounds the nodes of a graph; `setting` is where it comes from, for the error."""
        self.game, self.settings = game, settings
        self.capacity, self.setting = capacity, setting
        self.device = torch.device(evaluator.device if evaluator is not None else "cpu")
        self.backend = choose_backend(game, self.device)
        self.evaluate: Evaluate = _nothing if evaluator is None else evaluator
        if evaluator is None and settings.arm.learns:
            without = " or ".join(name for name, arm in ARMS.items() if not arm.learns)
            raise bad("search", "search.algorithm", f"{without}, which needs no network", settings.algorithm)
        if evaluator is not None and settings.cache:
            self.evaluate = CachedEvaluation(evaluator, self.backend, capacity)

    def start(self, states: torch.Tensor, keys: torch.Tensor) -> GraphSearch:
        """Return a search at states [G, W] of as many games; keys [G] are their roots of randomness.

        These may lie anywhere; what the search is given from then on, and what it gives, lies on its device."""
        graph = Graph(self.backend, len(states), self.capacity, self.setting, self.settings.transpositions)
        graph.game_key[:] = keys
        search = self.settings.arm.search_class(graph, self.evaluate, self.settings)
        search.start(torch.arange(len(states), device=self.device), states.to(self.device))
        return search


def _nothing(states: torch.Tensor, moves: torch.Tensor) -> Evaluation:
    raise AssertionError("a search without a network makes its own estimates")


def choose_backend(game: Game, device: torch.device) -> Backend:
    """Return the form in which searches on a device compute: the one place that asks."""
    if device.type == "cpu":
        from probzero.search.backends.compiled import CompiledBackend

        return CompiledBackend(game)
    from probzero.search.backends.tensor import TensorBackend

    return TensorBackend(game, device)
