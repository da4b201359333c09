# mypy: disable-error-code="no-untyped-def"
"""Particles on their way down, compiled; `backends/tensor.py` has the same in tensor operations."""

from __future__ import annotations

import numpy as np
from numba import njit

divide = globals()["divide"]  # a scheme of `loops/splitting.py`, given by the loader


@njit(cache=True, nogil=True)
def descend(graph, roots, particles, salt, most_moves, touched, leaves):
    """`Backend.descend`: fill leaves, and touched from its end (a game's nodes by falling rank); return how many.

    A row of `rank_heads` and `scratch` of the graph are lists of waiting nodes, one for each rank. Roots without
    particles are left alone.
    """
    heads, following = graph.rank_heads[0], graph.scratch
    closed, evaluated, rank, volume, visits = graph.closed, graph.evaluated, graph.rank, graph.volume, graph.visits
    edge_child = graph.edge_child
    split = found = 0
    share, counts = np.zeros(most_moves), np.zeros(most_moves, np.int64)
    for game in range(len(roots)):
        root = roots[game]
        if particles[game] == 0:
            continue
        volume[root] = particles[game]
        heads[rank[root]] = root
        following[root] = -1
        for level in range(rank[root], len(heads)):
            while heads[level] >= 0:
                node = heads[level]
                heads[level] = following[node]
                split += 1
                touched[-split] = node
                waiting = volume[node]
                volume[node] = 0
                visits[node] += waiting
                edges, first = graph.edge_count[node], graph.first_edge[node]
                weighty = False
                untried = 0
                for slot in range(edges):
                    child = edge_child[first + slot]
                    untried += child < 0
                    may = child < 0 or not closed[child]
                    share[slot] = graph.edge_policy[first + slot] if may else 0.0
                    weighty |= share[slot] > 0
                if not weighty:
                    for slot in range(edges):
                        child = edge_child[first + slot]
                        share[slot] = 1.0 if child < 0 or not closed[child] else 0.0
                count = counts[:edges]
                divide(share, count, waiting, np.uint64(graph.key[node] ^ salt))
                bucket = 0
                for slot in range(edges):
                    if edge_child[first + slot] < 0:
                        bucket += count[slot]
                turn = 0  # 0 for the unexplored move with the highest prior
                for slot in range(edges):
                    child = edge_child[first + slot]
                    given = count[slot]
                    if child < 0:
                        given = bucket // untried + (turn < bucket % untried)
                        turn += 1
                        child = ~child
                    if given == 0:
                        continue
                    edge_child[first + slot] = child  # explored from now on
                    graph.edge_visits[first + slot] += given
                    if not evaluated[child]:
                        if volume[child] == 0:
                            leaves[found] = child
                            found += 1
                        volume[child] += given
                    elif closed[child]:  # a shared child that was closed from elsewhere: nothing to do below it
                        visits[child] += given
                    else:
                        if volume[child] == 0:
                            following[child] = heads[rank[child]]
                            heads[rank[child]] = child
                        volume[child] += given
    for leaf in leaves[:found]:
        visits[leaf] += volume[leaf]
        volume[leaf] = 0
    return split, found
