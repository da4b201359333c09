"""A small graph for backup, the equations read aloud in float64, and random graphs to try both on."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import numpy as np
import torch

from probzero import wdl

WON, DRAWN, LOST = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@dataclass
class SmallGraph:
    """The tensors backup works on; the arrays are exactly as long as needed, so that a stray index is an error."""

    first_edge: torch.Tensor
    edge_count: torch.Tensor
    edge_child: torch.Tensor
    edge_policy: torch.Tensor
    search: torch.Tensor
    net: torch.Tensor
    closed: torch.Tensor
    first_parent: torch.Tensor  # nobody's parents are known, unless a test says so
    next_parent: torch.Tensor
    scratch: torch.Tensor

    @property
    def most_moves(self) -> int:
        return int(self.edge_count.max())

    @staticmethod
    def build(nodes: list[dict]) -> SmallGraph:
        """Each node: edges [(child or -1, policy)], and any of value, target, value_net, reward_net, closed."""
        counts = [len(node.get("edges", [])) for node in nodes]
        edges = [edge for node in nodes for edge in node.get("edges", [])]
        plain = (0.25, 0.5, 0.25)
        return SmallGraph(
            torch.tensor([sum(counts[:i]) for i in range(len(counts))]),
            torch.tensor(counts),
            torch.tensor([child for child, _ in edges]),
            torch.tensor([policy for _, policy in edges], dtype=torch.float32),
            torch.tensor([[node.get("value", plain), node.get("target", plain)] for node in nodes]),
            torch.tensor([[node.get("value_net", plain), node.get("reward_net", plain)] for node in nodes]),
            torch.tensor([node.get("closed", False) for node in nodes]),
            torch.zeros(len(nodes), dtype=torch.int64),
            torch.zeros(len(edges), dtype=torch.int64),
            torch.zeros(len(nodes), dtype=torch.int64),
        )

    def edges(self, node: int) -> range:
        return range(int(self.first_edge[node]), int(self.first_edge[node] + self.edge_count[node]))


def slow_backup(graph: SmallGraph, levels: list[list[int]], temperature: float) -> SmallGraph:
    """The equations read aloud: a node at a time, in Python's float64; returns float64 tensors.

    Values are stored as float32 like the graph's. It matters for remnants such as 1e-50 of a draw: beside nothing but
    lost children they would take all the weight, and a float32 cannot hold them.
    """
    search, net = graph.search.double().tolist(), graph.net.double().tolist()
    policy, child = graph.edge_policy.double().tolist(), graph.edge_child.tolist()
    closed = graph.closed.tolist()
    for node in (node for level in levels for node in level):
        explored = [e for e in graph.edges(node) if child[e] >= 0]
        unexplored = [e for e in graph.edges(node) if child[e] < 0]
        mass = min(1.0, max(0.0, 1.0 - sum(policy[e] for e in unexplored)))
        raw = []
        for e in explored:
            all_others_win, no_other_loses = 1.0, 1.0
            for other in explored:
                if other != e:
                    value = search[child[other]][0]
                    all_others_win *= value[wdl.WIN] + 1e-12
                    no_other_loses *= value[wdl.WIN] + value[wdl.DRAW] + 1e-12
            value = search[child[e]][0]
            raw.append(value[wdl.DRAW] * all_others_win + value[wdl.LOSS] * no_other_loses)
        if max(raw) == 0.0:  # all lost
            raw = [1.0] * len(raw)
        raw = [(r / max(raw)) ** (1.0 / temperature) for r in raw]
        weight = [r / sum(raw) for r in raw]
        for row in (0, 1):
            for mine, theirs in ((wdl.WIN, wdl.LOSS), (wdl.DRAW, wdl.DRAW), (wdl.LOSS, wdl.WIN)):
                seen = sum(w * search[child[e]][row][theirs] for w, e in zip(weight, explored, strict=True))
                search[node][row][mine] = float(np.float32(mass * seen + (1.0 - mass) * net[node][row][mine]))
        for w, e in zip(weight, explored, strict=True):
            policy[e] = mass * w
        closed[node] = not unexplored and all(closed[child[e]] for e in explored)
    doubles = (torch.tensor(x, dtype=torch.float64) for x in (policy, search))
    new_policy, new_search = doubles
    return replace(graph, edge_policy=new_policy, search=new_search, closed=torch.tensor(closed))


def random_forest(seed: int, games: int = 4, most_edges: int = 6, depth: int = 5, width: int = 4):
    """Return graph, levels and game of each node: DAGs of several depths with their nodes and edges mixed together.

    Children are one or two ranks deeper and often shared; there are passes, terminals, unexplored edges, and nodes
    that are left untouched.
    """
    draw = random.Random(seed)
    slots = [(g, rank) for g in range(games) for rank in range(draw.randint(1, depth) + 1) for _ in range(width)]
    draw.shuffle(slots)
    deeper: dict[tuple[int, int], list[int]] = {}
    for node, slot in enumerate(slots):
        deeper.setdefault(slot, []).append(node)
    nodes: list[dict] = []
    touched: dict[int, list[int]] = {}
    for node, (game, rank) in enumerate(slots):
        triples = [torch.tensor([draw.gauss(0, 2) for _ in range(3)]).softmax(0).tolist() for _ in range(4)]
        new: dict = dict(zip(("value", "target", "value_net", "reward_net"), triples, strict=True))
        below = deeper.get((game, rank + 1), []) + deeper.get((game, rank + 2), [])
        if not below and draw.random() < 0.6:
            outcome = draw.choice([WON, DRAWN, LOST])
            new = dict.fromkeys(new, outcome) | {"closed": True}
        if below:
            count = draw.choice([1, 2, draw.randint(1, most_edges)])
            kids = draw.sample(below, min(count, len(below)))
            kids += [-1] * (count - len(kids))
            if draw.random() < 0.5:
                kids[1:] = [kid if draw.random() < 0.6 else -1 for kid in kids[1:]]
            draw.shuffle(kids)
            weights = [draw.random() + 1e-3 for _ in kids]
            new["edges"] = [(kid, w / sum(weights)) for kid, w in zip(kids, weights, strict=True)]
            if draw.random() < 0.8:
                touched.setdefault(rank, []).append(node)
        nodes.append(new)
    if not touched:  # a batch touches its roots at least
        first = next(node for node, new in enumerate(nodes) if "edges" in new)
        touched[slots[first][1]] = [first]
    levels = [touched[rank] for rank in sorted(touched, reverse=True)]
    return SmallGraph.build(nodes), levels, {node: 3 * game + 1 for node, (game, _) in enumerate(slots)}
