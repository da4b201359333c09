"""backup as a Triton kernel: one program per game walks the game's touched nodes deepest first, in one launch."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from probzero import wdl
from probzero.errors import bad
from probzero.kernels.backup.backup_graph import TARGET, VALUE, BackupGraph
from probzero.kernels.winner_prob.triton_kernel import block_size, node_weights

_VALUE, _TARGET = tl.constexpr(VALUE), tl.constexpr(TARGET)
_WIN, _DRAW, _LOSS, _OUTCOMES = (tl.constexpr(n) for n in (wdl.WIN, wdl.DRAW, wdl.LOSS, wdl.SIZE))
_NODE_FLOATS = tl.constexpr(2 * wdl.SIZE)  # of a node in `search` and in `net`

# A node has few children, so one warp holds them all; then the nodes of a game, which wait for one another, do so
# within the warp. The loop must not be pipelined: that would load a child's value before it is written.
NUM_WARPS = 1
NUM_STAGES = 1


@triton.jit
def _load_triples(rows, node, row, there):
    """Return win, draw, loss of one row (value_search or value_target) of the nodes, 0 where not `there`."""
    triple = rows + node * _NODE_FLOATS + row * _OUTCOMES
    win = tl.load(triple + _WIN, mask=there, other=0.0)
    draw = tl.load(triple + _DRAW, mask=there, other=0.0)
    loss = tl.load(triple + _LOSS, mask=there, other=0.0)
    return win, draw, loss


@triton.jit
def _blend(search, net, node, row, policy, win, draw, loss, rest):
    """Write search[node, row] ← Σ_i policy_i · flip(child_i) + rest · net[node, row]; a child's win is a loss here."""
    own = node * _NODE_FLOATS + row * _OUTCOMES
    tl.store(search + own + _WIN, tl.sum(policy * loss) + rest * tl.load(net + own + _WIN))
    tl.store(search + own + _DRAW, tl.sum(policy * draw) + rest * tl.load(net + own + _DRAW))
    tl.store(search + own + _LOSS, tl.sum(policy * win) + rest * tl.load(net + own + _LOSS))


@triton.jit
def _left_open(first_edge, edge_count, edge_child, closed, node, slot):
    """Return how many edges of a node are unexplored or lead to a child that is not closed."""
    edge = tl.load(first_edge + node) + slot
    real = slot < tl.load(edge_count + node)
    child = tl.load(edge_child + edge, mask=real, other=0)
    child_closed = tl.load(closed + child, mask=real & (child >= 0), other=0) != 0
    return tl.sum((real & (child_closed == 0)).to(tl.int32))


@triton.jit
def _renew(
    first_edge,
    edge_count,
    edge_child,
    edge_policy,
    search,
    net,
    closed,
    node,
    slot,
    inverse_temperature,
    TEMPERED: tl.constexpr,
):
    """Write new policies, values and `closed` of one node; return whether it is closed."""
    edge = tl.load(first_edge + node) + slot
    real = slot < tl.load(edge_count + node)
    child = tl.load(edge_child + edge, mask=real, other=-1)
    explored = child >= 0
    unexplored = real & (child < 0)
    rest = tl.sum(tl.load(edge_policy + edge, mask=unexplored, other=0.0))
    rest = tl.minimum(tl.maximum(rest, 0.0), 1.0)  # 1 − m

    win, draw, loss = _load_triples(search, child, _VALUE, explored)
    weights = node_weights(win, draw, loss, explored, inverse_temperature, TEMPERED)
    policy = (1.0 - rest) * weights.to(tl.float32)
    tl.store(edge_policy + edge, policy, mask=explored)
    _blend(search, net, node, _VALUE, policy, win, draw, loss, rest)
    win, draw, loss = _load_triples(search, child, _TARGET, explored)
    _blend(search, net, node, _TARGET, policy, win, draw, loss, rest)

    child_closed = tl.load(closed + child, mask=explored, other=0) != 0
    left_open = unexplored | (explored & (child_closed == 0))
    shut = tl.sum(left_open.to(tl.int32)) == 0
    tl.store(closed + node, shut)
    # The node just written may be a child of the next one: every thread must see it before it reads on.
    tl.debug_barrier()
    return shut


@triton.jit
def backup_kernel(
    touched,  # int64 [G], the first node of each game, deepest first; −1 if none is
    following,  # int64 [M], the node after each; written
    first_edge,  # int64 [M]; from here on the arrays of a `BackupGraph`
    edge_count,
    edge_child,
    edge_policy,  # of explored edges written
    search,  # written
    net,
    closed,  # written
    first_parent,
    next_parent,
    inverse_temperature,
    most_moves,
    TEMPERED: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    game = tl.program_id(0)
    slot = tl.arange(0, BLOCK_K)[None, :]  # [1, BLOCK_K], as is everything per edge
    node = tl.load(touched + game)
    shut = node * 0 - 1  # a list of closed nodes whose parents are to be looked at
    while node >= 0:
        next_node = tl.load(following + node)
        is_closed = _renew(
            first_edge,
            edge_count,
            edge_child,
            edge_policy,
            search,
            net,
            closed,
            node,
            slot,
            inverse_temperature,
            TEMPERED,
        )
        if is_closed:
            tl.store(following + node, shut)
            shut = node
        tl.debug_barrier()
        node = next_node
    while shut >= 0:
        node = shut
        shut = tl.load(following + node)
        move = tl.load(first_parent + node)
        while move > 0:
            parent = (move - 1) // most_moves
            edge = tl.load(first_edge + parent) + (move - 1) % most_moves
            if tl.load(closed + parent) == 0:  # noqa: SIM102 (a kernel knows no `and`)
                if _left_open(first_edge, edge_count, edge_child, closed, parent, slot) == 0:
                    _renew(
                        first_edge, edge_count, edge_child, edge_policy, search, net, closed, parent, slot,
                        inverse_temperature, TEMPERED,
                    )  # fmt: skip
                    tl.store(following + parent, shut)
                    shut = parent
            tl.debug_barrier()
            move = tl.load(next_parent + edge)


def backup(graph: BackupGraph, touched: torch.Tensor, temperature: float) -> None:
    """Update `graph` in place for the touched nodes of games [n]: lists in `scratch`, deepest first, from `touched` on.

    Then close and renew what has nothing left to explore since some of them are closed: their parents, theirs, …"""
    tensors = (
        graph.scratch, graph.first_edge, graph.edge_count, graph.edge_child, graph.edge_policy, graph.search, graph.net,
        graph.closed, graph.first_parent, graph.next_parent,
    )  # fmt: skip
    if not all(tensor.is_contiguous() for tensor in tensors):
        raise bad("backup", "graph", "contiguous tensors", [tensor.stride() for tensor in tensors])
    if len(touched):
        backup_kernel[(len(touched),)](
            touched,
            *tensors,
            1.0 / temperature,
            graph.most_moves,
            TEMPERED=temperature != 1.0,
            BLOCK_K=block_size(graph.most_moves),
            num_warps=NUM_WARPS,
            num_stages=NUM_STAGES,
        )
