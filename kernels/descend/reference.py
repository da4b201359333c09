"""descend in plain torch, rank by rank over all games at once: the oracle of the tests.

V particles at a node are split in proportion to policy_search P (`splitting` has the schemes):

    may_i    = move i is unexplored, or its child is not closed
    share_i  = P_i · may_i / Σ_j P_j · may_j           (may_i / Σ_j may_j if all of them are 0)
    V_i      = ⌊V · Σ_{j≤i} share_j + u⌋ − ⌊V · Σ_{j<i} share_j + u⌋      with one draw u in [0, 1) for each node
    V_i      ← ⌊B / m⌋ + (i is among the first B mod m)       for the m unexplored moves, B the sum of what they had

so that Σ V_i = V. A child that was evaluated hands on what all its parents gave it, one that was not is a leaf.
"""

from __future__ import annotations

import torch

from probzero.kernels.descend.descent_graph import DescentGraph
from probzero.kernels.descend.splitting import SPLITTERS, Splitter, check


def descend(
    graph: DescentGraph, roots: torch.Tensor, particles: torch.Tensor, most: int, splitting: str, salt: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Send particles [n], at most `most` each, down from roots [n] of different games.

    Returns the nodes split last [n] (those split before follow in `scratch`), −1 if none was, and the leaves [n, most],
    −1 after the last."""
    check(splitting, SPLITTERS)
    graph.volume[roots] = particles.to(torch.int32)
    touched = torch.full_like(roots, -1)
    row = (particles > 0).nonzero()[:, 0]
    waiting = roots[row]
    found = [(waiting[:0], row[:0])]
    while len(waiting):
        rank = graph.rank[waiting]
        now = rank == rank.min()
        node, its_row = waiting[now], row[now]
        _chain(graph.scratch, touched, node, its_row)
        child, count, parent = _split(graph, node, SPLITTERS[splitting], salt)
        stopped = graph.evaluated[child] & graph.closed[child]  # closed from elsewhere: nothing to do below it
        graph.visits.index_add_(0, child[stopped], count[stopped])
        child, count, its_row = child[~stopped], count[~stopped], its_row[parent[~stopped]]
        unseen = graph.volume[child] == 0
        graph.volume.index_add_(0, child, count)
        child, its_row = _distinct(child[unseen], its_row[unseen])
        known = graph.evaluated[child]
        found.append((child[~known], its_row[~known]))
        waiting, row = torch.cat([waiting[~now], child[known]]), torch.cat([row[~now], its_row[known]])
    leaf, row = (torch.cat(parts) for parts in zip(*found, strict=True))
    _arrive(graph, leaf)
    row, order = row.sort(stable=True)
    leaves = torch.full((len(roots), most), -1, dtype=torch.int64, device=roots.device)
    leaves[row, torch.arange(len(row), device=row.device) - torch.searchsorted(row, row)] = leaf[order]
    return touched, leaves


def _chain(scratch: torch.Tensor, touched: torch.Tensor, node: torch.Tensor, row: torch.Tensor) -> None:
    """Put nodes [k], of the games in rows [k], before those that were split earlier."""
    row, order = row.sort(stable=True)
    node = node[order]
    before = touched[row]
    again = row[1:] == row[:-1]
    before[1:] = torch.where(again, node[:-1], before[1:])
    scratch[node] = before
    last = torch.nn.functional.pad(~again, (0, 1), value=True)
    touched[row[last]] = node[last]


def _distinct(node: torch.Tensor, row: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return nodes [k] without repetitions, and their rows."""
    node, order = node.sort(stable=True)
    first = torch.nn.functional.pad(node[1:] != node[:-1], (1, 0), value=True)[: len(node)]
    return node[first], row[order][first]


def _arrive(graph: DescentGraph, nodes: torch.Tensor) -> torch.Tensor:
    """Count the particles waiting at distinct nodes [n] as visits; return how many they were [n]."""
    volume = graph.volume[nodes]
    graph.volume[nodes] = 0
    graph.visits[nodes] += volume
    return volume.long()


def _split(
    graph: DescentGraph, nodes: torch.Tensor, splitter: Splitter, salt: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Divide the particles waiting at nodes [n]; return who receives how many from whom: children, counts, rows [k]."""
    volume = _arrive(graph, nodes)
    slot = torch.arange(int(graph.edge_count[nodes].max()), device=nodes.device)
    real = slot < graph.edge_count[nodes][:, None]
    index = torch.where(real, graph.first_edge[nodes][:, None] + slot, graph.first_edge[nodes][:, None])
    child = graph.edge_child[index]
    unexplored = real & (child < 0)
    child = child ^ (child >> 63)  # undoes ~
    may = unexplored | (real & ~graph.closed[child])
    share = graph.edge_policy[index] * may
    share = torch.where(share.any(1, keepdim=True), share, may.to(share.dtype))
    count = splitter(share, volume, graph.key[nodes], salt)
    untried = unexplored.sum(1, keepdim=True).clamp(min=1)
    bucket = (count * unexplored).sum(1, keepdim=True)
    turn = unexplored.cumsum(1) - 1  # 0 for the unexplored move with the highest prior
    handed = bucket // untried + (turn < bucket % untried)
    count = torch.where(unexplored, handed, count)
    given = count > 0
    child, taken, count = child[given], index[given], count[given].to(torch.int32)
    graph.edge_child[taken] = child  # explored from now on
    graph.edge_visits[taken] += count
    return child, count, given.nonzero()[:, 0]
