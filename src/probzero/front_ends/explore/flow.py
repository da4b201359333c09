"""The particle flow of one search: where the particles of each batch went, and what they brought back.

The real search runs, and after each of its batches the arrays of its graph are read. Nothing in its loops knows of it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from probzero.errors import bad
from probzero.kinds import plain
from probzero.search.base import GraphSearch
from probzero.search.graph import Graph
from probzero.search.particle import ParticleSearch

DIGITS = 4  # of values and weights


class Snapshot(NamedTuple):
    """What a graph says of its N reached nodes and its E explored moves after a batch, by number of node and edge."""

    nodes: np.ndarray  # [N] of the graph, the root first, then in the order in which they were first seen here
    value: np.ndarray  # [N, 3] value_search in the order of `wdl`, for the player to move at the node
    rest: np.ndarray  # [N] policy_search of the moves that are not explored
    closed: np.ndarray  # [N] bool
    edges: np.ndarray  # [E] of the graph, in the order in which they were first seen here
    ends: np.ndarray  # [E, 2] numbers of the nodes it leads from and to
    weight: np.ndarray  # [E] winner_prob
    taken: np.ndarray  # [E] particles that took it so far


class Watch:
    """Reads the graph of a search of one game as it runs."""

    def __init__(self, search: GraphSearch) -> None:
        if not isinstance(search, ParticleSearch):
            raise bad("flow", "search.algorithm", "one that sends particles", search.settings.algorithm)
        self.search, self.graph = search, search.graph
        self.nodes: dict[int, int] = {int(plain(self.graph.root)[0]): 0}  # number of each node of the graph
        self.edges: dict[int, int] = {}
        self.snapshots = [self.read()]

    def run(self, particles: int, batches: int) -> list[Snapshot]:
        """Search with so many batches; return what the graph said before the first and after each."""
        simulate = self.search.simulate

        def watched(*given: Any) -> None:
            simulate(*given)
            self.snapshots.append(self.read())

        self.search.simulate = watched  # type: ignore[method-assign, assignment]
        self.search.run(np.arange(1), particles, batches, 0)
        return self.snapshots

    def read(self) -> Snapshot:
        """Return what the graph says now; nodes and edges keep their numbers from call to call."""
        graph = self.graph
        nodes, found = [int(plain(graph.root)[0])], dict.fromkeys([int(plain(graph.root)[0])])
        ends, index, weights = [], [], []
        rest: dict[int, float] = {}  # by node of the graph
        while nodes:  # level by level, so that a parent is numbered before its children
            edges = graph.edges_of(np.array(nodes))
            weight, explored = plain(graph.weights(edges, self.search.settings.temperature)), plain(edges.explored)
            policy = plain(graph.edge_policy[edges.index]) * (plain(edges.real) & ~explored)
            rest.update(zip(nodes, policy.sum(1), strict=True))
            row, slot = np.nonzero(explored & plain(edges.real))
            child = plain(edges.child)[row, slot]
            ends += [(nodes[parent], int(to)) for parent, to in zip(row, child, strict=True)]
            index += plain(edges.index)[row, slot].tolist()
            weights += weight[row, slot].tolist()
            nodes = [node for node in dict.fromkeys(child.tolist()) if node not in found]
            found.update(dict.fromkeys(nodes))
        for node in found:
            self.nodes.setdefault(node, len(self.nodes))
        for edge in index:
            self.edges.setdefault(edge, len(self.edges))
        node_order = np.array(list(self.nodes))
        place = np.argsort([self.edges[edge] for edge in index])
        chosen = np.array(index, dtype=np.int64)[place]
        numbered = [(self.nodes[parent], self.nodes[child]) for parent, child in ends]
        return Snapshot(
            nodes=node_order,
            value=plain(graph.search[node_order, Graph.VALUE]).astype(np.float64),
            rest=np.array([rest[node] for node in self.nodes], dtype=np.float64),
            closed=plain(graph.closed[node_order]).copy(),
            edges=chosen,
            ends=np.array(numbered, dtype=np.int64).reshape(-1, 2)[place],
            weight=np.array(weights, dtype=np.float64)[place],
            taken=plain(graph.edge_visits[chosen]).copy(),
        )


def record(search: GraphSearch, particles: int, batches: int) -> dict[str, Any]:
    """Run a search of one game that was just started; return its flow as plain data.

    nodes: the notation of each position, the root first. edges: [from, to, move] by number of node. frames: before the
    first batch and after each, only what is other than before: `flow` [edge, particles of this batch], `weight`
    [edge, winner_prob], `value` [node, win, draw, loss for the player to move, unexplored policy], `closed` nodes.
    """
    watch = Watch(search)
    snapshots = watch.run(particles, batches)
    last, graph = snapshots[-1], watch.graph
    actions = plain(graph.edge_action[last.edges]).tolist()
    empty = snapshots[0]._replace(
        value=last.value[:0], rest=last.rest[:0], closed=last.closed[:0], weight=last.weight[:0], taken=last.taken[:0]
    )
    return {
        "nodes": [graph.rules.to_text(state) for state in plain(graph.states(last.nodes))],
        "edges": [
            [*pair, graph.rules.move_name(action)] for pair, action in zip(last.ends.tolist(), actions, strict=True)
        ],
        "frames": [_frame(before, now) for before, now in pairwise([empty, *snapshots])],
    }


def _frame(before: Snapshot, now: Snapshot) -> dict[str, list]:
    """Return what is other in a snapshot than in the one before, which may know fewer nodes and edges."""
    moved = now.taken.copy()
    moved[: len(before.taken)] -= before.taken
    known, value = (np.column_stack([one.value, one.rest]).round(DIGITS).tolist() for one in (before, now))
    told, weight = (one.weight.round(DIGITS).tolist() for one in (before, now))
    shut = np.flatnonzero(before.closed)
    return {
        "flow": [[int(edge), int(moved[edge])] for edge in np.flatnonzero(moved)],
        "weight": [[edge, one] for edge, one in enumerate(weight) if told[edge : edge + 1] != [one]],
        "value": [[node, *row] for node, row in enumerate(value) if known[node : node + 1] != [row]],
        "closed": np.setdiff1d(np.flatnonzero(now.closed), shut).tolist(),
    }
