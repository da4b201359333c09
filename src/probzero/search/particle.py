"""Particle search over a batch of games: particles flow down, leaves are evaluated together, values come back up.

One simulation batch sends V particles from the root of every game at once.
"""

from __future__ import annotations

import torch

from probzero import wdl
from probzero.config import Search
from probzero.kernels.backup import backup
from probzero.search.choice import Moves
from probzero.search.descent import descend
from probzero.search.evaluation import Evaluate
from probzero.search.graph import GraphSearch
from probzero.search.tree import Tree


class ParticleSearch(GraphSearch):
    """ProbZero's search of the games of one tree with one network."""

    def __init__(self, tree: Tree, evaluate: Evaluate, settings: Search) -> None:
        super().__init__(tree, evaluate, settings)
        self.descend = descend  # measurements listen here

    def simulate(self, roots: torch.Tensor, particles: torch.Tensor, salt: int) -> None:
        descent = self.descend(self.tree, roots, particles, self.settings.splitting, salt)
        self._evaluate(descent.leaves)
        games = self.tree.game(descent.nodes) if self.tree.in_step else None  # GPUs alone want to know
        backup(self.tree, descent.nodes, descent.level_sizes, games, self.settings.temperature)

    def moves(self, games: torch.Tensor) -> Moves:
        """Return the roots' explored moves, weighted by policy_search."""
        edges = self.tree.edges_of(self.tree.root[games])
        policy = self.tree.edge_policy[edges.index].to(torch.float64) * edges.explored
        return Moves(self.tree.edge_action[edges.index].long(), edges.explored, policy)

    def value(self, games: torch.Tensor) -> torch.Tensor:
        return wdl.expectation(self.tree.search[self.tree.root[games], Tree.VALUE])
