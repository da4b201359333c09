"""Training targets from whole search graphs: one sample for every position of which a move was explored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

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
    chosen &= NODES[settings.nodes](nodes, played)
    nodes, weight = nodes[chosen], weight[chosen]
    edges = Edges(*(getattr(edges, field.name)[chosen] for field in fields(edges)))
    weight = POLICIES[settings.policy](weight, graph.edge_visits[edges.index] * edges.explored)
    order = _by_rising_action(graph, edges)
    policy, mask = (column.gather(1, order) for column in (weight, edges.explored))
    columns = (
        _shares(policy),
        mask,
        VALUES[settings.value](graph, nodes, reward),
        reward[nodes],
        known[nodes].to(torch.float32),
        graph.visits[nodes].to(torch.float32),
    )
    return merge([Samples(graph.states(nodes).cpu().numpy(), *(as_array(column) for column in columns))])


def _by_rising_action(graph: Graph, edges: Edges) -> torch.Tensor:
    """Return the order [n, K] in which edges are sorted by action, those that are not real last."""
    action = graph.edge_action[edges.index].long()
    return torch.where(edges.real, action, graph.rules.actions).argsort(dim=1)


def _shares(numbers: torch.Tensor) -> torch.Tensor:
    return numbers / numbers.sum(1, keepdim=True)


# Targets by the names that the configuration gives them. Which of nodes [n] give samples [n]:
NODES: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "tree": lambda nodes, played: torch.ones_like(nodes, dtype=torch.bool),
    "roots": torch.isin,
}
# Policies [n, K] from winner_prob and visits of the explored moves, both [n, K]:
POLICIES: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "winner": lambda weight, visits: weight,
    "visits": lambda weight, visits: _shares(visits.float()),
}
# Values [n, 3] of nodes [n]; an outcome of zeros, which says nothing, where there is none below a node:
VALUES: dict[str, Callable[[Graph, torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "bootstrap": lambda graph, nodes, reward: _shares(graph.search[nodes, Graph.TARGET]),
    "search": lambda graph, nodes, reward: _shares(graph.search[nodes, Graph.VALUE]),
    "outcome": lambda graph, nodes, reward: reward[nodes],
}
