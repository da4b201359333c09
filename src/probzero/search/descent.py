"""Particles on their way down: from the roots to the leaves, splitting at every node.

Nodes are taken in order of rank, so that a node is split once, when all its parents have given what they have.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from probzero.search import compiled
from probzero.search.splitting import SPLITTERS
from probzero.search.tree import Tree


class Descent(NamedTuple):
    """Where the particles of a batch went."""

    nodes: torch.Tensor  # [T] nodes that were split, each after all those below it
    level_sizes: list[int] | None  # the nodes of one level do not depend on each other; None: not grouped by level
    leaves: torch.Tensor  # [L] nodes reached for the first time


def descend(tree: Tree, roots: torch.Tensor, particles: torch.Tensor, splitting: str, salt: int) -> Descent:
    """Send particles [n] down from the open roots [n], counting visits, until they reach leaves."""
    form = descend_by_level if tree.in_step else _descend_compiled
    return form(tree, roots, particles, splitting, salt)


def _descend_compiled(tree: Tree, roots: torch.Tensor, particles: torch.Tensor, splitting: str, salt: int) -> Descent:
    most, arrays = int(particles.sum()), tree.arrays
    touched = torch.empty(most * (len(tree.rank_heads) // 2), dtype=torch.int64)
    leaves = torch.empty(most, dtype=torch.int64)
    split, found = compiled.descend(
        roots.numpy(), particles.numpy(), salt, splitting == "systematic", arrays.key, arrays.rank, arrays.evaluated,
        arrays.closed, arrays.visits, arrays.volume, arrays.first_edge, arrays.edge_count, arrays.edge_child,
        arrays.edge_policy, arrays.edge_visits, arrays.rank_heads, arrays.scratch, touched.numpy(), leaves.numpy(),
    )  # fmt: skip
    return Descent(touched[len(touched) - split :], None, leaves[:found])


def descend_by_level(tree: Tree, roots: torch.Tensor, particles: torch.Tensor, splitting: str, salt: int) -> Descent:
    """The same with tensor operations on any device; a Python loop over ranks only."""
    levels: list[torch.Tensor] = []
    leaves: list[torch.Tensor] = []
    tree.volume[roots] = particles.to(torch.int32)
    waiting = roots
    while len(waiting):
        rank = tree.rank[waiting]
        now = rank == rank.min()
        nodes, later = waiting[now], waiting[~now]
        child, count = _split(tree, nodes, splitting, salt)
        unseen = child[tree.volume[child] == 0]
        tree.volume.index_add_(0, child, count)
        unseen = tree.distinct(unseen)
        evaluated = tree.evaluated[unseen]
        leaves.append(unseen[~evaluated])
        waiting = torch.cat([later, unseen[evaluated]])
        stopped = tree.closed[waiting]  # a shared child that was closed from elsewhere: nothing to do below it
        if stopped.any():
            _arrive(tree, waiting[stopped])
            waiting = waiting[~stopped]
        levels.append(nodes)
    found = torch.cat(leaves)
    _arrive(tree, found)
    levels.reverse()
    return Descent(torch.cat(levels), [len(level) for level in levels], found)


def _arrive(tree: Tree, nodes: torch.Tensor) -> torch.Tensor:
    """Count the particles waiting at distinct nodes [n] as visits; return how many they were [n]."""
    volume = tree.volume[nodes]
    tree.volume[nodes] = 0
    tree.visits[nodes] += volume
    return volume.long()


def _split(tree: Tree, nodes: torch.Tensor, splitting: str, salt: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Divide the particles waiting at nodes [n]; return who receives how many: children [k] and counts [k].

    Explored children have a share each, in proportion to policy_search; those that are closed have none. All
    unexplored moves together are one bucket, handed out one by one in order of prior and round again.
    If the search gives all moves that may have particles no weight at all, they share equally.
    """
    volume = _arrive(tree, nodes)
    edges = tree.edges_of(nodes)
    unexplored = edges.real ^ edges.explored
    may = edges.real ^ (edges.explored & tree.closed[edges.child])
    share = tree.edge_policy[edges.index] * may
    weightless = ~share.any(1, keepdim=True)
    if weightless.any():
        share = torch.where(weightless, may.to(share.dtype), share)
    count = SPLITTERS[splitting](share, volume, tree.key[nodes], salt)
    untried = unexplored.sum(1, keepdim=True).clamp(min=1)
    bucket = (count * unexplored).sum(1, keepdim=True)
    place = unexplored.cumsum(1) - 1  # 0 for the unexplored move with the highest prior
    handed = bucket // untried + (place < bucket % untried)
    count = torch.where(unexplored, handed, count)
    given = count > 0
    child = edges.child[given]
    taken, count = edges.index[given], count[given].to(torch.int32)
    tree.edge_child[taken] = child  # explored from now on
    tree.edge_visits[taken] += count
    return child, count
