# mypy: disable-error-code="no-untyped-def"
"""backup as one compiled loop over the touched nodes: the path on processors. The equations are in `reference`.

The tensor operations of the reference are tiny on a processor, and calling them takes longer than doing them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from probzero import templates, wdl

weigh = templates.load("probzero.kernels.winner_prob.compiled").weigh

VALUE = 0  # that of `graph`
SIZE, LAST = wdl.SIZE, wdl.SIZE - 1


@njit(cache=True, nogil=True)
def backup(graph, nodes, exponent, most_moves):
    """Update the arrays of a `BackupGraph` for touched nodes [T], each after all those below it; exponent is 1/τ.

    Returns how many of them are closed.
    """
    search, net, closed, edge_child = graph.search, graph.net, graph.closed, graph.edge_child
    raw, explored = np.zeros(most_moves), np.zeros(most_moves, np.int64)
    children = np.zeros((most_moves, SIZE))
    shut = 0
    for node in nodes:
        first, edges = graph.first_edge[node], graph.edge_count[node]
        rest, whole, count = 0.0, True, 0
        for edge in range(first, first + edges):
            child = edge_child[edge]
            if child < 0:
                rest += graph.edge_policy[edge]
                whole = False
                continue
            whole &= closed[child]
            for outcome in range(SIZE):
                children[count, outcome] = search[child, VALUE, outcome]
            explored[count] = edge
            count += 1
        total = weigh(children, count, exponent, raw)
        rest = min(max(rest, 0.0), 1.0)
        closed[node] = whole
        shut += whole
        for slot in range(count):
            raw[slot] = (1.0 - rest) * raw[slot] / total
            graph.edge_policy[explored[slot]] = raw[slot]
        for row in range(2):
            for outcome in range(SIZE):
                blend = rest * net[node, row, outcome]
                for slot in range(count):
                    blend += raw[slot] * search[edge_child[explored[slot]], row, LAST - outcome]
                search[node, row, outcome] = blend
    return shut
