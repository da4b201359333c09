"""Training targets from whole search graphs: one sample for every position of which a move was explored."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch

from probzero import wdl
from probzero.config import Targets
from probzero.kernels.backup import backup
from probzero.learning.dataset import Samples, merge
from probzero.search.choice import Moves
from probzero.search.tree import Edges, Tree


@dataclass
class SearchedGraph:
    """The record of particle search: the graph itself, and at which nodes moves were played."""

    tree: Tree
    temperature: float
    played: list[torch.Tensor] = field(default_factory=list)  # [n]

    def note(
        self, games: torch.Tensor, own: torch.Tensor, opp: torch.Tensor, moves: Moves, value: torch.Tensor
    ) -> None:
        """Note the roots of games [n]; all else is in the graph."""
        self.played.append(self.tree.root[games])

    def samples(self, result: torch.Tensor, settings: Targets) -> Samples:
        """Return the samples of the graph, whose terminals tell the results."""
        return extract(self.tree, self.temperature, settings, torch.cat(self.played))


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


def extract(tree: Tree, temperature: float, settings: Targets, played: torch.Tensor) -> Samples:
    """Settle every graph from its deepest nodes up, then return its samples, equal positions of all games merged.

    During the search a node is updated when particles pass through it; a parent that shares a child may lag behind.
    One backup over all nodes makes every value consistent with its children before it becomes a target.
    `played` [n] are the nodes at which moves were played: the only ones to give samples if so set.
    """
    nodes, sizes = _interior(tree)
    backup(tree, nodes, sizes, tree.game(nodes), temperature)
    reward, known = reward_targets(tree, nodes, sizes, temperature)
    if settings.nodes == "roots":
        nodes = nodes[torch.isin(nodes, played)]
    edges = tree.edges_of(nodes)
    if settings.least_moves > 1:
        nodes = nodes[edges.explored.sum(1) >= settings.least_moves]
        edges = tree.edges_of(nodes)
    policy, mask = _policies(tree, edges, _move_weights(tree, edges, temperature, settings.policy))
    board = tree.rules.encode(tree.own[nodes], tree.opp[nodes])
    columns = (
        board.reshape(len(nodes), -1),
        policy / policy.sum(1, keepdim=True),
        mask,
        _values(tree, nodes, reward, settings.value),
        reward[nodes],
        known[nodes].to(torch.float32),
        tree.visits[nodes].to(torch.float32),
    )
    return merge([Samples(*(as_array(column) for column in columns))], tree.rules.size)


def _move_weights(tree: Tree, edges: Edges, temperature: float, kind: str) -> torch.Tensor:
    """Return the targets [n, K] of the explored moves: winner_prob, or shares of the particles that took them."""
    if kind == "winner":
        return tree.weights(edges, temperature)
    visits = (tree.edge_visits[edges.index] * edges.explored).float()
    return visits / visits.sum(1, keepdim=True)


def _policies(tree: Tree, edges: Edges, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return weights of explored edges [n, K] by action [n, A], and which actions were explored [n, A]."""
    row, slot = edges.explored.nonzero(as_tuple=True)
    action = tree.edge_action[edges.index[row, slot]].long()
    policy = torch.zeros(len(weight), tree.rules.actions, device=tree.device)
    mask = torch.zeros_like(policy)
    policy[row, action] = weight[row, slot]
    mask[row, action] = 1.0
    return policy, mask


def _values(tree: Tree, nodes: torch.Tensor, reward: torch.Tensor, kind: str) -> torch.Tensor:
    """Return the value targets [n, 3]; zeros, which say nothing, where there is no outcome below a node."""
    if kind == "outcome":
        return reward[nodes]
    target = tree.search[nodes, Tree.TARGET if kind == "bootstrap" else Tree.VALUE]
    return target / target.sum(1, keepdim=True)


def as_array(column: torch.Tensor) -> np.ndarray:
    return np.ascontiguousarray(column.cpu().numpy(), dtype=np.float32)
