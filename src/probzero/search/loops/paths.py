# mypy: disable-error-code="no-untyped-def"
"""The paths of MCTS, compiled; `backends/tensor.py` has the same in tensor operations."""

from __future__ import annotations

import numpy as np
from numba import njit

PUCT_BASE = 19652.0  # that of `scores`
NO_EDGE = 0  # that of `graph`


@njit(forceinline=True)
def _score(visits, total, value, prior, mean, low, high, scoring):
    """`scores.scores` for one move of a node whose mean result is `mean`."""
    if visits == 0 and (scoring.ucb or scoring.untried_first):
        return np.inf
    q = 0.0
    if visits > 0:
        q = value / visits
    elif scoring.untried_parent and total > 0:
        q = mean - scoring.reduction
    c = scoring.constant
    if scoring.ucb:
        return (1 + q) / 2 + c * np.sqrt(np.log(total) / visits)
    if scoring.minmax and visits > 0 and high > low:
        q = (q - low) / (high - low)
    if scoring.logarithmic:
        c += np.log((total + PUCT_BASE + 1) / PUCT_BASE)
    return q + c * prior * np.sqrt(total) / (1 + visits)


@njit(cache=True, nogil=True)
def select(graph, results, scoring, roots, games, path, leaves):
    """`Backend.select`: fill path [n, depth] (NO_EDGE after the last) and leaves [n]; edges taken are explored.

    Each row sees the virtual losses of those before it."""
    for row in range(len(roots)):
        node, depth = roots[row], 0
        low, high = results.low[games[row]], results.high[games[row]]
        while graph.evaluated[node] and graph.edge_count[node] > 0:
            start, end = graph.first_edge[node], graph.first_edge[node] + graph.edge_count[node]
            total, mean = 0, 0.0
            for edge in range(start, end):
                total += graph.edge_visits[edge]
                mean += results.edge_value[edge]
            mean /= max(total, 1)
            chosen, highest = start, -np.inf
            for edge in range(start, end):
                visits, prior = graph.edge_visits[edge], graph.edge_policy[edge]
                score = _score(visits, total, results.edge_value[edge], prior, mean, low, high, scoring)
                if score > highest:
                    chosen, highest = edge, score
            path[row, depth] = chosen
            depth += 1
            graph.edge_visits[chosen] += scoring.virtual_loss
            results.edge_value[chosen] -= scoring.virtual_loss
            if graph.edge_child[chosen] < 0:
                graph.edge_child[chosen] = ~graph.edge_child[chosen]
            node = graph.edge_child[chosen]
        leaves[row] = node


@njit(cache=True, nogil=True)
def add_results(graph, results, virtual_loss, roots, games, path, result):
    """`Backend.add_results`: carry results [n], seen by the players to move at the leaves, up their paths."""
    low, high = results.low, results.high
    if virtual_loss > 0:  # all are taken back before any mean is looked at
        for row in range(len(path)):
            for edge in path[row]:
                if edge == NO_EDGE:
                    break
                graph.edge_visits[edge] -= virtual_loss
                results.edge_value[edge] += virtual_loss
    for row in range(len(path)):
        graph.visits[roots[row]] += 1
        depth = 0
        while depth < path.shape[1] and path[row, depth] != NO_EDGE:
            depth += 1
        value, game = result[row], games[row]
        for step in range(depth - 1, -1, -1):
            edge = path[row, step]
            value = -value
            graph.edge_visits[edge] += 1
            results.edge_value[edge] += value
            graph.visits[graph.edge_child[edge]] += 1
            mean = results.edge_value[edge] / graph.edge_visits[edge]
            low[game] = min(low[game], mean)
            high[game] = max(high[game], mean)
