# mypy: disable-error-code="no-untyped-def"
"""The sequential form of the inner loops of MCTS, compiled for processors; `compiled` says why."""

from __future__ import annotations

import numpy as np
from numba import njit

PUCT_BASE = 19652.0  # of the logarithmic growth of PUCT's constant


@njit(cache=True, nogil=True)
def _score(visits, total, value, prior, low, high, ucb, c, logarithmic, minmax, first):
    """`scores.scores` for one move."""
    if visits == 0 and (ucb or first):
        return np.inf
    q = value / visits if visits > 0 else 0.0
    if ucb:
        return (1 + q) / 2 + c * np.sqrt(np.log(total) / visits)
    if minmax and visits > 0 and high > low:
        q = (q - low) / (high - low)
    if logarithmic:
        c += np.log((total + PUCT_BASE + 1) / PUCT_BASE)
    return q + c * prior * np.sqrt(total) / (1 + visits)


@njit(cache=True, nogil=True)
def select(
    roots, games, low, high, ucb, c, logarithmic, minmax, first, evaluated, first_edge, edge_count, edge_child,
    edge_policy, edge_visits, edge_value, path, leaves,
):  # fmt: skip
    """`mcts.select_in_step`: fill path [n, depth] (0 after the last edge) and leaves [n]; edges taken are explored."""
    for row in range(len(roots)):
        node, depth = roots[row], 0
        game = games[row]
        while evaluated[node] and edge_count[node] > 0:
            start = first_edge[node]
            total = 0
            for edge in range(start, start + edge_count[node]):
                total += edge_visits[edge]
            chosen, highest = start, -np.inf
            for edge in range(start, start + edge_count[node]):
                score = _score(
                    edge_visits[edge], total, edge_value[edge], edge_policy[edge], low[game], high[game],
                    ucb, c, logarithmic, minmax, first,
                )  # fmt: skip
                if score > highest:
                    chosen, highest = edge, score
            path[row, depth] = chosen
            depth += 1
            if edge_child[chosen] < 0:
                edge_child[chosen] = ~edge_child[chosen]
            node = edge_child[chosen]
        leaves[row] = node


@njit(cache=True, nogil=True)
def add_results(roots, path, result, games, low, high, edge_child, edge_visits, edge_value, visits):
    """`mcts.add_results_in_step`: carry results [n], seen by the players to move at the leaves, up their paths."""
    for row in range(len(path)):
        visits[roots[row]] += 1
        depth = 0
        while depth < path.shape[1] and path[row, depth] > 0:
            depth += 1
        value, game = result[row], games[row]
        for step in range(depth - 1, -1, -1):
            edge = path[row, step]
            value = -value
            edge_visits[edge] += 1
            edge_value[edge] += value
            visits[edge_child[edge]] += 1
            mean = edge_value[edge] / edge_visits[edge]
            low[game] = min(low[game], mean)
            high[game] = max(high[game], mean)
