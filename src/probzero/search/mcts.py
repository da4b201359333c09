"""Monte Carlo tree search over a batch of games: AlphaZero's PUCT, and UCB1.

Every simulation goes down one path of every game at once, to leaves that are evaluated in one network call for all
games, and their values come back up with alternating sign. The graph is the particle search's; only the edges' sums of
results are added. Simulations of one game follow one another, as AlphaZero's do without virtual loss.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import torch

from probzero import wdl
from probzero.config import Search
from probzero.search.arrays import ResultArrays, Scoring
from probzero.search.base import GraphSearch
from probzero.search.evaluation import Evaluate
from probzero.search.graph import Graph
from probzero.search.move_choice import Moves


class MctsSearch(GraphSearch):
    """Searches the games of one graph by simulations that each follow the best score (see `scores`)."""

    UCB1: ClassVar[bool]  # UCB1 scores moves, or PUCT

    def __init__(self, graph: Graph, evaluate: Evaluate, settings: Search) -> None:
        super().__init__(graph, evaluate, settings)
        device = graph.device
        self.edge_value = graph.backend.zeros(len(graph.edge_child), dtype=torch.float64)  # [E] W, for the mover
        self.low = torch.full((graph.games,), torch.inf, dtype=torch.float64, device=device)  # [G] least Q of a search
        self.high = torch.full((graph.games,), -torch.inf, dtype=torch.float64, device=device)  # [G] and greatest

    @cached_property
    def arrays(self) -> ResultArrays:
        """Return the same memory for compiled loops."""
        return ResultArrays(self.edge_value.numpy(), self.low.numpy(), self.high.numpy())

    @cached_property
    def scoring(self) -> Scoring:
        """Return how moves are scored."""
        settings = self.settings
        return Scoring(
            ucb=self.UCB1,
            constant=float(settings.exploration),
            logarithmic=settings.exploration_growth == "logarithmic",
            minmax=settings.q_scale == "minmax",
            untried_first=settings.unvisited == "first",
        )

    def run(self, games: torch.Tensor, particles: int, batches: int, step: int) -> None:
        """Search games [n] with particles × batches simulations, one after another."""
        self.low[games], self.high[games] = torch.inf, -torch.inf
        super().run(games, 1, particles * batches, step)

    def simulate(self, roots: torch.Tensor, particles: torch.Tensor, salt: int) -> None:
        backend = self.graph.backend
        paths = backend.select(self, roots)
        self._evaluate(paths.leaves[~self.graph.evaluated[paths.leaves]])
        result = wdl.expectation(self.graph.search[paths.leaves, Graph.VALUE]).double()
        backend.add_results(self, paths, result)

    def moves(self, games: torch.Tensor) -> Moves:
        """Return the roots' moves, weighted by visits."""
        edges = self.graph.edges_of(self.graph.root[games])
        visits = self.graph.edge_visits[edges.index].double()
        return Moves(self.graph.edge_action[edges.index].long(), visits > 0, visits)

    def value(self, games: torch.Tensor) -> torch.Tensor:
        """Return the mean result [n] of all simulations through the roots."""
        edges = self.graph.edges_of(self.graph.root[games])
        visits = self.graph.edge_visits[edges.index].sum(1)
        return self.edge_value[edges.index].sum(1) / visits.clamp(min=1)


class PuctSearch(MctsSearch):
    """AlphaZero's: the network's prior steers, its value is the result of a simulation."""

    UCB1 = False
