"""Particle search over a batch of games: particles flow down, leaves are evaluated together, values come back up.

One simulation batch sends V particles from the root of every game at once.
"""

from __future__ import annotations

from probzero import wdl
from probzero.kinds import Array, cast
from probzero.search.base import GraphSearch
from probzero.search.graph import Graph
from probzero.search.move_choice import Moves
from probzero.search.outlook import Outlook


class ParticleSearch(GraphSearch):
    """ProbZero's search of the games of one graph with one network."""

    def simulate(self, roots: Array, particles: Array, most: int, salt: int) -> None:
        backend = self.graph.backend
        descent = backend.descend(self.graph, roots, particles, most, self.settings.splitting, salt)
        self._evaluate(descent.leaves)
        backend.backup(self.graph, descent.nodes, self.settings.temperature)

    def moves(self, games: Array) -> Moves:
        """Return the roots' explored moves, weighted by policy_search."""
        edges = self.graph.edges_of(self.graph.root[games])
        policy = cast(self.graph.edge_policy[edges.index], "float64") * edges.explored
        return Moves(cast(self.graph.edge_action[edges.index], "int64"), edges.explored, policy)

    def value(self, games: Array) -> Array:
        return wdl.expectation(self.graph.search[self.graph.root[games], Graph.VALUE])

    def outlook(self, games: Array) -> Outlook:
        graph, roots = self.graph, self.graph.root[games]
        edges = graph.edges_of(roots)
        after = wdl.flip(graph.search[edges.child, Graph.VALUE])  # [n, K, 3]
        return Outlook(
            action=cast(graph.edge_action[edges.index], "int64"),
            real=edges.real,
            tried=edges.explored,
            visits=graph.edge_visits[edges.index],
            weight=graph.edge_policy[edges.index],
            value=wdl.expectation(after),
            wdl=after,
            winner_prob=graph.weights(edges, self.settings.temperature),
            root_wdl=graph.search[roots, Graph.VALUE],
        )
