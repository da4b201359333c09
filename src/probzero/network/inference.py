"""The network as the search uses it: batch norm folded away, matrix products only, probabilities instead of logits.

The numbers of a position must not depend on which other positions share a call: a cached evaluation is then the very
number a fresh one would be. Libraries choose how to compute a matrix product by its shape and by the processor, and may
treat the last few rows or columns in another way. So that this sets no two positions apart:

- Positions lie side by side in memory, [..., B]: they are the lanes of vector instructions, and what is done to one is
  done to all. (The other way round they would be rows of products with as many columns as there are channels, and
  libraries have different code for the first and the last rows of narrow products.)
- A chunk has one fixed length B, padded with empty boards. It is a multiple of 48, so of the lengths of vectors and of
  the blocks of vectors that libraries take at once (8, 16, 24 or 48 numbers): no lane is left over.
- The transforms treat all channels of a chunk alike, as columns of one product, but at most 64 channels at once:
  libraries cut products of more columns into pieces that fit a cache, not always at the end of a block.
- One thread computes a chunk: several would share the columns between them, again not always by blocks.

`tests/network/test_processors.py` tries this as if on other processors.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor

from probzero.errors import bad
from probzero.games.base import Game
from probzero.network import values, winograd
from probzero.network.model import HEAD_CHANNELS, Norm, Perceptron, ProbZeroNet

CHUNK = 48  # on a processor a small chunk is as fast as a large one, and wastes less
CHUNK_OF_GPU = 20 * CHUNK
CHANNELS_AT_ONCE = 64  # more, and MKL with AVX2 cuts inside a chunk


class Evaluation(NamedTuple):
    prior: Tensor  # [n, K] float32 by listed move, sums to 1 over the legal ones
    value: Tensor  # [n, 3] float32 probabilities in the order of `wdl`
    reward: Tensor  # [n, 3] float32 probabilities in the order of `wdl`


def resolve_device(name: str) -> torch.device:
    """Return the device of that name, or fail if this machine has none such; auto is CUDA where there is any."""
    present = torch.cuda.is_available()
    if name == "cuda" and not present:
        raise bad("device", name, "a CUDA device of this machine", "none")
    return torch.device("cuda" if present and name != "cpu" else "cpu")


class FoldedNet:
    """The network for chunks of exactly B positions. Activations are [H·W, C, B]: square, channel, position.

    Trunk convolutions are Winograd products (`winograd`); a bias is one more "point" that the output transform adds to
    every square. The first convolution has so few inputs that it is one product of all the boards.
    """

    def __init__(self, model: ProbZeroNet, chunk: int, device: torch.device) -> None:
        (_, height, width, _), channels = model.shape, model.channels
        inputs, _, outputs = winograd.tensors(height, width, device, torch.float32)

        def put(values: Tensor) -> Tensor:
            return values.detach().to(device, torch.float32, copy=True).contiguous()

        def trunk(weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:  # [Q·P, C, C] by output and input, [C, B]
            kernels = winograd.transform_kernels(weight, height, width)
            return put(kernels.transpose(1, 2)), put(bias[:, None].expand(-1, chunk))

        stem, stem_bias = _fold(model.stem.weight, model.stem_norm)
        self.stem = put(_dense(stem, height, width))  # [H·W·C, F·H·W]
        self.stem_bias = put(stem_bias[:, None])
        self.blocks = [
            (
                *trunk(*_fold(block.first.weight, block.first_norm)),
                *trunk(*_fold(block.second.weight, block.second_norm)),
            )
            for block in model.blocks
        ]
        heads, heads_bias = _fold(model.heads.weight, model.heads_norm)
        self.heads, self.heads_bias = put(heads), put(heads_bias[:, None])  # [32 (1 + heads), C]
        layers = [model.policy.hidden, model.policy.output] if isinstance(model.policy, Perceptron) else [model.policy]
        self.policy = [(put(layer.weight), put(layer.bias[:, None])) for layer in layers]  # the last [A, ·]
        outcomes = [model.value] if model.reward is None else [model.value, model.reward]
        self.widths = [len(outcome.output.bias) for outcome in outcomes]  # outputs of each

        def wide(values: Tensor) -> Tensor:  # [K, ·], zeros where a head has fewer outputs than the other
            return torch.nn.functional.pad(values, (0, 0, 0, max(self.widths) - len(values)))

        self.hidden = put(torch.stack([outcome.hidden.weight for outcome in outcomes]))  # [heads, C, 32·H·W]
        self.hidden_bias = put(torch.stack([outcome.hidden.bias[:, None] for outcome in outcomes]))
        self.output = put(torch.stack([wide(outcome.output.weight) for outcome in outcomes]))  # [heads, K, C]
        self.output_bias = put(torch.stack([wide(outcome.output.bias[:, None]) for outcome in outcomes]))

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
        for first, first_bias, second, second_bias in self.blocks:
            self._products(self.x_parts, first, first_bias)
            for products, inner in zip(self.products_parts, self.inner_parts, strict=True):
                torch.mm(self.outputs, products, out=inner)
            self.inner.relu_()
            self._products(self.inner_parts, second, second_bias)
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


class Evaluator:
    """Evaluates positions; counts its calls, the positions sent and the seconds spent in them."""

    def __init__(self, model: ProbZeroNet, game: Game, device: torch.device | str) -> None:
        if model.shape != game.shape:
            raise bad("evaluator", "shape of the network", tuple(game.shape), tuple(model.shape))
        self.game = game
        self.device = torch.device(device)
        self.chunk = CHUNK if self.device.type == "cpu" else CHUNK_OF_GPU
        self._synchronize = torch.get_device_module(self.device).synchronize  # nothing to do on a processor
        self.value_head = model.config.value
        self.network = FoldedNet(model, self.chunk, self.device)
        self.calls = 0
        self.positions = 0
        self.seconds = 0.0

    @torch.inference_mode()
    def __call__(self, states: Tensor, moves: Tensor) -> Evaluation:
        """Return the evaluation of states [n, W] whose legal moves are listed in moves [n, K], one at least.

        The only place where logits become probabilities for the search. A row of moves may list a move repeatedly.
        """
        self._synchronize()
        start = time.perf_counter()
        count, (planes, height, width, actions) = len(states), self.game.shape
        chunks = -(-count // self.chunk)
        boards = torch.zeros(chunks, self.chunk, planes * height * width, device=self.device)
        policy = torch.empty(chunks, actions, self.chunk, device=self.device)
        heads, outputs = len(self.network.widths), max(self.network.widths)
        outcomes = torch.empty(chunks, heads, outputs, self.chunk, device=self.device)
        boards.flatten(0, 1)[:count] = self.game.encode(states).flatten(1)
        boards = boards.transpose(1, 2).contiguous()
        with _one_thread():
            for piece in range(chunks):
                self.network(boards[piece], policy[piece], outcomes[piece])
        barred = torch.ones(count, actions, dtype=torch.bool, device=self.device).scatter_(1, moves, False)
        logits = policy.transpose(1, 2).flatten(0, 1)[:count].masked_fill(barred, -torch.inf)
        prior = logits.softmax(-1).gather(1, moves)
        outcomes = outcomes.permute(1, 0, 3, 2).flatten(1, 2)[:, :count]  # [heads, n, K]
        value = values.to_wdl(self.value_head, outcomes[0, :, : self.network.widths[0]])
        reward = outcomes[1, :, : self.network.widths[1]].softmax(-1) if heads == 2 else value
        self._synchronize()
        self.seconds += time.perf_counter() - start
        self.calls += 1
        self.positions += count
        return Evaluation(prior, value, reward)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Leave the products inside to one thread of the processor, if it is there that they are computed."""
    before = torch.get_num_threads()
    if before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _fold(weight: Tensor, norm: Norm) -> tuple[Tensor, Tensor]:
    """Return weight [O, ...] and bias [O] (float64) of the layer that equals `norm` after a layer with this weight."""
    assert norm.running_mean is not None and norm.running_var is not None
    scale = norm.weight.double() / (norm.running_var.double() + norm.eps).sqrt()
    folded = weight.double() * scale.view(-1, *[1] * (weight.dim() - 1))
    return folded.detach(), (norm.bias.double() - norm.running_mean.double() * scale).detach()


def _dense(weight: Tensor, height: int, width: int) -> Tensor:
    """Return the convolution with `weight` [O, I, 3, 3] as one matrix [H·W·O, I·H·W]: rows by square and channel."""
    inputs = weight.shape[1] * height * width
    one_hot = torch.eye(inputs, dtype=weight.dtype, device=weight.device).view(inputs, -1, height, width)
    answers = torch.nn.functional.conv2d(one_hot, weight, padding=1).flatten(2)  # [I·H·W, O, H·W]
    return answers.permute(2, 1, 0).flatten(0, 1)
