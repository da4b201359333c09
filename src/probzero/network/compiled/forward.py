"""The network's logits from compiled layers: batch norm folded away, any number of positions in packs of eight."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from probzero.network.compiled.layers import ROWS, Board, write_pass, write_product
from probzero.network.compiled.library import Library
from probzero.network.compiled.target import Target, choose
from probzero.network.compiled.writer import write_sequence
from probzero.network.weights import HEAD_CHANNELS, Layer, Weights, value_outputs
from probzero.network.winograd import transform_kernels

BLOCK = 6  # packs that go through the network together: their values stay in the second-level cache
CACHE_LINE = 64


class CompiledNet:
    """A network for any number of positions. Its buffers are its own: one for each thread."""

    def __init__(self, weights: Weights, target: Target | None = None) -> None:
        shape, channels, blocks = weights.shape, weights.config.channels, weights.config.blocks
        board = Board(shape.height, shape.width)
        squares, points = shape.squares, board.points[0] * board.points[1]
        trunk = [_trunk(weights, name) for name in weights.trunk()]
        heads = _linear(weights.folded("heads"))
        policy = [_linear(weights.linear(name)) for name in weights.policy()]
        hidden, output = (_stacked(weights, part) for part in ("hidden", "output"))
        outcomes, features = len(weights.outcomes()), len(heads[1])
        self.shape, self.widths = shape, [value_outputs(weights.config), 3][:outcomes]  # numbers of each outcome

        def room(*sizes: int) -> np.ndarray:
            return aligned(BLOCK, *sizes)

        self.planes = room(squares, ROWS, shape.planes)
        self.policy, self.outcomes = room(ROWS, shape.actions), room(outcomes, ROWS, max(self.widths))
        x, at_squares = room(squares, ROWS, channels), room(squares, ROWS, features)
        first, values, products = (room(points, ROWS, n) for n in (shape.planes, channels, channels))
        shaped, judged = room(ROWS, len(policy[0][1])), room(outcomes, ROWS, channels)
        # Every call of a compiled function, in order: its name and its four arrays.
        steps: list[tuple] = [("enter", None, None, self.planes, first)]
        passes = ["open", *["middle", "close"] * blocks]
        passes[-1] = "last" if blocks else "only"
        for i, (name, (kernels, bias)) in enumerate(zip(passes, trunk, strict=True)):
            steps.append(("trunk" if i else "stem", values if i else first, kernels, None, products))
            steps.append((name, products, bias, x, values))
        steps.append(("heads", x, *heads, at_squares))
        if len(policy) == 1:
            steps.append(("policy", at_squares, *policy[0], self.policy))
        else:
            steps.append(("policy_hidden", at_squares, *policy[0], shaped))
            steps.append(("policy_output", shaped, *policy[1], self.policy))
        steps.append(("hidden", at_squares[..., HEAD_CHANNELS:], *hidden, judged))
        steps.append(("output", judged, *output, self.outcomes))
        chosen, hidden_width = target or choose(), weights.config.policy_hidden
        trunk_code = Library.of(write_trunk, chosen, board, shape.planes, channels)
        sizes = squares, shape.actions, channels, HEAD_CHANNELS, hidden_width
        heads_code = Library.of(write_heads, chosen, *sizes, *self.widths)
        found = {**trunk_code.addresses, **heads_code.addresses}
        self._kept = steps, trunk_code, heads_code  # the table has their addresses alone
        self._table = np.array(
            [[found[name], *(0 if a is None else a.ctypes.data for a in arrays)] for name, *arrays in steps], np.int64
        )
        self._run = Library.of(write_sequence, chosen).sequence

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the logits policy [n, A] and outcomes [heads, n, K] of the positions with planes [n, F, H, W]."""
        count, packs, height = len(planes), -(-len(planes) // ROWS), self.planes.shape[1]
        padded = np.zeros((packs, ROWS, self.shape.planes, height), np.float32)
        rows = packs * ROWS
        padded.reshape(rows, *padded.shape[2:])[:count] = planes.reshape(count, *padded.shape[2:])
        policy = np.empty((packs, *self.policy.shape[1:]), np.float32)
        outcomes = np.empty((packs, *self.outcomes.shape[1:]), np.float32)
        for first in range(0, packs, BLOCK):
            chosen = slice(first, first + BLOCK)
            n = len(padded[chosen])
            self.planes[:n] = padded[chosen].transpose(0, 3, 1, 2)
            self._run(self._table.ctypes.data, len(self._table), n)
            policy[chosen], outcomes[chosen] = self.policy[:n], self.outcomes[:n]
        outcomes = outcomes.transpose(1, 0, 2, 3).reshape(len(self.widths), rows, max(self.widths))
        return policy.reshape(rows, self.shape.actions)[:count], outcomes[:, :count]


def write_trunk(module: ir.Module, target: Target, board: Board, planes: int, channels: int) -> None:
    """Write the functions of the layers with 3×3 convolutions, for any number of them."""
    points = board.points[0] * board.points[1]
    write_pass(module, target, "enter", board, planes, inverse=False)
    write_pass(module, target, "open", board, channels, keep=True)
    write_pass(module, target, "middle", board, channels)
    write_pass(module, target, "close", board, channels, skip=True, keep=True)
    write_pass(module, target, "last", board, channels, skip=True, keep=True, forward=False)
    write_pass(module, target, "only", board, channels, keep=True, forward=False)
    write_product(module, target, "stem", points=points, inputs=planes, outputs=channels)
    write_product(module, target, "trunk", points=points, inputs=channels, outputs=channels)


def write_heads(
    module: ir.Module, target: Target, squares: int, actions: int, channels: int, each: int, hidden: int, *widths: int
) -> None:
    """Write the functions of the heads, which are products alone; `each` head has so many channels at a square."""
    outcomes = len(widths)
    features = (1 + outcomes) * each
    write_product(
        module, target, "heads", points=squares, inputs=channels, outputs=features, bias=True, relu=True,
        w_point=0, w_term=0,
    )  # fmt: skip
    # A head's features are its channels at every square: the squares are terms.
    ends: dict[str, Any] = {"terms": squares, "inputs": each, "bias": True, "a_point": each,
            "a_pack": squares * ROWS * features, "a_term": ROWS * features, "a_row": features}  # fmt: skip
    if hidden:
        write_product(module, target, "policy_hidden", points=1, outputs=hidden, relu=True, **ends)
        write_product(module, target, "policy_output", points=1, inputs=hidden, outputs=actions, bias=True)
    else:
        write_product(module, target, "policy", points=1, outputs=actions, **ends)
    write_product(module, target, "hidden", points=outcomes, outputs=channels, relu=True, **ends)
    write_product(module, target, "output", points=outcomes, inputs=channels, outputs=max(widths), bias=True)


def aligned(*shape: int) -> np.ndarray:
    """Return float32 zeros that begin at a cache line."""
    size, line = int(np.prod(shape)), CACHE_LINE // 4
    flat = np.zeros(size + line, np.float32)
    first = -flat.ctypes.data % CACHE_LINE // 4
    return flat[first : first + size].reshape(shape)


def _float32(values: np.ndarray) -> np.ndarray:
    array = aligned(*values.shape)
    array[...] = values
    return array


def _trunk(weights: Weights, name: str) -> Layer:
    """Return kernels [points, I, O] and bias [8, O] of a convolution."""
    weight, bias = weights.folded(name)
    kernels = transform_kernels(weight, weights.shape.height, weights.shape.width)
    return _float32(kernels), _float32(np.tile(bias, (ROWS, 1)))


def _linear(layer: Layer) -> Layer:
    """Return weight [I, O] and bias [O]."""
    return _float32(layer[0].T), _float32(layer[1])


def _stacked(weights: Weights, part: str) -> Layer:
    """Return the layers of this name of all outcomes as one, zeros where a head has fewer outputs than another."""
    layers = [weights.linear(f"{name}.{part}") for name in weights.outcomes()]
    widest = max(len(bias) for _, bias in layers)
    weight = [np.pad(weight.T, ((0, 0), (0, widest - len(bias)))) for weight, bias in layers]
    return _float32(np.stack(weight)), _float32(np.stack([np.pad(bias, (0, widest - len(bias))) for _, bias in layers]))
