# mypy: disable-error-code="no-untyped-def"
"""backup as one compiled loop over the touched nodes: the path on processors. The equations are in `reference`.

The tensor operations of the reference are tiny on a processor, and calling them takes longer than doing them.
"""

from __future__ import annotations

import numpy as np
import torch
from numba import njit

from probzero import wdl
from probzero.kernels.backup.tree import VALUE, BackupTree
from probzero.kernels.winner_prob.reference import EPS, LOST_RAW, RATIO_FLOOR

WIN, DRAW, LOSS = wdl.WIN, wdl.DRAW, wdl.LOSS
LAST = wdl.SIZE - 1


def backup(tree: BackupTree, nodes: torch.Tensor, temperature: float) -> None:
    """Update `tree` in place for touched nodes [T], each after all those below it."""
    arrays = (tree.first_edge, tree.edge_count, tree.edge_child, tree.edge_policy, tree.search, tree.net, tree.closed)
    _walk(nodes.numpy(), 1.0 / temperature, *(array.numpy() for array in arrays))


@njit(cache=True, nogil=True)
def _walk(nodes, exponent, first_edge, edge_count, edge_child, edge_policy, search, net, closed):
    raw = np.zeros(edge_count[nodes].max() if len(nodes) else 0)
    for node in nodes:
        first, edges = first_edge[node], edge_count[node]
        rest, ratio, whole = 0.0, 1.0, True
        for slot in range(edges):
            child = edge_child[first + slot]
            if child < 0:
                rest += edge_policy[first + slot]
                whole = False
                continue
            whole &= closed[child]
            win = search[child, VALUE, WIN] + EPS
            ratio *= win / (win + search[child, VALUE, DRAW])
        ratio = max(ratio, RATIO_FLOOR)
        largest = 0.0
        for slot in range(edges):
            child = edge_child[first + slot]
            if child >= 0:
                win, draw = search[child, VALUE, WIN] + EPS, np.float64(search[child, VALUE, DRAW])
                raw[slot] = draw / win * ratio + search[child, VALUE, LOSS] / (win + draw)
                largest = max(largest, raw[slot])
        total = 0.0
        for slot in range(edges):
            if edge_child[first + slot] >= 0:
                if exponent != 1.0 and largest > 0:
                    raw[slot] = (raw[slot] / largest) ** exponent
                raw[slot] += LOST_RAW
                total += raw[slot]
        rest = min(max(rest, 0.0), 1.0)
        closed[node] = whole
        for row in range(2):
            for outcome in range(wdl.SIZE):
                blend = rest * net[node, row, outcome]
                for slot in range(edges):
                    child = edge_child[first + slot]
                    if child >= 0:
                        blend += (1.0 - rest) * raw[slot] / total * search[child, row, LAST - outcome]
                search[node, row, outcome] = blend
        for slot in range(edges):
            if edge_child[first + slot] >= 0:
                edge_policy[first + slot] = (1.0 - rest) * raw[slot] / total
