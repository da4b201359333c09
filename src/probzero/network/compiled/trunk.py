"""The trunk in training on a processor: all convolutions, batch norms and skips as one function of torch's autograd.

It keeps y of each layer and z where a skip needs it; `training_passes` says what the letters mean. The parameters are
saved as autograd saves them, so that one changed between forward and backward is noticed and refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from probzero.network.compiled.batch_norm import denormalise, normalise
from probzero.network.compiled.halves import POOL, Gradients, Half, Halves, Layer, Place, added, at, placed
from probzero.network.compiled.layers import ROWS, Board
from probzero.network.winograd import TAPS


class Trunk(torch.autograd.Function):
    """planes [B, F, H, W] → z [H·W, B, C] for at least one block, float32; on one thread or two, the same bits."""

    @staticmethod
    def forward(
        ctx: Any, planes: Tensor, norms: Sequence[torch.nn.BatchNorm1d], threads: int, *parameters: Tensor
    ) -> Tensor:
        """The parameters are the weights of all convolutions, then those of all norms, then their biases."""
        batch, inputs, height, width = planes.shape
        weights, scales, shifts = arrays_of(parameters, len(norms))
        board, packs, squares, channels = Board(height, width), -(-batch // ROWS), height * width, len(weights[0])
        halves = Halves(batch, board, inputs, channels, threads)
        padded = placed(in_packs(planes.detach().flatten(2).permute(2, 0, 1), packs))
        layers: list[Layer] = []
        for i, norm in enumerate(norms):
            evaluate = halves.do.evaluate_trunk if i else halves.do.evaluate_stem
            kernels = evaluated(evaluate, weights[i].transpose(2, 3, 1, 0), board)
            y = POOL.take(packs, squares, ROWS, channels)
            sums = added(halves.each(Half.convolve, layers[-1] if i else None, padded, kernels, y))
            affine, moments = normalise(norm, scales[i], shifts[i], sums, batch * squares)
            z = None if i % 2 else POOL.take(*y.array.shape)
            layers.append(Layer(y, placed(affine), moments, z, layers[i - 2].z if i and not i % 2 else None))
            POOL.give(kernels)
        halves.each(Half.finish, layers[-1])
        halves.release()
        ctx.save_for_backward(*parameters)
        ctx.layers, ctx.board, ctx.batch, ctx.padded, ctx.threads = layers, board, batch, padded, threads
        last = layers[-1].z
        assert last is not None
        out = np.ascontiguousarray(last.array.transpose(1, 0, 2, 3))  # a copy: z will be used again
        return torch.from_numpy(out.reshape(squares, -1, channels)[:, :batch])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        parameters = ctx.saved_tensors  # torch raises here if one has changed
        if ctx.layers is None:
            raise RuntimeError("a trunk goes back only once: what it kept is gone")
        layers, ctx.layers = ctx.layers, None
        board, batch, padded = ctx.board, ctx.batch, ctx.padded
        weights, scales, _ = arrays_of(parameters, len(layers))
        packs, squares, _, channels = layers[0].y.array.shape
        halves = Halves(batch, board, padded.array.shape[-1], channels, ctx.threads)
        outer = placed(in_packs(gradient, packs))
        gradients = Gradients(outer, POOL.take(*outer.array.shape))
        sums = added(halves.each(Half.turn, layers[-1], gradients))
        found: list[list[Tensor]] = [[], [], []]
        for i in reversed(range(len(layers))):
            factors, of_scale, of_shift = denormalise(scales[i], layers[i].moments, sums, batch * squares)
            transposed = evaluated(halves.do.evaluate_trunk, weights[i].transpose(2, 3, 0, 1), board) if i else None
            before = layers[i - 1] if i else None
            made = halves.each(Half.back, layers[i], before, padded, placed(factors), transposed, gradients)
            kernels, sums = (added(parts) for parts in zip(*made, strict=True))
            if transposed is not None:
                POOL.give(transposed)
            interpolate = halves.do.interpolate_trunk if i else halves.do.interpolate_stem
            for part, array in zip(found, (interpolated(interpolate, kernels), of_scale, of_shift), strict=True):
                part.append(torch.from_numpy(array))
        halves.release()
        POOL.give(gradients.inner, *(place for layer in layers for place in (layer.y, layer.z) if place is not None))
        return None, None, None, *(tensor for part in found for tensor in reversed(part))


def arrays_of(parameters: Sequence[Tensor], count: int) -> list[list[np.ndarray]]:
    """Return the arrays of weights, scales and shifts, `count` of each."""
    found = [np.ascontiguousarray(parameter.detach().numpy()) for parameter in parameters]
    return [found[:count], found[count : 2 * count], found[2 * count :]]


def in_packs(x: Tensor, packs: int) -> np.ndarray:
    """Return [H·W, B, C] as packs [packs, H·W, 8, C], rows beyond the batch 0."""
    squares, batch, channels = x.shape
    padded = np.zeros((packs * ROWS, squares, channels), np.float32)
    padded[:batch] = x.permute(1, 0, 2).numpy()
    return np.ascontiguousarray(padded.reshape(packs, ROWS, squares, channels).transpose(0, 2, 1, 3))


def evaluated(evaluate: Callable[..., None], taps: np.ndarray, board: Board) -> Place:
    """Return the values [points, I, O] of kernels [3, 3, I, O]."""
    given, kernels = placed(np.ascontiguousarray(taps)), POOL.take(board.points[0] * board.points[1], *taps.shape[2:])
    evaluate(at(given), at(kernels))
    return kernels


def interpolated(interpolate: Callable[..., None], gradient: np.ndarray) -> np.ndarray:
    """Return the gradient [O, I, 3, 3] of the weights from that [points, I, O] of their values."""
    taps = np.empty((TAPS, TAPS, *gradient.shape[1:]), np.float32)
    interpolate(gradient.ctypes.data, taps.ctypes.data)
    return np.ascontiguousarray(taps.transpose(3, 2, 0, 1))
