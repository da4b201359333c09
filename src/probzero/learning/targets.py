"""Training targets from whole search graphs: one sample for every position of which a move was explored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

from probzero import wdl
from probzero.config import Targets
from probzero.kinds import Array, cast, count_up, pick, plain, space
from probzero.learning.dataset import Samples, merge
from probzero.learning.record import Position, as_array
from probzero.search.base import GraphSearch
from probzero.search.graph import Edges, Graph


class SearchedGraph:
    """The record of particle search: the graph itself, and at which nodes moves were played."""

    def __init__(self, search: GraphSearch) -> None:
        self.graph, self.temperature = search.graph, search.settings.temperature
        self.played: list[Array] = []  # [n]

    def note(self, position: Position) -> None:
        """Note the roots; all else is in the graph."""
        self.played.append(position.roots)

    def samples(self, result: Array, settings: Targets) -> Samples:
        """Return the samples of the graph, whose terminals tell the results."""
        return extract(self.graph, self.temperature, settings, space(result).concatenate(self.played))


def _interior(graph: Graph) -> tuple[Array, list[int]]:
    """Return all nodes [n] with an explored child, deepest first, and how many share each rank."""
    nodes = count_up(graph.root, graph.nodes)
    nodes = nodes[graph.edge_count[: graph.nodes] > 0]
    nodes = nodes[graph.edge_child[graph.first_edge[nodes]] >= 0]  # explored edges come first
    xp, depth = space(nodes), -cast(graph.rank[nodes], "int64")
    sizes = plain(xp.unique(depth, return_counts=True)[1])
    return nodes[xp.argsort(depth, axis=0, stable=True)], sizes.tolist()


def reward_targets(graph: Graph, nodes: Array, sizes: list[int], edges: Edges, weight: Array) -> tuple[Array, Array]:
    """Carry terminal outcomes up the graphs: reward_target [M, 3] and whether a node has one [M].

        reward_target = Σ w_i · flip(child_i.reward_target) over explored children that have one,

    with w = winner_prob, `weight` [n, K], renormalised over them. `nodes` [n], whose edges these are, come deepest
    first, `sizes` of each rank.
    """
    known = graph.evaluated[: graph.nodes] & (graph.edge_count[: graph.nodes] == 0)  # terminals
    reward = graph.search[: graph.nodes, Graph.VALUE] * known[:, None]
    first = 0
    for size in sizes:
        rows = slice(first, first + size)
        first += size
        level, child, explored, shares = (part[rows] for part in (nodes, edges.child, edges.explored, weight))
        has = known[child] & explored
        reward[level] = (renormalised(shares, has)[..., None] * wdl.flip(reward[child])).sum(1)
        known[level] = has.any(1)
    return reward, known


def renormalised(weight: Array, has: Array) -> Array:
    """Return weights [n, K] over the columns that `has` [n, K] marks, summing to 1 where there is one.

    Weights may be as small as float32 goes, so they are divided in float64; where all are 0 the marked ones share.
    """
    xp, weight = space(weight), cast(weight, "float64") * has
    total = weight.sum(1, keepdims=True)
    even = has / has.sum(1, keepdims=True).clip(min=1)
    return cast(xp.where(total > 0, weight / xp.where(total > 0, total, 1.0), even), "float32")


def extract(graph: Graph, temperature: float, settings: Targets, played: Array) -> Samples:
    """Settle every graph from its deepest nodes up, then return its samples, equal positions of all games merged.

    During the search a node is updated when particles pass through it; a parent that shares a child may lag behind.
    One backup over all nodes makes every value consistent with its children before it becomes a target.
    `played` [n] are the nodes at which moves were played: the only ones to give samples if so set.
    """
    nodes, sizes = _interior(graph)
    graph.backend.renew(graph, nodes, temperature)
    edges = graph.edges_of(nodes)
    weight = graph.weights(edges, temperature)
    reward, known = reward_targets(graph, nodes, sizes, edges, weight)
    chosen = edges.explored.sum(1) >= settings.least_moves
    chosen &= NODES[settings.nodes](nodes, played)
    nodes, weight = nodes[chosen], weight[chosen]
    edges = Edges(*(getattr(edges, field.name)[chosen] for field in fields(edges)))
    weight = POLICIES[settings.policy](weight, graph.edge_visits[edges.index] * edges.explored)
    order = _by_rising_action(graph, edges)
    policy, mask = (pick(column, order) for column in (weight, edges.explored))
    columns = (
        _shares(policy),
        mask,
        VALUES[settings.value](graph, nodes, reward),
        reward[nodes],
        cast(known[nodes], "float32"),
        cast(graph.visits[nodes], "float32"),
    )
    return merge([Samples(plain(graph.states(nodes)), *(as_array(column) for column in columns))])


def _by_rising_action(graph: Graph, edges: Edges) -> Array:
    """Return the order [n, K] in which edges are sorted by action, those that are not real last."""
    action = cast(graph.edge_action[edges.index], "int64")
    xp = space(action)
    return xp.argsort(xp.where(edges.real, action, graph.rules.actions), axis=1, stable=True)


def _shares(numbers: Array) -> Array:
    return numbers / numbers.sum(1, keepdims=True)


# Targets by the names that the configuration gives them. Which of nodes [n] give samples [n]:
NODES: dict[str, Callable[[Array, Array], Array]] = {
    "tree": lambda nodes, played: nodes >= 0,
    "roots": lambda nodes, played: space(nodes).isin(nodes, played),
}
# Policies [n, K] from winner_prob and visits of the explored moves, both [n, K]:
POLICIES: dict[str, Callable[[Array, Array], Array]] = {
    "winner": lambda weight, visits: weight,
    "visits": lambda weight, visits: _shares(cast(visits, "float32")),
}
# Values [n, 3] of nodes [n]; an outcome of zeros, which says nothing, where there is none below a node:
VALUES: dict[str, Callable[[Graph, Array, Array], Array]] = {
    "bootstrap": lambda graph, nodes, reward: _shares(graph.search[nodes, Graph.TARGET]),
    "search": lambda graph, nodes, reward: _shares(graph.search[nodes, Graph.VALUE]),
    "outcome": lambda graph, nodes, reward: reward[nodes],
}
