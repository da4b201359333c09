"""The network in dense matrix products of torch: the form for GPUs, and an oracle of the tests on a processor.

The numbers of a position must not depend on which other positions share a call, and libraries choose how to compute a
matrix product by its shape and by the processor. So positions lie side by side in memory, [..., B]: they are the lanes
of vector instructions. A chunk has one fixed length B, padded with empty boards, a multiple of the lengths of vectors
and of the blocks that libraries take at once. The transforms treat at most 64 channels at once: products of more
columns are cut into pieces, not always at the end of a block. One thread of a processor computes a chunk: several would
share the columns.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from torch import Tensor

from probzero.devices import one_thread
from probzero.games.base import Game
from probzero.network import values, winograd
from probzero.network.convolution import transforms
from probzero.network.evaluation import Evaluation
from probzero.network.weights import HEAD_CHANNELS, Weights

CHUNK = 48  # on a processor a small chunk is as fast as a large one, and wastes less
CHUNK_OF_GPU = 20 * CHUNK
CHANNELS_AT_ONCE = 64  # more, and MKL with AVX2 cuts inside a chunk


class FoldedNet:
    """The network for chunks of exactly B positions. Activations are [H·W, C, B]: square, channel, position.

    Trunk convolutions are Winograd products (`winograd`); a bias is one more "point" that the output transform adds to
    every square. The first convolution has so few inputs that it is one product of all the boards.
    """

    def __init__(self, weights: Weights, chunk: int, device: torch.device) -> None:
        (_, height, width, _), channels = weights.shape, weights.config.channels
        inputs, _, outputs = transforms(height, width, device, torch.float32)

        def put(values: np.ndarray) -> Tensor:
            return torch.tensor(values).to(device, torch.float32).contiguous()

        def trunk(name: str) -> tuple[Tensor, Tensor]:  # [Q·P, C, C] by output and input, [C, B]
            weight, bias = weights.folded(name)
            kernels = winograd.transform_kernels(weight, height, width)
            return put(kernels.transpose(0, 2, 1)), put(bias[:, None].repeat(chunk, axis=1))

        stem, stem_bias = weights.folded("stem")
        self.stem = put(_dense(stem, height, width))  # [H·W·C, F·H·W]
        self.stem_bias = put(stem_bias[:, None])
        layers = [trunk(name) for name in weights.trunk()[1:]]
        self.blocks = list(zip(layers[::2], layers[1::2], strict=True))
        heads, heads_bias = weights.folded("heads")
        self.heads, self.heads_bias = put(heads), put(heads_bias[:, None])  # [32 (1 + heads), C]
        policy = [weights.linear(name) for name in weights.policy()]
        self.policy = [(put(weight), put(bias[:, None])) for weight, bias in policy]  # the last [A, ·]
        hidden, output = (
            [weights.linear(f"{name}.{part}") for name in weights.outcomes()] for part in ("hidden", "output")
        )
        self.widths = [len(bias) for _, bias in output]  # outputs of each

        def wide(values: np.ndarray) -> np.ndarray:  # [K, ·], zeros where a head has fewer outputs than the other
            return np.pad(values, ((0, max(self.widths) - len(values)), (0, 0)))

        self.hidden = put(np.stack([weight for weight, _ in hidden]))  # [heads, C, 32·H·W]
        self.hidden_bias = put(np.stack([bias[:, None] for _, bias in hidden]))
        self.output = put(np.stack([wide(weight) for weight, _ in output]))  # [heads, K, C]
        self.output_bias = put(np.stack([wide(bias[:, None]) for _, bias in output]))

        def parts(buffer: Tensor) -> tuple[Tensor, ...]:  # [·, C·B] cut after every so many channels
            return buffer.view(len(buffer), -1).split(CHANNELS_AT_ONCE * chunk, dim=1)

        self.inputs = inputs  # [Q·P, H·W]
        self.outputs = torch.cat([outputs, torch.ones_like(outputs[:, :1])], dim=1)  # [H·W, Q·P + 1]
        self.x = torch.zeros(height * width, channels, chunk, device=device)
        self.inner = torch.zeros_like(self.x)
        self.values = torch.zeros(len(inputs), channels, chunk, device=device)
        self.products = torch.zeros(len(inputs) + 1, channels, chunk, device=device)
        self.x_parts, self.inner_parts = parts(self.x), parts(self.inner)
        self.values_parts, self.products_parts = parts(self.values), parts(self.products)

    def __call__(self, planes: Tensor, policy: Tensor, outcomes: Tensor) -> None:
        """Read planes [F·H·W, B]; write the logits policy [A, B] and outcomes [heads, K, B] (value, reward)."""
        squares, _, chunk = self.x.shape
        torch.mm(self.stem, planes, out=self.x.view(-1, chunk))
        self.x.add_(self.stem_bias).relu_()
        for first, second in self.blocks:
            self._products(self.x_parts, *first)
            for products, inner in zip(self.products_parts, self.inner_parts, strict=True):
                torch.mm(self.outputs, products, out=inner)
            self.inner.relu_()
            self._products(self.inner_parts, *second)
            for products, x in zip(self.products_parts, self.x_parts, strict=True):
                x.addmm_(self.outputs, products)
            self.x.relu_()
        features = torch.baddbmm(self.heads_bias, self.heads.expand(squares, -1, -1), self.x).relu_()
        features = features.view(squares, -1, HEAD_CHANNELS, chunk).transpose(0, 1).flatten(1, 2)  # [·, 32·H·W, B]
        shaped = features[0]
        for weight, bias in self.policy[:-1]:
            shaped = torch.addmm(bias, weight, shaped).relu_()
        torch.addmm(self.policy[-1][1], self.policy[-1][0], shaped, out=policy)
        hidden = torch.baddbmm(self.hidden_bias, self.hidden, features[1:]).relu_()
        torch.baddbmm(self.output_bias, self.output, hidden, out=outcomes)

    def _products(self, parts: tuple[Tensor, ...], kernels: Tensor, bias: Tensor) -> None:
        """Write `products`: those at every point, and the bias, for the parts of an activation."""
        for part, evaluated in zip(parts, self.values_parts, strict=True):
            torch.mm(self.inputs, part, out=evaluated)
        torch.bmm(kernels, self.values, out=self.products[:-1])
        self.products[-1].copy_(bias)


class DenseForm:
    """The form for a device of torch's, over its tensors; see `inference.Form`."""

    def __init__(self, weights: Weights, game: Game, device: torch.device | str) -> None:
        self.game, self.device = game, torch.device(device)
        self.chunk = CHUNK if self.device.type == "cpu" else CHUNK_OF_GPU
        self.value_head = weights.config.value
        self.network = FoldedNet(weights, self.chunk, self.device)

    @torch.inference_mode()
    def __call__(self, states: Tensor, moves: Tensor) -> Evaluation:
        count, (planes, height, width, actions) = len(states), self.game.shape
        chunks = -(-count // self.chunk)
        boards = torch.zeros(chunks, self.chunk, planes * height * width, device=self.device)
        policy = torch.empty(chunks, actions, self.chunk, device=self.device)
        heads, outputs = len(self.network.widths), max(self.network.widths)
        outcomes = torch.empty(chunks, heads, outputs, self.chunk, device=self.device)
        boards.flatten(0, 1)[:count] = self.game.encode(states).flatten(1)
        boards = boards.transpose(1, 2).contiguous()
        with one_thread():
            for piece in range(chunks):
                self.network(boards[piece], policy[piece], outcomes[piece])
        barred = torch.ones(count, actions, dtype=torch.bool, device=self.device).scatter_(1, moves, False)
        logits = policy.transpose(1, 2).flatten(0, 1)[:count].masked_fill(barred, -torch.inf)
        prior = logits.softmax(-1).gather(1, moves)
        outcomes = outcomes.permute(1, 0, 3, 2).flatten(1, 2)[:, :count]  # [heads, n, K]
        value = values.to_wdl(self.value_head, outcomes[0, :, : self.network.widths[0]])
        reward = outcomes[1, :, : self.network.widths[1]].softmax(-1) if heads == 2 else value
        return Evaluation(prior, value, reward)

    def mark(self) -> Any:
        if self.device.type == "cpu":
            return time.perf_counter()
        event = torch.get_device_module(self.device).Event(enable_timing=True)
        event.record()
        return event

    def between(self, began: Any, ended: Any) -> float:
        if self.device.type == "cpu":
            return ended - began
        ended.synchronize()
        return began.elapsed_time(ended) / 1000


def _dense(weight: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return the convolution with `weight` [O, I, 3, 3] as one matrix [H·W·O, I·H·W]: rows by square and channel."""
    inputs = weight.shape[1] * height * width
    one_hot = torch.eye(inputs, dtype=torch.float64).view(inputs, -1, height, width)
    answers = torch.nn.functional.conv2d(one_hot, torch.from_numpy(weight), padding=1).flatten(2)  # [I·H·W, O, H·W]
    return answers.permute(2, 1, 0).flatten(0, 1).numpy()
