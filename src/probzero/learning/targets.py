"""Training targets from whole search graphs: one sample for every position of which a move was explored."""

from __future__ import annotations

import numpy as np
import torch

from probzero import wdl
from probzero.kernels.backup import backup
from probzero.learning.dataset import Samples, merge
from probzero.search.tree import Tree


def _interior(tree: Tree) -> tuple[torch.Tensor, list[int]]:
    """Return all nodes [n] with an explored child, deepest first, and how many share each rank."""
    nodes = torch.arange(tree.nodes, device=tree.device)
    nodes = nodes[tree.edge_count[: tree.nodes] > 0]
    nodes = nodes[tree.edge_child[tree.first_edge[nodes]] >= 0]  # explored edges come first
    rank, order = tree.rank[nodes].sort(descending=True, stable=True)
    sizes = rank.unique_consecutive(return_counts=True)[1]
    return nodes[order], sizes.tolist()


def reward_targets(
    tree: Tree, nodes: torch.Tensor, sizes: list[int], temperature: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Carry terminal outcomes up the graphs: reward_target [M, 3] and whether a node has one [M].

        reward_target = Σ w_i · flip(child_i.reward_target) over explored children that have one,

    with w = winner_prob renormalised over them. `nodes` [n] come deepest first, `sizes` of each rank.
    """
    known = tree.evaluated[: tree.nodes] & (tree.edge_count[: tree.nodes] == 0)  # terminals
    reward = tree.search[: tree.nodes, Tree.VALUE] * known[:, None]
    for level in nodes.split(sizes):
        edges = tree.edges_of(level)
        has = known[edges.child] & edges.explored
        weight = renormalised(tree.weights(edges, temperature), has)
        reward[level] = (weight[..., None] * wdl.flip(reward[edges.child])).sum(1)
        known[level] = has.any(1)
    return reward, known


def renormalised(weight: torch.Tensor, has: torch.Tensor) -> torch.Tensor:
    """Return weights [n, K] over the columns that `has` [n, K] marks, summing to 1 where there is one.

    Weights may be as small as float32 goes, so they are divided in float64; where all are 0 the marked ones share.
    """
    weight = weight.double() * has
    total = weight.sum(1, keepdim=True)
    even = has / has.sum(1, keepdim=True).clamp(min=1)
    return torch.where(total > 0, weight / torch.where(total > 0, total, 1.0), even).float()


def extract(tree: Tree, temperature: float) -> Samples:
    """Settle every graph from its deepest nodes up, then return its samples, equal positions of all games merged.

    During the search a node is updated when particles pass through it; a parent that shares a child may lag behind.
    One backup over all nodes makes every value consistent with its children before it becomes a target.
    """
    nodes, sizes = _interior(tree)
    backup(tree, nodes, sizes, tree.game[nodes], temperature)
    reward, known = reward_targets(tree, nodes, sizes, temperature)
    edges = tree.edges_of(nodes)
    row, slot = edges.explored.nonzero(as_tuple=True)
    action = tree.edge_action[edges.index[row, slot]]
    policy = torch.zeros(len(nodes), tree.rules.actions, device=tree.device)
    mask = torch.zeros_like(policy)
    policy[row, action] = tree.weights(edges, temperature)[row, slot]
    mask[row, action] = 1.0
    target = tree.search[nodes, Tree.TARGET]
    board = tree.rules.encode(tree.own[nodes], tree.opp[nodes])
    columns = (
        board.reshape(len(nodes), -1),
        policy / policy.sum(1, keepdim=True),
        mask,
        target / target.sum(1, keepdim=True),
        reward[nodes],
        known[nodes].to(torch.float32),
        tree.visits[nodes].to(torch.float32),
    )
    return merge([Samples(*(_array(column) for column in columns))], tree.rules.size)


def _array(column: torch.Tensor) -> np.ndarray:
    return np.ascontiguousarray(column.cpu().numpy(), dtype=np.float32)
