"""The one way to make a search: which algorithm, over which graph, with which evaluations, in which form."""

from __future__ import annotations

from copy import copy
from typing import Any

from probzero.arms import ARMS
from probzero.config import Search
from probzero.devices import CPU
from probzero.errors import bad
from probzero.games.base import Game
from probzero.kinds import Array, count_up, is_tensor
from probzero.network.evaluation import Evaluation
from probzero.network.inference import Evaluator
from probzero.search.backends.base import Backend
from probzero.search.base import GraphSearch
from probzero.search.evaluation import CachedEvaluation, Evaluate
from probzero.search.graph import Graph


class SearchFactory:
    """Makes searches of one kind with one network (None for UCB1); they share the cache of its evaluations."""

    def __init__(self, game: Game, evaluator: Evaluator | None, settings: Search, capacity: int, setting: str) -> None:
        """`capacity` bounds the nodes of a graph; `setting` is where it comes from, for the error."""
        self.game, self.settings, self.evaluator = game, settings, evaluator
        self.capacity, self.setting = capacity, setting
        self.device: Any = evaluator.device if evaluator is not None else CPU
        if evaluator is None and settings.arm.learns:
            without = " or ".join(name for name, arm in ARMS.items() if not arm.learns)
            raise bad("search", "search.algorithm", f"{without}, which needs no network", settings.algorithm)
        self._made: dict[bool, tuple[Backend, Evaluate]] = {}  # by kind of arrays: a factory mostly meets one

    def with_settings(self, **settings: Any) -> SearchFactory:
        """Return one that searches otherwise and shares all evaluations."""
        other = copy(self)
        other.settings = self.settings.model_copy(update=settings)
        return other

    def start(self, states: Array, keys: Array) -> GraphSearch:
        """Return a search at states [G, W] of as many games; keys [G] are their roots of randomness.

        These may lie anywhere; what the search is given from then on, and what it gives, lies on its device, and is on
        a processor of the kind that the states are."""
        if is_tensor(states) not in self._made:
            self._made[is_tensor(states)] = self._make(states)
        backend, evaluate = self._made[is_tensor(states)]
        graph = Graph(backend, len(states), self.capacity, self.setting, self.settings.transpositions)
        graph.game_key[:] = backend.accept(keys)
        search = self.settings.arm.search_class(graph, evaluate, self.settings)
        search.start(count_up(graph.root, len(states)), backend.accept(states))
        return search

    def _make(self, states: Array) -> tuple[Backend, Evaluate]:
        backend = choose_backend(self.game, self.device, states)
        if self.evaluator is None:
            return backend, _nothing
        cache = self.settings.cache
        return backend, CachedEvaluation(self.evaluator, backend, self.capacity) if cache else self.evaluator


def _nothing(states: Array, moves: Array) -> Evaluation:
    raise AssertionError("a search without a network makes its own estimates")


def choose_backend(game: Game, device: Any, kind: Array | None = None) -> Backend:
    """Return the form in which searches on a device compute, on a processor over arrays of a kind: who asks is here."""
    if str(device) == CPU:
        from probzero.search.backends.compiled import CompiledBackend

        return CompiledBackend(game, kind)
    from probzero.search.backends.tensor import TensorBackend

    return TensorBackend(game, device)
