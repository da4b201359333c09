"""winner_prob as a Triton kernel: one program weighs a block of nodes, a row of the block for each."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from probzero import wdl
from probzero.kernels.winner_prob import constants

_EPS = tl.constexpr(constants.EPS)
_LOST_RAW = tl.constexpr(constants.LOST_RAW)
_RATIO_FLOOR = tl.constexpr(constants.RATIO_FLOOR)
_SUM_FLOOR = tl.constexpr(constants.SUM_FLOOR)
_WIN, _DRAW, _LOSS, _OUTCOMES = (tl.constexpr(n) for n in (wdl.WIN, wdl.DRAW, wdl.LOSS, wdl.SIZE))

BLOCK_ELEMENTS = 512  # children of a program
NUM_WARPS = 4


def block_size(children: int) -> int:
    """Return BLOCK_K for nodes of at most `children` children: a power of two, at least 16 to keep variants few."""
    return max(16, triton.next_power_of_2(children))


def block_rows(block_k: int) -> int:
    """Return BLOCK_N, the nodes of a program."""
    return max(1, BLOCK_ELEMENTS // block_k)


@triton.jit
def node_weights(win, draw, loss, present, inverse_temperature, TEMPERED: tl.constexpr):
    """Return the weights float64 [n, K] of children with win, draw, loss float32 [n, K], 0 where not present [n, K].

    The same steps as the reference. R is a sum of logarithms here as Triton has no built-in product of a row.
    """
    win = win.to(tl.float64) + _EPS
    draw = draw.to(tl.float64)
    loss = loss.to(tl.float64)
    not_loss = win + draw
    ratio = tl.exp(tl.sum(tl.log(win / not_loss), axis=1, keep_dims=True))
    raw = draw / win * tl.maximum(ratio, _RATIO_FLOOR) + loss / not_loss
    if TEMPERED:
        relative = raw / tl.maximum(tl.max(raw, axis=1, keep_dims=True), _SUM_FLOOR)
        raw = tl.where(relative > 0.0, tl.exp(tl.log(tl.maximum(relative, _SUM_FLOOR)) * inverse_temperature), 0.0)
    raw += tl.where(present, _LOST_RAW, 0.0)
    return raw / tl.maximum(tl.sum(raw, axis=1, keep_dims=True), _SUM_FLOOR)


@triton.jit
def winner_prob_kernel(
    values,  # float32 [n, K, 3]
    mask,  # bool [n, K]
    weights,  # float32 [n, K], written
    n,
    K,
    inverse_temperature,
    TEMPERED: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)[:, None]
    column = tl.arange(0, BLOCK_K)[None, :]
    inside = (row < n) & (column < K)
    child = row * K + column
    present = tl.load(mask + child, mask=inside, other=0) != 0
    triple = values + child * _OUTCOMES
    win = tl.load(triple + _WIN, mask=present, other=0.0)
    draw = tl.load(triple + _DRAW, mask=present, other=0.0)
    loss = tl.load(triple + _LOSS, mask=present, other=0.0)
    result = node_weights(win, draw, loss, present, inverse_temperature, TEMPERED)
    tl.store(weights + child, result.to(tl.float32), mask=inside)


def winner_prob(values: torch.Tensor, mask: torch.Tensor, temperature: float = 1.0) -> torch.Tensor:
    """Return the weights float32 [n, K] for values float32 [n, K, 3] and mask bool [n, K]."""
    n, K = mask.shape
    weights = torch.empty((n, K), dtype=torch.float32, device=values.device)
    if weights.numel() == 0:
        return weights
    block_k = block_size(K)
    block_n = block_rows(block_k)
    winner_prob_kernel[(triton.cdiv(n, block_n),)](
        values.contiguous(),
        mask.contiguous(),
        weights,
        n,
        K,
        1.0 / temperature,
        TEMPERED=temperature != 1.0,
        BLOCK_N=block_n,
        BLOCK_K=block_k,
        num_warps=NUM_WARPS,
    )
    return weights
