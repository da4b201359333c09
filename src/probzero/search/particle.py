"""Particle search over a batch of games: particles flow down, leaves are evaluated together, values come back up.

One simulation batch sends V particles from the root of every game at once.
"""

from __future__ import annotations

from probzero import wdl
from probzero.kinds import Array, cast
from probzero.search.base import GraphSearch
from probzero.search.graph import Graph
from probzero.search.move_choice import Moves


class ParticleSearch(GraphSearch):
    """ProbZero's search of the games of one graph with one network."""

    def simulate(self, roots: Array, particles: Array, salt: int) -> None:
        backend = self.graph.backend
        descent = backend.descend(self.graph, roots, particles, self.settings.splitting, salt)
        self._evaluate(descent.leaves)
        backend.backup(self.graph, descent.nodes, self.settings.temperature)

    def moves(self, games: Array) -> Moves:
        """Return the roots' explored moves, weighted by policy_search."""
        edges = self.graph.edges_of(self.graph.root[games])
        policy = cast(self.graph.edge_policy[edges.index], "float64") * edges.explored
        return Moves(cast(self.graph.edge_action[edges.index], "int64"), edges.explored, policy)

    def value(self, games: Array) -> Array:
        return wdl.expectation(self.graph.search[self.graph.root[games], Graph.VALUE])
