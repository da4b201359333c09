# mypy: disable-error-code="no-untyped-def"
"""The rules of Gumbel AlphaZero, compiled; `search/gumbel.py` has the formulas. There is no tensor form."""

from __future__ import annotations

import numpy as np
from numba import njit

from probzero import wdl

WIN, LOSS = wdl.WIN, wdl.LOSS
LEAST = 1e-30  # a prior that was rounded to nothing


@njit(nogil=True)
def _logits(graph, results, rule, node, logits):
    """Fill log π + σ(completed q) for the moves of an evaluated node; return Σ N."""
    first, count = graph.first_edge[node], graph.edge_count[node]
    total = most = 0
    weight = mean = 0.0
    for edge in range(first, first + count):
        visits = graph.edge_visits[edge]
        total += visits
        most = max(most, visits)
        if visits > 0:
            prior = max(graph.edge_policy[edge], LEAST)
            weight += prior
            mean += prior * results.edge_value[edge] / visits
    mixed = graph.net[node, 0, WIN] - graph.net[node, 0, LOSS]
    if total > 0:
        mixed = (mixed + total * mean / weight) / (total + 1)
    for slot in range(count):
        edge = first + slot
        visits = graph.edge_visits[edge]
        q = results.edge_value[edge] / visits if visits > 0 else mixed
        logits[slot] = np.log(max(graph.edge_policy[edge], LEAST)) + (rule.visits + most) * rule.scale * q
    return total


@njit(nogil=True)
def _normalise(logits, count):
    """Make a softmax of the first `count` logits, in place."""
    largest = -np.inf
    for slot in range(count):
        largest = max(largest, logits[slot])
    total = 0.0
    for slot in range(count):
        logits[slot] = np.exp(logits[slot] - largest)
        total += logits[slot]
    for slot in range(count):
        logits[slot] /= total


@njit(nogil=True)
def _inner_move(graph, results, rule, node, policy):
    """Return the slot of the largest π′ − N / (1 + Σ N)."""
    total, count = _logits(graph, results, rule, node, policy), graph.edge_count[node]
    _normalise(policy, count)
    chosen, highest = 0, -np.inf
    for slot in range(count):
        score = policy[slot] - graph.edge_visits[graph.first_edge[node] + slot] / (1.0 + total)
        if score > highest:
            chosen, highest = slot, score
    return chosen


@njit(nogil=True)
def _best(score, visits, count, wanted):
    """Return the slot of the largest score among the first `count` with so many visits; −1 if there is none."""
    chosen = -1
    for slot in range(count):
        if visits[slot] == wanted and (chosen < 0 or score[slot] > score[chosen]):
            chosen = slot
    return chosen


@njit(nogil=True)
def _root(graph, results, roots, rule, node, game, score, visits):
    """Fill g + log π + σ(q) and the visits of this search for the moves of a root."""
    _logits(graph, results, rule, node, score)
    for slot in range(graph.edge_count[node]):
        score[slot] += roots.noise[game, slot]
        visits[slot] = graph.edge_visits[graph.first_edge[node] + slot] - roots.before[game, slot]


@njit(cache=True, nogil=True)
def select(graph, results, roots, rule, stage, nodes, games, most, path, leaves, source):
    """`Backend.select_improved`: fill path, leaves and source (which root) row by row; return how many there are."""
    widest = roots.noise.shape[1]
    score, policy, visits = np.empty(widest), np.empty(widest), np.empty(widest, np.int64)
    row = 0
    for number in range(len(nodes)):
        root, game = nodes[number], games[number]
        count = graph.edge_count[root]
        wanted, places = stage[min(rule.moves, count)]
        _root(graph, results, roots, rule, root, game, score, visits)
        for _ in range(min(places, most[number])):
            slot = _best(score, visits, count, wanted)
            if slot < 0:
                break
            visits[slot] = -1  # taken in this round
            node, depth = root, 0
            while True:
                edge = graph.first_edge[node] + slot
                path[row, depth] = edge
                depth += 1
                if graph.edge_child[edge] < 0:
                    graph.edge_child[edge] = ~graph.edge_child[edge]
                node = graph.edge_child[edge]
                if not graph.evaluated[node] or graph.edge_count[node] == 0:
                    break
                slot = _inner_move(graph, results, rule, node, policy)
            leaves[row], source[row] = node, number
            row += 1
    return row


@njit(cache=True, nogil=True)
def improve(graph, results, roots, rule, nodes, games, best, policy):
    """`Backend.improve`: fill best and policy [n, K], 0 where there is no move."""
    widest = roots.noise.shape[1]
    score, visits = np.empty(widest), np.empty(widest, np.int64)
    for number in range(len(nodes)):
        node, count = nodes[number], graph.edge_count[nodes[number]]
        _root(graph, results, roots, rule, node, games[number], score, visits)
        best[number, _best(score, visits, count, visits[:count].max())] = 1.0
        _logits(graph, results, rule, node, policy[number])
        _normalise(policy[number], count)
