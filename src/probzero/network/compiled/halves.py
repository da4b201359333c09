"""A batch in two halves, each of which goes through the passes of training by itself: at once if there are two threads.

A half goes through a layer in blocks of packs that stay in the cache. The cut does not depend on the number of threads,
and what both halves add to is added up in one order: results are the same bits on one thread and on two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np

from probzero.network.compiled.batch_norm import Moments, added_up
from probzero.network.compiled.layers import ROWS, Board
from probzero.network.compiled.library import Library
from probzero.network.compiled.target import choose
from probzero.network.compiled.training_passes import write_training

BLOCK = 16  # packs that go through a layer together
Given = ParamSpec("Given")
Made = TypeVar("Made")


class Place(NamedTuple):
    """A contiguous array [n, …] and where it is: to ask numpy takes longer than many a call."""

    array: np.ndarray
    address: int
    step: int  # bytes of a row


class Pool:
    """Arrays to use again: fresh memory costs more than writing to it."""

    def __init__(self) -> None:
        self.free: dict[tuple[int, ...], list[Place]] = {}

    def take(self, *shape: int) -> Place:
        return self.free[shape].pop() if self.free.get(shape) else placed(np.empty(shape, np.float32))

    def give(self, *places: Place) -> None:
        for place in places:
            self.free.setdefault(place.array.shape, []).append(place)


POOL = Pool()


class Layer(NamedTuple):
    """What a layer keeps for the way back."""

    y: Place  # [packs, H·W, 8, C]
    affine: Place  # [2, 8, C]
    moments: Moments
    z: Place | None  # of the stem and of a block's end
    skip: Place | None  # z of the block before


class Gradients(NamedTuple):
    """What goes back: g where blocks end, which is also what a skip gives back, and g inside of blocks."""

    outer: Place
    inner: Place


class Half:
    """The compiled functions over some packs of a batch."""

    def __init__(self, do: Library, batch: int, board: Board, planes: int, channels: int, packs: range) -> None:
        self.do, self.first, self.end = do, packs.start, packs.stop
        self.in_last = min(ROWS, batch - packs[-1] * ROWS)  # rows of the last pack
        self.blocks = [(first, min(BLOCK, packs.stop - first)) for first in packs[::BLOCK]]
        points = board.points[0] * board.points[1]
        self.values, self.products = (POOL.take(BLOCK, points, ROWS, channels) for _ in range(2))
        self.of_stem, self.of_trunk = (POOL.take(points, inputs, channels) for inputs in (planes, channels))
        self.sums = POOL.take(len(packs), 2, ROWS, channels)

    def release(self) -> None:
        POOL.give(self.values, self.products, self.of_stem, self.of_trunk, self.sums)

    def convolve(self, before: Layer | None, planes: Place, kernels: Place, y: Place) -> np.ndarray:
        """Write y from the layer before, or from the planes; return the sums [2, C] of y and y²."""
        for first, n in self.blocks:
            if before is not None:
                self._activate(before, first, n, self.values)
                self.do.product_trunk(at(self.values), at(kernels), 0, at(self.products), n)
            else:
                self.do.enter(0, 0, at(planes, first), at(self.values), n)
                self.do.product_stem(at(self.values), at(kernels), 0, at(self.products), n)
            self.do.collect(at(self.products), at(y, first), at(self.sums, first - self.first), n)
        return added_up(self.sums.array, self.in_last)

    def finish(self, last: Layer) -> None:
        """Write z of the last layer."""
        for first, n in self.blocks:
            self._activate(last, first, n, None)

    def turn(self, last: Layer, gradients: Gradients) -> np.ndarray:
        """Write g of the last layer from the gradient of its z; return the sums [2, C] of g and g · y."""
        for first, n in self.blocks:
            self._back(last, None, gradients, first, n)
        return added_up(self.sums.array, self.in_last)

    def back(
        self, layer: Layer, before: Layer | None, planes: Place, factors: Place,
        transposed: Place | None, gradients: Gradients,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Write g of the layer before; return this layer's gradient of kernels [points, I, O], and sums of that g."""
        kernels = self.of_stem if before is None else self.of_trunk
        kernels.array.fill(0)
        g = gradients.inner if layer.z is None else gradients.outer
        for first, n in self.blocks:
            self.do.spread(at(g, first), at(layer.y, first), at(factors), at(self.products), n)
            if first + n == self.end:  # rows beyond the batch stay out of every sum
                self.products.array[n - 1, :, self.in_last :] = 0
            if before is not None:
                self._values_again(before, first, n)
                self.do.gradient_trunk(at(self.values), at(self.products), 0, at(kernels), n)
                self.do.product_trunk(at(self.products), at(transposed), 0, at(self.values), n)
                self._back(before, self.values, gradients, first, n)
            else:
                self.do.enter(0, 0, at(planes, first), at(self.values), n)
                self.do.gradient_stem(at(self.values), at(self.products), 0, at(kernels), n)
        return kernels.array, added_up(self.sums.array, self.in_last)

    def _activate(self, layer: Layer, first: int, packs: int, values: Place | None) -> None:
        """Write z, if it is kept, and the next layer's values (None: there is none) for some packs."""
        kind = "middle" if layer.z is None else "open" if layer.skip is None else "last" if values is None else "close"
        getattr(self.do, f"activate_{kind}")(
            at(layer.y, first), at(layer.affine), at(layer.skip, first), at(layer.z, first), at(values), packs
        )

    def _values_again(self, layer: Layer, first: int, packs: int) -> None:
        """Write the values that the next layer got from this one."""
        if layer.z is None:
            self._activate(layer, first, packs, self.values)
        else:
            self.do.forward(0, 0, at(layer.z, first), at(self.values), packs)

    def _back(self, layer: Layer, values: Place | None, gradients: Gradients, first: int, packs: int) -> None:
        """Write g and its sums from the gradient of the next layer's values and, at a block's end, of its skip."""
        sums = at(self.sums, first - self.first)
        if layer.z is None:
            g = at(gradients.inner, first)
            self.do.back_middle(at(values), 0, at(layer.affine), at(layer.y, first), g, sums, packs)
        else:
            g = at(gradients.outer, first)
            kind = self.do.back_last if values is None else self.do.back_close
            kind(at(values), g, at(layer.z, first), at(layer.y, first), g, sums, packs)


class Halves:
    """Both halves of a batch; one if it has a single pack."""

    def __init__(self, batch: int, board: Board, planes: int, channels: int, threads: int) -> None:
        self.do, self.threads = Library.of(write_training, choose(), board, planes, channels), threads
        packs = range(-(-batch // ROWS))
        cut = -(-len(packs) // 2)
        parts = [part for part in (packs[:cut], packs[cut:]) if part]
        self.halves = [Half(self.do, batch, board, planes, channels, part) for part in parts]

    def each(
        self, work: Callable[Concatenate[Half, Given], Made], *args: Given.args, **kwargs: Given.kwargs
    ) -> list[Made]:
        """Return work(half, …) for each half."""
        here, *elsewhere = self.halves
        if self.threads == 1:
            return [work(half, *args, **kwargs) for half in self.halves]
        waiting = [_helper().submit(work, half, *args, **kwargs) for half in elsewhere]
        return [work(here, *args, **kwargs), *(other.result() for other in waiting)]

    def release(self) -> None:
        for half in self.halves:
            half.release()


def added(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return the sum of what halves have given; the first part becomes it."""
    total, *others = parts
    for other in others:
        total += other
    return total


@cache
def _helper() -> ThreadPoolExecutor:
    """Return the second thread. Compiled functions let go of Python's lock while they run."""
    return ThreadPoolExecutor(1, "half")


def placed(array: np.ndarray) -> Place:
    return Place(array, array.ctypes.data, array.strides[0])


def at(place: Place | None, first: int = 0) -> int:
    """Return the address of a row; 0 for none. The array must have a name while the address is in use."""
    return 0 if place is None else place.address + first * place.step
