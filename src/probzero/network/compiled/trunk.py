"""The trunk in training on a processor: all convolutions, batch norms and skips as one function of torch's autograd.

It goes through the batch in blocks of packs that stay in the cache, and keeps y of each layer and z where a skip needs
it; `training_passes` says what the letters mean. The parameters are saved as autograd saves them, so that one changed
between forward and backward is noticed and refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from probzero.network.compiled.batch_norm import Moments, denormalise, normalise
from probzero.network.compiled.layers import ROWS, Board
from probzero.network.compiled.library import Library
from probzero.network.compiled.target import choose
from probzero.network.compiled.training_passes import write_training
from probzero.network.winograd import transforms

BLOCK = 16  # packs that go through a layer together


class Layer(NamedTuple):
    """What a layer keeps for the way back."""

    y: np.ndarray  # [packs, H·W, 8, C]
    affine: np.ndarray  # [2, 8, C]
    moments: Moments
    z: np.ndarray | None  # of the stem and of a block's end
    skip: np.ndarray | None  # z of the block before


class Pool:
    """Arrays to use again: fresh memory costs more than writing to it."""

    def __init__(self) -> None:
        self.free: dict[tuple[int, ...], list[np.ndarray]] = {}

    def take(self, *shape: int) -> np.ndarray:
        return self.free[shape].pop() if self.free.get(shape) else np.empty(shape, np.float32)

    def give(self, *arrays: np.ndarray) -> None:
        for array in arrays:
            self.free.setdefault(array.shape, []).append(array)


POOL = Pool()


class Passes:
    """The compiled functions for one kind of trunk, called with arrays."""

    def __init__(self, board: Board, planes: int, channels: int) -> None:
        self.do = Library.of(write_training, choose(), board, planes, channels)
        points = board.points[0] * board.points[1]
        self.values, self.products = (POOL.take(BLOCK, points, ROWS, channels) for _ in range(2))

    def release(self) -> None:
        POOL.give(self.values, self.products)

    def activate(self, layer: Layer, first: int, packs: int, values: np.ndarray | None) -> None:
        """Write z, if it is kept, and the next layer's values (None: there is none) for some packs."""
        kind = "middle" if layer.z is None else "open" if layer.skip is None else "last" if values is None else "close"
        getattr(self.do, f"activate_{kind}")(
            at(layer.y, first), at(layer.affine), at(layer.skip, first), at(layer.z, first), at(values), packs
        )

    def values_again(self, layer: Layer, first: int, packs: int) -> None:
        """Write the values that the next layer got from this one."""
        if layer.z is None:
            self.activate(layer, first, packs, self.values)
        else:
            self.do.forward(0, 0, at(layer.z, first), at(self.values), packs)

    def back(self, layer: Layer, values: np.ndarray | None, gradients: Gradients, first: int, packs: int) -> None:
        """Write g, and its sums, from the gradient of the next layer's values and, at a block's end, of its skip."""
        sums = at(gradients.sums, first)
        if layer.z is None:
            g = at(gradients.inner, first)
            self.do.back_middle(at(values), 0, at(layer.affine), at(layer.y, first), g, sums, packs)
        else:
            g = at(gradients.outer, first)
            kind = self.do.back_last if values is None else self.do.back_close
            kind(at(values), g, at(layer.z, first), at(layer.y, first), g, sums, packs)


class Gradients(NamedTuple):
    """What goes back: g where blocks end, which is also what a skip gives back, and g inside of blocks."""

    outer: np.ndarray
    inner: np.ndarray
    sums: np.ndarray


class Trunk(torch.autograd.Function):
    """planes [B, F, H, W] → z [H·W, B, C] for at least one block, float32."""

    @staticmethod
    def forward(ctx: Any, planes: Tensor, norms: Sequence[torch.nn.BatchNorm1d], *parameters: Tensor) -> Tensor:
        """The parameters are the weights of all convolutions, then those of all norms, then their biases."""
        batch, inputs, height, width = planes.shape
        weights, scales, shifts = arrays_of(parameters, len(norms))
        board, packs, squares, channels = Board(height, width), -(-batch // ROWS), height * width, len(weights[0])
        passes = Passes(board, inputs, channels)
        padded = in_packs(planes.detach().flatten(2).permute(2, 0, 1), packs)
        sums = np.empty((packs, 2, ROWS, channels), np.float32)
        layers: list[Layer] = []
        for i, norm in enumerate(norms):
            kernels, y = evaluated(weights[i].transpose(2, 3, 1, 0), board), POOL.take(packs, squares, ROWS, channels)
            for first, n in blocks(packs):
                if i:
                    passes.activate(layers[-1], first, n, passes.values)
                    passes.do.product_trunk(at(passes.values), at(kernels), 0, at(passes.products), n)
                else:
                    passes.do.enter(0, 0, at(padded, first), at(passes.values), n)
                    passes.do.product_stem(at(passes.values), at(kernels), 0, at(passes.products), n)
                passes.do.collect(at(passes.products), at(y, first), at(sums, first), n)
            affine, moments = normalise(norm, scales[i], shifts[i], sums, batch, squares)
            z = None if i % 2 else POOL.take(*y.shape)
            layers.append(Layer(y, affine, moments, z, layers[i - 2].z if i and not i % 2 else None))
        passes.activate(layers[-1], 0, packs, None)
        passes.release()
        ctx.save_for_backward(*parameters)
        ctx.layers, ctx.board, ctx.batch, ctx.padded = layers, board, batch, padded
        last = layers[-1].z
        assert last is not None
        out = np.ascontiguousarray(last.transpose(1, 0, 2, 3))  # a copy: z will be used again
        return torch.from_numpy(out.reshape(squares, -1, channels)[:, :batch])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        parameters = ctx.saved_tensors  # torch raises here if one has changed
        if ctx.layers is None:
            raise RuntimeError("a trunk goes back only once: what it kept is gone")
        layers, ctx.layers = ctx.layers, None
        board, batch = ctx.board, ctx.batch
        weights, scales, _ = arrays_of(parameters, len(layers))
        packs, squares, _, channels = layers[0].y.shape
        passes = Passes(board, ctx.padded.shape[-1], channels)
        outer = in_packs(gradient, packs)
        sums = np.empty((packs, 2, ROWS, channels), np.float32)
        gradients = Gradients(outer, POOL.take(*outer.shape), sums)
        passes.back(layers[-1], None, gradients, 0, packs)
        found: list[list[Tensor]] = [[], [], []]
        for i in reversed(range(len(layers))):
            factors, of_scale, of_shift = denormalise(scales[i], layers[i].moments, sums, batch, squares)
            g = gradients.inner if i % 2 else gradients.outer
            transposed = evaluated(weights[i].transpose(2, 3, 0, 1), board)
            kernels = POOL.take(passes.values.shape[1], weights[i].shape[1], channels)
            kernels.fill(0)
            for first, n in blocks(packs):
                passes.do.spread(at(g, first), at(layers[i].y, first), at(factors), at(passes.products), n)
                if first + n == packs:  # rows beyond the batch stay out of every sum
                    passes.products[n - 1, :, batch - (packs - 1) * ROWS :] = 0
                if i:
                    passes.values_again(layers[i - 1], first, n)
                    passes.do.gradient_trunk(at(passes.values), at(passes.products), 0, at(kernels), n)
                    passes.do.product_trunk(at(passes.products), at(transposed), 0, at(passes.values), n)
                    passes.back(layers[i - 1], passes.values, gradients, first, n)
                else:
                    passes.do.enter(0, 0, at(ctx.padded, first), at(passes.values), n)
                    passes.do.gradient_stem(at(passes.values), at(passes.products), 0, at(kernels), n)
            for part, array in zip(found, (interpolated(kernels, board), of_scale, of_shift), strict=True):
                part.append(torch.from_numpy(array))
            POOL.give(kernels)
        passes.release()
        POOL.give(gradients.inner, *(array for layer in layers for array in (layer.y, layer.z) if array is not None))
        return None, None, *(tensor for part in found for tensor in reversed(part))


def blocks(packs: int) -> list[tuple[int, int]]:
    """Return first pack and number of packs of each block."""
    return [(first, min(BLOCK, packs - first)) for first in range(0, packs, BLOCK)]


def at(array: np.ndarray | None, first: int = 0) -> int:
    """Return the address of a row of a contiguous array, which must have a name while the address is in use."""
    return 0 if array is None else array.ctypes.data + first * array.strides[0]


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


@cache
def _kernels(board: Board) -> np.ndarray:
    return transforms(*board).kernels.astype(np.float32)  # [points, 9]


def evaluated(weight: np.ndarray, board: Board) -> np.ndarray:
    """Return the values [points, I, O] of kernels [3, 3, I, O]."""
    flat = np.ascontiguousarray(weight).reshape(9, -1)
    return (_kernels(board) @ flat).reshape(-1, *weight.shape[2:])


def interpolated(gradient: np.ndarray, board: Board) -> np.ndarray:
    """Return the gradient [O, I, 3, 3] of the weights from that [points, I, O] of their values."""
    flat = _kernels(board).T @ gradient.reshape(len(gradient), -1)
    return np.ascontiguousarray(flat.reshape(3, 3, *gradient.shape[1:]).transpose(3, 2, 0, 1))
