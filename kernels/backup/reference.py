"""backup in plain torch: the oracle of the tests.

For a touched node with explored edges C (all of them, not only those touched), w = winner_prob over C by the
children's value_search, and m the explored mass:

    m                 = clamp(1 − Σ_{edges not in C} policy_search, 0, 1)
    policy_search[C] ← m · w
    value_search     ← m · Σ_C w_i · flip(child_i.value_search) + (1 − m) · value_net
    value_target     ← m · Σ_C w_i · flip(child_i.value_target) + (1 − m) · reward_net
    closed           ← every edge is explored and every child is closed

The unexplored policies never change, so m cannot drift, and it is exactly 1 where everything is explored.

A node that closes may be the last open one below parents that were not touched: `close` renews these too, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from probzero import wdl
from probzero.kernels.backup.backup_graph import VALUE, BackupGraph
from probzero.kernels.winner_prob.reference import winner_prob

_VALUE_COLUMNS = slice(VALUE * wdl.SIZE, (VALUE + 1) * wdl.SIZE)  # of value_search among the six numbers of a node


def backup(graph: BackupGraph, nodes: torch.Tensor, level_sizes: Sequence[int], temperature: float) -> None:
    """Update `graph` in place for touched nodes [T], T > 0, deepest level first; a Python loop over levels only.

    What doesn't depend on deeper levels (edges, masses, the network's part) is gathered for all levels at once, as
    [T, K] with K the largest number of edges of a touched node: fewer torch calls matter more than the padding.
    """
    first = graph.first_edge.index_select(0, nodes).unsqueeze(1)  # [T, 1]
    count = graph.edge_count.index_select(0, nodes).unsqueeze(1)
    slot = torch.arange(int(count.max()), device=nodes.device)  # [K]
    padded = slot >= count
    # Padded slots would lie in the next node's edges or beyond the last. They repeat the node's first edge instead: no
    # weight goes to them, and what is said of all children is not changed by a repetition.
    edge = torch.where(padded, first, first + slot)
    child = _gather(graph.edge_child, edge)
    unexplored = (child < 0).logical_and_(~padded)
    present = ~(unexplored | padded)
    kid = child.clamp_(min=0)
    policy = _gather(graph.edge_policy, edge)
    rest = (policy * unexplored).sum(1, keepdim=True).clamp_(0.0, 1.0)  # 1 − m, [T, 1]
    mass = 1.0 - rest
    # The flip is linear and its own inverse: flipping this part once lets the loop flip the finished sum.
    network = wdl.flip(graph.net.index_select(0, nodes)).mul_(rest.unsqueeze(2)).view(-1, 1, 2 * wdl.SIZE)
    complete = ~unexplored.any(1)
    may_close = bool(complete.any())
    graph.closed.index_fill_(0, nodes, False)

    explored_policy = []
    parts = (nodes, kid, present.to(torch.float64), mass, network, complete)
    levels = (part.split(list(level_sizes)) for part in parts)
    for node, kids, there, m, own, whole in zip(*levels, strict=True):
        values = _gather(graph.search.view(-1, 2 * wdl.SIZE), kids)  # [n, K, 6]
        weights = winner_prob(values[:, :, _VALUE_COLUMNS], there, temperature).mul_(m)
        blend = torch.baddbmm(own, weights.unsqueeze(1), values)  # [n, 1, 6]
        graph.search.index_copy_(0, node, wdl.flip(blend.view(-1, 2, wdl.SIZE)))
        explored_policy.append(weights)
        if may_close:
            graph.closed.index_copy_(0, node, _gather(graph.closed, kids).all(1).logical_and_(whole))
    # Absent children have weight 0, so the sum leaves unexplored policies as they were. The padded slots, which all
    # write to the first edge, write what its own slot writes.
    policy = torch.cat(explored_policy).add_(policy.mul_(unexplored))
    graph.edge_policy.index_copy_(0, edge.view(-1), torch.where(padded, policy[:, :1], policy).view(-1))


def close(graph: BackupGraph, closed: torch.Tensor, temperature: float) -> None:
    """Close what has nothing left to explore since nodes `closed` [n] are closed, and renew it: parents, theirs, …

    Those closed at a time are no parents of each other."""
    while len(closed):
        parents = _parents(graph, closed)
        parents = parents[~graph.closed[parents]]
        slot = torch.arange(graph.most_moves, device=parents.device)
        real = slot < graph.edge_count[parents][:, None]
        child = graph.edge_child[(graph.first_edge[parents][:, None] + slot) * real]
        shut = (child >= 0) & graph.closed[child.clamp(min=0)]
        closed = parents[(shut | ~real).all(1)]
        if len(closed):
            backup(graph, closed, [len(closed)], temperature)


def _parents(graph: BackupGraph, nodes: torch.Tensor) -> torch.Tensor:
    """Return the distinct nodes [k] that have a move to one of nodes [n]."""
    found, move = [nodes[:0]], graph.first_parent[nodes]
    while len(move := move[move > 0] - 1):
        parent = move // graph.most_moves
        found.append(parent)
        move = graph.next_parent[graph.first_edge[parent] + move % graph.most_moves]
    return torch.cat(found).unique()


def listed(scratch: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
    """Return the nodes [T] of lists in `scratch` that begin with `first` [n], −1 for none."""
    found, node = [first[:0]], first
    while len(node := node[node >= 0]):
        found.append(node)
        node = scratch[node]
    return torch.cat(found)


def _gather(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Return table[index] for an index [n, K]; index_select is several times faster than indexing."""
    return table.index_select(0, index.reshape(-1)).view(*index.shape, *table.shape[1:])
