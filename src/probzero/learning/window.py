"""What training sees of a window of iterations: which samples, how often, and as which tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from probzero.config import Training
from probzero.games.base import Game, count_moves, moves_of
from probzero.learning.dataset import Samples
from probzero.learning.loss import Batch


def draw_window(
    drawing: np.random.Generator, sizes: Sequence[int], wanted: int, recency: float, weight: np.ndarray | None = None
) -> np.ndarray:
    """Return `wanted` sample numbers in random order from iterations of these sizes, oldest first, joined.

    A sample of an iteration is drawn `recency` times as often as one of the next; 0 wants as many as there are. Within
    an iteration samples are drawn in proportion to their `weight` [Σ sizes], or all alike.
    """
    wanted = wanted or sum(sizes)
    if recency == 1:
        return draw(drawing, sum(sizes), wanted, weight)
    share = np.array(sizes) * recency ** np.arange(len(sizes))[::-1]
    bounds = np.floor(np.cumsum(share) / share.sum() * wanted + 0.5).astype(int)
    counts = np.diff(bounds, prepend=0)
    parts = [slice(end - size, end) for end, size in zip(np.cumsum(sizes), sizes, strict=True)]
    rows = [
        part.start + draw(drawing, size, count, None if weight is None else weight[part])
        for part, size, count in zip(parts, sizes, counts, strict=True)
    ]
    return drawing.permutation(np.concatenate(rows))


def draw(drawing: np.random.Generator, available: int, wanted: int, weight: np.ndarray | None = None) -> np.ndarray:
    """Return `wanted` of the numbers below `available` in random order.

    All alike, none comes a second time before all came once. With positive weights w [available] number i comes
    wanted · w_i / Σ w times, rounded up or down (systematic resampling of numbers in random order).
    """
    if not available:
        return np.zeros(0, int)
    if weight is None:
        passes = -(-wanted // available)
        return np.concatenate([drawing.permutation(available) for _ in range(passes)] or [np.zeros(0, int)])[:wanted]
    order = drawing.permutation(available)
    bounds = np.cumsum(weight[order], dtype=np.float64)
    ends = np.floor(bounds / bounds[-1] * wanted + drawing.random()).astype(int)
    ends[-1] = wanted  # against rounding
    return drawing.permutation(np.repeat(order, np.diff(np.minimum(ends, wanted), prepend=0)))


def decidedness(samples: Samples) -> np.ndarray:
    """Return how far each policy target [n] is from uniform over its k explored moves: 1 − H(policy) / log k, in 0 … 1.

    Where the moves are all as good (k = 1 among them), there is nothing to learn about which one to play.
    """
    moves = np.maximum(samples.mask.sum(axis=1), 2)
    surprise = np.log(np.where(samples.policy > 0, samples.policy, 1.0))
    entropy = -(samples.policy * surprise).sum(axis=1)
    decided = np.where(samples.mask.sum(axis=1) > 1, 1 - entropy / np.log(moves), 0.0)
    return decided.clip(0, 1)


def draw_weights(samples: Samples, game: Game, settings: Training) -> np.ndarray | None:
    """Return how often to draw each sample [n], 1 on average; None if all alike. With s the share of samples of
    the same phase:

        weight ∝ (u + (1 − u) · decidedness) · s^−b        u = undecided_draw, b = phase_balance
    """
    undecided, balance = settings.undecided_draw, settings.phase_balance
    if undecided == 1 and balance == 0:
        return None
    phase = game.phase(samples.states)
    share = np.bincount(phase)[phase] / len(samples)
    weight = (undecided + (1 - undecided) * decidedness(samples)) * share**-balance
    return weight / weight.mean()


class Window(NamedTuple):
    """Samples on the training device, policies by legal move: those of all iterations in the window."""

    states: torch.Tensor  # [n, W] of which planes are made when they are drawn
    moves: torch.Tensor  # [n, M] the legal actions, as of `list_moves`
    policy: torch.Tensor  # [n, M] 0 where there is no move
    mask: torch.Tensor  # [n, M] the moves of the policy's loss
    value: torch.Tensor  # [n, 3]
    reward: torch.Tensor  # [n, 3]
    valid: torch.Tensor  # [n]
    weight: torch.Tensor  # [n]
    drawn: torch.Tensor  # [n] how often a sample is drawn beside the others


def tensors(
    samples: Samples, game: Game, settings: Training, device: torch.device | str, drawn: np.ndarray | None = None
) -> Window:
    """Return the samples on the training device: weight = visits^exponent, policy ∝ policy^sharpness.

    `drawn` [n] is how often each is drawn, which the losses of value and reward make up for.
    The mask of the policy's loss is the explored moves, or all legal ones: then a move that was not explored has the
    target 0, as the search found it not worth a particle.
    """
    drawn = np.ones(len(samples)) if drawn is None else drawn
    room = samples.policy.shape[1]
    columns = (
        samples.states,
        moves_of(game, samples.states, room),
        *samples.columns()[1:],
        drawn.astype(np.float32),
    )
    window = Window(*(torch.from_numpy(column).to(device) for column in columns))
    if settings.policy_sharpness != 1:
        policy = window.policy**settings.policy_sharpness
        window = window._replace(policy=policy / policy.sum(1, keepdim=True))
    if settings.policy_moves == "legal":
        real = np.arange(room) < count_moves(game, samples.states)[:, None]
        window = window._replace(mask=torch.from_numpy(real).to(device, torch.float32))
    return window._replace(weight=window.weight**settings.visit_exponent)


def turned(window: Window, game: Game, rows: np.ndarray, turns: np.ndarray) -> Batch:
    """Return the samples with these numbers by action, each turned by its symmetry."""
    device = window.states.device
    picked = Window(*(column[torch.from_numpy(rows).to(device)] for column in window))
    squares, action = (torch.from_numpy(table[turns]).to(device) for table in game.symmetries)
    shape = (len(rows), *game.shape[:3])
    planes = game.encode(picked.states).reshape(*shape[:2], -1)  # [B, F, H·W]
    nothing = planes.new_zeros(len(rows), game.actions)
    policy, mask = (  # rows are filled up with zeros of their first move; adding them changes nothing
        nothing.scatter_add(1, picked.moves, column).gather(1, action) for column in (picked.policy, picked.mask)
    )
    return Batch(
        planes.gather(2, squares[:, None].expand_as(planes)).reshape(shape),
        policy, mask, picked.value, picked.reward, picked.valid, picked.weight, picked.drawn,
    )  # fmt: skip
