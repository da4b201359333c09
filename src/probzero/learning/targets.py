"""Training targets from whole search graphs: one sample for every position of which a move was explored."""

from __future__ import annotations

import torch

from probzero import wdl
from probzero.config import Targets
from probzero.learning.dataset import Samples, merge
from probzero.learning.record import Position, as_array
from probzero.search.base import GraphSearch
from probzero.search.graph import Edges, Graph


class SearchedGraph:
    """The record of particle search: the graph itself, and at which nodes moves were played."""

    def __init__(self, search: GraphSearch) -> None:
        self.graph, self.temperature = search.graph, search.settings.temperature
        self.played: list[torch.Tensor] = []  # [n]

    def note(self, position: Position) -> None:
        """Note the roots; all else is in the graph."""
        self.played.append(position.roots)

    def samples(self, result: torch.Tensor, settings: Targets) -> Samples:
        """Return the samples of the graph, whose terminals tell the results."""
        return extract(self.graph, self.temperature, settings, torch.cat(self.played))


def _interior(graph: Graph) -> tuple[torch.Tensor, list[int]]:
    """Return all nodes [n] with an explored child, deepest first, and how many share each rank."""
    nodes = torch.arange(graph.nodes, device=graph.device)
    nodes = nodes[graph.edge_count[: graph.nodes] > 0]
    nodes = nodes[graph.edge_child[graph.first_edge[nodes]] >= 0]  # explored edges come first
    rank, order = graph.rank[nodes].sort(descending=True, stable=True)
    sizes = rank.unique_consecutive(return_counts=True)[1]
    return nodes[order], sizes.tolist()


def reward_targets(
    graph: Graph, nodes: torch.Tensor, sizes: list[int], edges: Edges, weight: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Carry terminal outcomes up the graphs: reward_target [M, 3] and whether a node has one [M].

        reward_target = Σ w_i · flip(child_i.reward_target) over explored children that have one,

    with w = winner_prob, `weight` [n, K], renormalised over them. `nodes` [n], whose edges these are, come deepest
    first, `sizes` of each rank.
    """
    known = graph.evaluated[: graph.nodes] & (graph.edge_count[: graph.nodes] == 0)  # terminals
    reward = graph.search[: graph.nodes, Graph.VALUE] * known[:, None]
    parts = (part.split(sizes) for part in (nodes, edges.child, edges.explored, weight))
    for level, child, explored, shares in zip(*parts, strict=True):
        has = known[child] & explored
        reward[level] = (renormalised(shares, has)[..., None] * wdl.flip(reward[child])).sum(1)
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


def extract(graph: Graph, temperature: float, settings: Targets, played: torch.Tensor) -> Samples:
    """Settle every graph from its deepest nodes up, then return its samples, equal positions of all games merged.

    During the search a node is updated when particles pass through it; a parent that shares a child may lag behind.
    One backup over all nodes makes every value consistent with its children before it becomes a target.
    `played` [n] are the nodes at which moves were played: the only ones to give samples if so set.
    """
    nodes, sizes = _interior(graph)
    graph.backend.backup(graph, nodes, temperature)
    edges = graph.edges_of(nodes)
    weight = graph.weights(edges, temperature)
    reward, known = reward_targets(graph, nodes, sizes, edges, weight)
    chosen = edges.explored.sum(1) >= settings.least_moves
    if settings.nodes == "roots":
        chosen &= torch.isin(nodes, played)
    nodes, index, explored, weight = (part[chosen] for part in (nodes, edges.index, edges.explored, weight))
    if settings.policy == "visits":
        weight = (graph.edge_visits[index] * explored).float()
        weight = weight / weight.sum(1, keepdim=True)
    policy, mask = _by_action(graph, index, explored, weight)
    columns = (
        policy / policy.sum(1, keepdim=True),
        mask,
        _values(graph, nodes, reward, settings.value),
        reward[nodes],
        known[nodes].to(torch.float32),
        graph.visits[nodes].to(torch.float32),
    )
    return merge([Samples(graph.states(nodes).cpu().numpy(), *(as_array(column) for column in columns))])


def _by_action(
    graph: Graph, index: torch.Tensor, explored: torch.Tensor, weight: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return weights of explored edges [n, K] by action [n, A], and which actions were explored [n, A]."""
    row, slot = explored.nonzero(as_tuple=True)
    action = graph.edge_action[index[row, slot]].long()
    policy = torch.zeros(len(weight), graph.rules.actions, device=graph.device)
    mask = torch.zeros_like(policy)
    policy[row, action] = weight[row, slot]
    mask[row, action] = 1.0
    return policy, mask


def _values(graph: Graph, nodes: torch.Tensor, reward: torch.Tensor, kind: str) -> torch.Tensor:
    """Return the value targets [n, 3]; zeros, which say nothing, where there is no outcome below a node."""
    if kind == "outcome":
        return reward[nodes]
    target = graph.search[nodes, Graph.TARGET if kind == "bootstrap" else Graph.VALUE]
    return target / target.sum(1, keepdim=True)
