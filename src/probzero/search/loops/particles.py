# mypy: disable-error-code="no-untyped-def"
"""Particles on their way down, compiled; `backends/tensor.py` has the same in tensor operations."""

from __future__ import annotations

import numpy as np
from numba import njit

from probzero import templates

table = templates.load("probzero.search.loops.hashing")
mixed, uniform = table.mixed, table.uniform

SPLITTINGS = {"systematic": 0, "multinomial": 1}  # the schemes of `splitting` that there are here
SYSTEMATIC = 0


@njit(nogil=True)
def _divide(share, count, volume, drawn_key, splitting):
    """Turn weights share[: len(count)] into particle counts; see `splitting` for the schemes."""
    total = 0.0
    for slot in range(len(count)):
        total += share[slot]
        share[slot] = total  # from here on the running sum
        count[slot] = 0
    if total == 0:
        return
    if splitting == SYSTEMATIC:
        drawn = uniform(mixed(drawn_key, np.uint64(0)))
        before = 0
        for slot in range(len(count)):
            upto = min(volume, np.int64(share[slot] / total * volume + drawn))
            count[slot] = upto - before
            before = upto
        return
    first = mixed(drawn_key, np.uint64(0))
    for particle in range(volume):
        drawn = uniform(mixed(np.uint64(particle), first))
        for slot in range(len(count)):
            if drawn < share[slot] / total:
                count[slot] += 1
                break


@njit(cache=True, nogil=True)
def descend(graph, roots, particles, splitting, salt, most_moves, touched, leaves):
    """`Backend.descend`: fill leaves, and touched from its end (a game's nodes by falling rank); return how many.

    `rank_heads` and `scratch` of the graph are lists of waiting nodes, one for each rank.
    """
    heads, following = graph.rank_heads, graph.scratch
    closed, evaluated, rank, volume, visits = graph.closed, graph.evaluated, graph.rank, graph.volume, graph.visits
    edge_child = graph.edge_child
    split = found = 0
    share, counts = np.zeros(most_moves), np.zeros(most_moves, np.int64)
    for game in range(len(roots)):
        root = roots[game]
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
                _divide(share, count, waiting, np.uint64(graph.key[node] ^ salt), splitting)
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
