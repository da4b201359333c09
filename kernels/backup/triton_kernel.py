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
def backup_kernel(
    nodes,  # int64 [T], sorted by game, deepest first within a game
    segments,  # int64 [G + 1], where the nodes of each game begin; the last entry is T
    first_edge,  # int64 [M]
    edge_count,  # int64 [M]
    edge_child,  # int64 [E]
    edge_policy,  # float32 [E], explored edges written
    search,  # float32 [M, 2, 3], touched nodes written
    net,  # float32 [M, 2, 3]
    closed,  # bool [M], touched nodes written
    inverse_temperature,
    TEMPERED: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    game = tl.program_id(0)
    slot = tl.arange(0, BLOCK_K)[None, :]  # [1, BLOCK_K], as is everything per edge below
    for position in tl.range(tl.load(segments + game), tl.load(segments + game + 1), num_stages=1):
        node = tl.load(nodes + position)
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
        tl.store(closed + node, tl.sum(left_open.to(tl.int32)) == 0)
        # The node just written may be a child of the next one: every thread must see it before it reads on.
        tl.debug_barrier()


def by_game(nodes: torch.Tensor, games: torch.Tensor, number: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return nodes [T] sorted by game, and segments [number + 1]: game g has nodes[segments[g] : segments[g + 1]].

    The sort is stable, so that the nodes of a game stay deepest first.
    """
    sorted_games, order = torch.sort(games, stable=True)
    return nodes[order], torch.searchsorted(sorted_games, torch.arange(number + 1, device=games.device))


def backup(graph: BackupGraph, nodes: torch.Tensor, games: torch.Tensor, temperature: float) -> None:
    """Update `graph` in place for touched nodes [T], T > 0, deepest first, of games [T]."""
    edges = (graph.first_edge, graph.edge_count, graph.edge_child, graph.edge_policy)
    tensors = (*edges, graph.search, graph.net, graph.closed)
    if not all(tensor.is_contiguous() for tensor in tensors):
        raise bad("backup", "graph", "contiguous tensors", [tensor.stride() for tensor in tensors])
    # One transfer tells the host both the sizes it needs.
    most_edges, last_game = torch.stack([graph.edge_count[nodes].max(), games.max()]).tolist()
    backup_kernel[(last_game + 1,)](
        *by_game(nodes, games, last_game + 1),
        *tensors,
        1.0 / temperature,
        TEMPERED=temperature != 1.0,
        BLOCK_K=block_size(most_edges),
        num_warps=NUM_WARPS,
        num_stages=NUM_STAGES,
    )
