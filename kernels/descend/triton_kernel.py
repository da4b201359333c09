"""descend as a Triton kernel: one program per game goes through the game's waiting nodes, rank by rank, in one launch.

The running sums of a node's weights are made one after another, as the compiled loop makes them, and no product is
fused with a sum: so a device divides particles bit by bit as a processor does.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from probzero import random_keys
from probzero.kernels.descend.descent_graph import DescentGraph
from probzero.kernels.descend.splitting import check
from probzero.kernels.winner_prob.triton_kernel import block_size

SCHEMES = {"systematic": 0, "middle": 1, "multinomial": 2}
_MIDDLE, _MULTINOMIAL = tl.constexpr(SCHEMES["middle"]), tl.constexpr(SCHEMES["multinomial"])
_GOLDEN, _FIRST, _SECOND = (tl.constexpr(n) for n in (random_keys.GOLDEN, random_keys.FIRST, random_keys.SECOND))

# As in backup: a node's few moves are held by one warp, and nothing may be loaded before what comes first is written.
NUM_WARPS = 1
NUM_STAGES = 1


@triton.jit
def _mixed(word, state):
    """One step of `random_keys.mix` on int64; a mask makes shifts logical."""
    word = (word ^ state) + _GOLDEN
    word = (word ^ ((word >> 30) & 0x3FFFFFFFF)) * _FIRST
    word = (word ^ ((word >> 27) & 0x1FFFFFFFFF)) * _SECOND
    return word ^ ((word >> 31) & 0x1FFFFFFFF)


@triton.jit
def _uniform(word):
    """Return a hash as a number in [0, 1)."""
    return ((word >> 11) & 0x1FFFFFFFFFFFFF).to(tl.float64) * (2.0**-53)


@triton.jit
def _counts(weight, slot, edges, volume, drawn_key, SCHEME: tl.constexpr):
    """Return how many of `volume` particles go to each move [1, BLOCK_K]; `splitting` says what the schemes mean."""
    sums = weight
    total = weight.to(tl.float64).sum() * 0.0
    for at in range(edges):
        here = slot == at
        total += tl.sum(tl.where(here, weight, 0.0))
        sums = tl.where(here, total, sums)
    bounds = sums / tl.maximum(total, 1e-300)
    real = slot < edges
    if SCHEME == _MULTINOMIAL:
        count = slot.to(tl.int64) * 0
        first = _mixed(drawn_key, drawn_key * 0)
        for particle in range(volume):
            drawn = _uniform(_mixed(first * 0 + particle, first))
            chosen = tl.sum((real & (bounds <= drawn)).to(tl.int32))
            count += tl.where(slot == chosen, 1, 0)
        return tl.where(real, count, 0)  # where no move has any weight, `chosen` is none of them
    else:
        offset = total * 0.0 + 0.5
        if SCHEME != _MIDDLE:
            offset = _uniform(_mixed(drawn_key, drawn_key * 0))
        upper = tl.minimum((bounds * volume + offset).to(tl.int64), volume)
        before = tl.gather(upper, tl.maximum(slot - 1, 0), 1)
        count = upper - tl.where(slot == 0, 0, before)
        return tl.where(real, count, 0)


@triton.jit
def descend_kernel(
    roots,  # int64 [n]
    particles,  # int64 [n], 0 where there is nothing to do
    key,  # int64 [M]; from here on the arrays of a `DescentGraph`
    rank,
    evaluated,
    closed,
    visits,
    volume,
    first_edge,
    edge_count,
    edge_child,
    edge_policy,
    edge_visits,
    following,  # its scratch: the next of the nodes that wait in a rank; then the node that was split before
    heads,  # its rank_heads: the first that waits
    touched,  # int64 [n], written: the node split last, −1 if none was
    leaves,  # int64 [n, most], −1 before; a game's leaves are written
    salt,
    most,
    ranks,
    SCHEME: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    game = tl.program_id(0).to(tl.int64)
    heads += game * ranks
    leaves += game * most
    slot = tl.arange(0, BLOCK_K)[None, :]  # [1, BLOCK_K], as is everything per move below
    root = tl.load(roots + game)
    sent = tl.load(particles + game)
    last = root * 0 - 1
    found = root * 0
    level = tl.load(rank + root).to(tl.int32)
    deepest = level - 1  # nothing waits
    if sent > 0:
        tl.store(volume + root, sent.to(tl.int32))
        tl.store(following + root, last)
        tl.store(heads + level, root)
        deepest = level
    tl.debug_barrier()  # every thread must see what another one wrote: here and below
    while level <= deepest:
        node = tl.load(heads + level)
        while node >= 0:
            next_node = tl.load(following + node)
            waiting = tl.load(volume + node)
            visited = tl.load(visits + node)
            tl.debug_barrier()
            tl.store(volume + node, 0)
            tl.store(visits + node, visited + waiting)
            tl.store(following + node, last)
            last = node

            edges = tl.load(edge_count + node).to(tl.int32)
            edge = tl.load(first_edge + node) + slot
            real = slot < edges
            child = tl.load(edge_child + edge, mask=real, other=0)
            unexplored = real & (child < 0)
            child = tl.where(child < 0, -1 - child, child)
            shut = tl.load(closed + child, mask=real, other=1) != 0
            may = unexplored | (real & (shut == 0))
            weight = tl.load(edge_policy + edge, mask=may, other=0.0).to(tl.float64)
            weighty = tl.sum((weight > 0.0).to(tl.int32)) > 0
            weight = tl.where(weighty, weight, may.to(tl.float64))
            waiting = waiting.to(tl.int64)
            count = _counts(weight, slot, edges, waiting, tl.load(key + node) ^ salt, SCHEME)

            # Unexplored moves are one bucket, handed out one by one in order of prior and round again.
            untried = tl.maximum(tl.sum(unexplored.to(tl.int64)), 1)
            bucket = tl.sum(tl.where(unexplored, count, 0))
            turn = tl.cumsum(unexplored.to(tl.int64), axis=1) - 1  # 0 for the one of the highest prior
            handed = bucket // untried + (turn < bucket % untried).to(tl.int64)
            count = tl.where(unexplored, handed, count)
            given = count > 0
            tl.store(edge_child + edge, child, mask=given)  # explored from now on
            taken = tl.load(edge_visits + edge, mask=given, other=0)
            tl.store(edge_visits + edge, taken + count.to(tl.int32), mask=given)

            # One by one, as several moves may lead to one child.
            at = tl.min(tl.where(given, slot, BLOCK_K))
            while at < BLOCK_K:
                target = tl.sum(tl.where(slot == at, child, 0))
                arriving = tl.sum(tl.where(slot == at, count, 0)).to(tl.int32)
                before = tl.load(volume + target)
                known = tl.load(evaluated + target) != 0
                if known & (tl.load(closed + target) != 0):
                    # A shared child that was closed from elsewhere: nothing to do below it.
                    visited = tl.load(visits + target)
                    tl.debug_barrier()
                    tl.store(visits + target, visited + arriving)
                else:
                    if before == 0:
                        if known:
                            deeper = tl.load(rank + target).to(tl.int32)
                            head = tl.load(heads + deeper)
                            tl.debug_barrier()
                            tl.store(following + target, head)
                            tl.store(heads + deeper, target)
                            deepest = tl.maximum(deepest, deeper)
                        else:
                            tl.store(leaves + found, target)
                            found += 1
                    tl.debug_barrier()
                    tl.store(volume + target, before + arriving)
                tl.debug_barrier()
                at = tl.min(tl.where(given & (slot > at), slot, BLOCK_K))
            node = next_node
        tl.store(heads + level, root * 0 - 1)
        level += 1
    tl.store(touched + game, last)
    for number in range(found):
        leaf = tl.load(leaves + number)
        arrived = tl.load(volume + leaf)
        visited = tl.load(visits + leaf)
        tl.debug_barrier()
        tl.store(visits + leaf, visited + arrived)
        tl.store(volume + leaf, 0)


def descend(
    graph: DescentGraph, roots: torch.Tensor, particles: torch.Tensor, most: int, splitting: str, salt: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Send particles [n], at most `most` each, down from roots [n] of different games.

    Returns the nodes split last [n] (those split before follow in `scratch`), −1 if none was, and the leaves [n, most],
    −1 after the last."""
    check(splitting, SCHEMES)
    touched = torch.empty_like(roots)
    leaves = torch.full((len(roots), most), -1, dtype=torch.int64, device=roots.device)
    if len(roots):
        descend_kernel[(len(roots),)](
            roots, particles, graph.key, graph.rank, graph.evaluated, graph.closed, graph.visits, graph.volume,
            graph.first_edge, graph.edge_count, graph.edge_child, graph.edge_policy, graph.edge_visits, graph.scratch,
            graph.rank_heads, touched, leaves, salt, most, graph.rank_heads.shape[1],
            SCHEME=SCHEMES[splitting],
            BLOCK_K=block_size(graph.most_moves),
            num_warps=NUM_WARPS,
            num_stages=NUM_STAGES,
            enable_fp_fusion=False,
        )  # fmt: skip
    return touched, leaves
