"""Monte Carlo tree search over a batch of games: AlphaZero's PUCT, and UCB1.

Every simulation goes down one path of a game, to a leaf; leaves are evaluated in one network call for all games, and
their values come back up with alternating sign. The graph is the particle search's; only the edges' sums of results are
added. Simulations of one game follow one another or, with virtual loss, a batch of them goes down at once: those on
their way count as lost, so that the next ones turn elsewhere, until their results take the losses' place.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from probzero import wdl
from probzero.config import Search
from probzero.kinds import Array, cast, plain, repeat
from probzero.search.arrays import ResultArrays, Scoring
from probzero.search.base import GraphSearch
from probzero.search.evaluation import Evaluate
from probzero.search.graph import Graph
from probzero.search.move_choice import Moves
from probzero.search.outlook import Outlook

if TYPE_CHECKING:
    from probzero.search.backends.base import Paths


class MctsSearch(GraphSearch):
    """Searches the games of one graph by simulations that each follow the best score (see `scores`)."""

    UCB1: ClassVar[bool]  # UCB1 scores moves, or PUCT

    def __init__(self, graph: Graph, evaluate: Evaluate, settings: Search) -> None:
        super().__init__(graph, evaluate, settings)
        self.edge_value = graph.backend.zeros(len(graph.edge_child), dtype="float64")  # [E] W, for the mover
        self.low = graph.backend.zeros(graph.games, dtype="float64") + math.inf  # [G] least Q of a search
        self.high = graph.backend.zeros(graph.games, dtype="float64") - math.inf  # [G] and greatest

    @cached_property
    def arrays(self) -> ResultArrays:
        """Return the same memory for compiled loops."""
        return ResultArrays(plain(self.edge_value), plain(self.low), plain(self.high))

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
            untried_parent=settings.unvisited == "parent",
            reduction=float(settings.first_play_reduction),
            virtual_loss=settings.virtual_loss,
        )

    def run(self, games: Array, particles: int, batches: int, step: int) -> None:
        """Search games [n] with particles × batches simulations, one after another without virtual loss."""
        self.low[games], self.high[games] = math.inf, -math.inf
        together = particles if self.settings.virtual_loss else 1
        super().run(games, together, particles * batches // together, step)

    def simulate(self, roots: Array, particles: Array, most: int, salt: int) -> None:
        self._settle(self.graph.backend.select(self, repeat(roots, particles)))

    def _settle(self, paths: Paths) -> None:
        """Evaluate the leaves of paths, several of which may end in one, and carry their results up."""
        graph = self.graph
        self._evaluate(graph.distinct(paths.leaves[~graph.evaluated[paths.leaves]]))
        result = cast(wdl.expectation(graph.search[paths.leaves, Graph.VALUE]), "float64")
        graph.backend.add_results(self, paths, result)

    def moves(self, games: Array) -> Moves:
        """Return the roots' moves, weighted by visits."""
        edges = self.graph.edges_of(self.graph.root[games])
        visits = cast(self.graph.edge_visits[edges.index], "float64")
        return Moves(cast(self.graph.edge_action[edges.index], "int64"), visits > 0, visits)

    def value(self, games: Array) -> Array:
        """Return the mean result [n] of all simulations through the roots."""
        edges = self.graph.edges_of(self.graph.root[games])
        visits = self.graph.edge_visits[edges.index].sum(1)
        return self.edge_value[edges.index].sum(1) / visits.clip(min=1)

    def outlook(self, games: Array) -> Outlook:
        edges = self.graph.edges_of(self.graph.root[games])
        visits = self.graph.edge_visits[edges.index]
        return Outlook(
            action=cast(self.graph.edge_action[edges.index], "int64"),
            real=edges.real,
            tried=visits > 0,
            visits=visits,
            weight=cast(visits, "float64") / visits.sum(1, keepdims=True).clip(min=1),
            value=self.edge_value[edges.index] / visits.clip(min=1),
        )


class PuctSearch(MctsSearch):
    """AlphaZero's: the network's prior steers, its value is the result of a simulation."""

    UCB1 = False
