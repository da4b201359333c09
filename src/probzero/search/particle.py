"""Particle search over a batch of games: particles flow down, leaves are evaluated together, values come back up.

One simulation batch sends V particles from the root of every game at once. No Python loop goes over nodes, particles or
games.
"""

from __future__ import annotations

import torch

from probzero import wdl
from probzero.config import Search
from probzero.kernels.backup import backup
from probzero.random_keys import key
from probzero.search.descent import descend
from probzero.search.evaluation import Evaluate
from probzero.search.tree import Tree


class ParticleSearch:
    """Searches the games of one tree with one network."""

    def __init__(self, tree: Tree, evaluate: Evaluate, settings: Search) -> None:
        self.tree = tree
        self.evaluate = evaluate
        self.temperature = settings.temperature
        self.splitting = settings.splitting
        self.descend = descend  # the tests put another form of it here
        self.leaf_evaluations = 0  # leaves that needed an evaluation, from the cache or the network

    def start(self, games: torch.Tensor, own: torch.Tensor, opp: torch.Tensor) -> None:
        """Make positions [n] the roots of games [n] and evaluate them."""
        self.tree.root[games] = self.tree.enter(own, opp, games)
        self.evaluate_roots(games)

    def evaluate_roots(self, games: torch.Tensor) -> None:
        roots = self.tree.root[games]
        self._evaluate(roots[~self.tree.evaluated[roots]])

    def advance(self, games: torch.Tensor, action: torch.Tensor) -> None:
        """Play a legal action [n] in each of games [n]: the child becomes the root, its graph is kept."""
        self.evaluate_roots(games)
        self.tree.root[games] = self.tree.child_of(self.tree.root[games], action)

    def run(self, games: torch.Tensor, particles: int, batches: int, step: int) -> None:
        """Search games [n] with `batches` simulation batches; `step` numbers the call within each game."""
        self.evaluate_roots(games)
        for batch in range(batches):
            roots = self.tree.root[games]
            roots = roots[~self.tree.closed[roots]]
            if not len(roots):
                return
            self.simulate(roots, particles, key("split", step, batch))

    def simulate(self, roots: torch.Tensor, particles: int, salt: int) -> None:
        """One simulation batch: `particles` from each of the open roots [n] down, evaluation, backup."""
        descent = self.descend(self.tree, roots, particles, self.splitting, salt)
        self._evaluate(descent.leaves)
        games = self.tree.game[descent.nodes]
        backup(self.tree, descent.nodes, descent.level_sizes, games, self.temperature)

    def _evaluate(self, nodes: torch.Tensor) -> None:
        """Give distinct new nodes [n] their values: the true outcome at terminals, the network's word elsewhere."""
        if not len(nodes):
            return
        tree, rules = self.tree, self.tree.rules
        own, opp = tree.own[nodes], tree.opp[nodes]
        legal = rules.legal(own, opp)
        over = ~legal.any(1)
        tree.evaluated[nodes] = True
        tree.closed[nodes] = over
        tree.rank[nodes] = rules.rank(own, opp, legal)
        if over.any():
            outcome = wdl.from_result(rules.result(own[over], opp[over]))[:, None]
            tree.search[nodes[over]] = outcome
            tree.net[nodes[over]] = outcome
            nodes, own, opp, legal = nodes[~over], own[~over], opp[~over], legal[~over]
        if len(nodes):
            self.leaf_evaluations += len(nodes)
            evaluation = self.evaluate(own, opp, legal)
            estimate = torch.stack([evaluation.value, evaluation.reward], dim=1)
            tree.search[nodes] = estimate
            tree.net[nodes] = estimate
            tree.add_edges(nodes, evaluation.prior, legal)
