"""The one way to make a search: which algorithm, over which graph, with which evaluations."""

from __future__ import annotations

import torch

from probzero.config import Search
from probzero.errors import bad
from probzero.games.othello import Othello
from probzero.network.inference import Evaluation, Evaluator
from probzero.search.evaluation import Evaluate, remembered
from probzero.search.graph import GraphSearch
from probzero.search.mcts import MctsSearch
from probzero.search.particle import ParticleSearch
from probzero.search.playouts import UctSearch
from probzero.search.tree import Tree

ALGORITHMS: dict[str, type[GraphSearch]] = {"particle": ParticleSearch, "puct": MctsSearch, "ucb1": UctSearch}


class SearchFactory:
    """Makes searches of one kind with one network (None for UCB1); they share the cache of its evaluations."""

    def __init__(self, rules: Othello, evaluator: Evaluator | None, settings: Search, capacity: int, what: str) -> None:
        self.rules, self.settings = rules, settings
        self.capacity, self.what = capacity, what  # most tree nodes, and the setting that says so
        self.device = evaluator.device if evaluator is not None else torch.device("cpu")
        self.evaluate: Evaluate = _nothing
        if evaluator is not None:
            self.evaluate = remembered(evaluator, settings, rules.actions, capacity, self.device)
        elif settings.algorithm != "ucb1":
            raise bad("search", "search.algorithm", "ucb1, the one that needs no network", settings.algorithm)

    def start(self, own: torch.Tensor, opp: torch.Tensor, keys: torch.Tensor) -> GraphSearch:
        """Return a search at positions [G] of as many games; keys [G] are their roots of randomness."""
        tree = Tree(self.rules, len(own), self.capacity, self.what, self.device, self.settings.transpositions)
        tree.game_key[:] = keys
        search = ALGORITHMS[self.settings.algorithm](tree, self.evaluate, self.settings)
        search.start(torch.arange(len(own), device=self.device), own, opp)
        return search


def _nothing(own: torch.Tensor, opp: torch.Tensor, legal: torch.Tensor) -> Evaluation:
    raise AssertionError("a search without a network makes its own estimates")
