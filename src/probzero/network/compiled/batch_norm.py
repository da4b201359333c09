"""The batch norms of a compiled trunk, per channel: forward y → scale · y + shift, backward dy = a · g + b · y + c.

With the mean m and the variance v of the n numbers of a channel, weight γ and bias β, s = 1 / √(v + ε):

    scale = γ · s,   shift = β − m · scale,
    dγ = s · (Σ g·y − m · Σ g),   dβ = Σ g,
    a = γ · s,   b = −a · s · dγ / n,   c = −a · Σ g / n − b · m.

Sums over boards come from `training_passes` in float32; they are added up in float64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from probzero.network.compiled.layers import ROWS


class Moments(NamedTuple):
    mean: np.ndarray  # [C] float64
    inverse: np.ndarray  # [C] float64: 1 / √(variance + ε)


def normalise(
    norm: torch.nn.BatchNorm1d, weight: np.ndarray, bias: np.ndarray, sums: np.ndarray, n: int
) -> tuple[np.ndarray, Moments]:
    """Return scale and shift [2, 8, C] from sums [2, C] of y and y² over n numbers; renew the running statistics."""
    assert norm.running_mean is not None and norm.running_var is not None and norm.num_batches_tracked is not None
    assert norm.momentum is not None
    mean, mean_square = sums / n
    variance = np.maximum(mean_square - mean * mean, 0.0)
    moments = Moments(mean, 1 / np.sqrt(variance + norm.eps))
    scale = weight * moments.inverse
    norm.num_batches_tracked += 1
    for running, new in ((norm.running_mean, mean), (norm.running_var, variance * (n / max(1, n - 1)))):
        running.lerp_(torch.from_numpy(new).float(), norm.momentum)
    return per_row(scale, bias - mean * scale), moments


def denormalise(
    weight: np.ndarray, moments: Moments, sums: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a, b and c [3, 8, C] and the gradients of weight and bias [C] from sums [2, C] of g and g · y."""
    total, product = sums
    of_weight = (product - moments.mean * total) * moments.inverse
    a = weight * moments.inverse
    b = -a * moments.inverse * of_weight / n
    return per_row(a, b, -a * total / n - b * moments.mean), of_weight.astype(np.float32), total.astype(np.float32)


def added_up(sums: np.ndarray, in_last: int) -> np.ndarray:
    """Return float64 [2, C]: sums [packs, 2, 8, C] over the rows of all packs, so many of the last."""
    sums[-1, :, in_last:] = 0
    return np.add.reduce(np.add.reduce(sums, axis=0, dtype=np.float64), axis=1)


def per_row(*channels: np.ndarray) -> np.ndarray:
    """Return vectors [C] as float32 […, 8, C], one for each row of a pack."""
    return np.ascontiguousarray(np.repeat(np.stack(channels)[:, None], ROWS, axis=1), dtype=np.float32)
