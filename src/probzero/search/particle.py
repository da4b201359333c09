"""Particle search over a batch of games: particles flow down, leaves are evaluated together, values come back up.

One simulation batch sends V particles from the root of every game at once. The loops below go over ranks (at most two a
disc), never over nodes, particles or games.
"""

from __future__ import annotations

import torch

from probzero import wdl
from probzero.config import Search
from probzero.kernels.backup import backup
from probzero.random_keys import key
from probzero.search.evaluation import Evaluate
from probzero.search.splitting import SPLITTERS
from probzero.search.tree import Tree


class ParticleSearch:
    """Searches the games of one tree with one network."""

    def __init__(self, tree: Tree, evaluate: Evaluate, settings: Search) -> None:
        self.tree = tree
        self.evaluate = evaluate
        self.temperature = settings.temperature
        self.split = SPLITTERS[settings.splitting]
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
        self.tree.volume[roots] = particles
        levels, leaves = self._descend(roots, salt)
        self._evaluate(leaves)
        levels.reverse()
        nodes = torch.cat(levels)
        backup(self.tree, nodes, [len(level) for level in levels], self.tree.game[nodes], self.temperature)

    def _descend(self, roots: torch.Tensor, salt: int) -> tuple[list[torch.Tensor], torch.Tensor]:
        """Move the waiting particles down until none is left waiting; return the nodes split, by rank, and the leaves.

        Nodes are taken in order of rank, so a node is split once, when all its parents have given what they have.
        """
        tree = self.tree
        levels: list[torch.Tensor] = []
        leaves: list[torch.Tensor] = []
        waiting = roots
        while len(waiting):
            rank = tree.rank[waiting]
            now = rank == rank.min()
            nodes, later = waiting[now], waiting[~now]
            child, count = self._split(nodes, salt)
            unseen = child[tree.volume[child] == 0]
            tree.volume.index_add_(0, child, count)
            unseen = tree.distinct(unseen)
            evaluated = tree.evaluated[unseen]
            leaves.append(unseen[~evaluated])
            waiting = torch.cat([later, unseen[evaluated]])
            stopped = tree.closed[waiting]  # a shared child that was closed from elsewhere: nothing to do below it
            if stopped.any():
                self._arrive(waiting[stopped])
                waiting = waiting[~stopped]
            levels.append(nodes)
        found = torch.cat(leaves)
        self._arrive(found)
        return levels, found

    def _arrive(self, nodes: torch.Tensor) -> torch.Tensor:
        """Count the particles waiting at distinct nodes [n] as visits; return how many they were [n]."""
        volume = self.tree.volume[nodes]
        self.tree.volume[nodes] = 0
        self.tree.visits[nodes] += volume
        return volume

    def _split(self, nodes: torch.Tensor, salt: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Divide the particles waiting at nodes [n]; return who receives how many: children [k] and counts [k].

        Explored children have a share each, in proportion to policy_search; those that are closed have none. All
        unexplored moves together are one bucket, handed out one by one in order of prior and round again.
        If the search gives all moves that may have particles no weight at all, they share equally.
        """
        tree = self.tree
        volume = self._arrive(nodes)
        edges = tree.edges_of(nodes)
        unexplored = edges.real ^ edges.explored
        may = edges.real ^ (edges.explored & tree.closed[edges.child])
        share = tree.edge_policy[edges.index] * may
        weightless = ~share.any(1, keepdim=True)
        if weightless.any():
            share = torch.where(weightless, may.to(share.dtype), share)
        count = self.split(share, volume, tree.key[nodes], salt)
        untried = unexplored.sum(1, keepdim=True).clamp(min=1)
        bucket = (count * unexplored).sum(1, keepdim=True)
        place = unexplored.cumsum(1) - 1  # 0 for the unexplored move with the highest prior
        handed = bucket // untried + (place < bucket % untried)
        count = torch.where(unexplored, handed, count)
        given = count > 0
        child = edges.child[given]
        tree.edge_child[edges.index[given]] = child  # explored from now on
        return child, count[given]

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
