"""The network as the search uses it: batch norm folded away, matrix products only, probabilities instead of logits.

The numbers of a position must not depend on which other positions share a call: a cached evaluation is then the very
number a fresh one would be. Libraries choose how to compute a matrix product by its shape, and treat the last few rows
in another way. So positions go through the network in chunks of one fixed length, padded with empty boards, and that
length is a multiple of 48: no row is then left over, neither for AVX-512 (blocks of 16 rows) nor for AVX2 (of 24).
"""

from __future__ import annotations

import time
from typing import NamedTuple

import torch
from torch import Tensor

from probzero.errors import bad
from probzero.games.othello import othello
from probzero.network import values, winograd
from probzero.network.model import PLANES, Norm, Perceptron, ProbZeroNet, split_heads

ROWS = 48
CHUNKS = {"cpu": ROWS, "cuda": 20 * ROWS}  # on a processor a small chunk is as fast as a large one, and wastes less


class Evaluation(NamedTuple):
    prior: Tensor  # [n, N² + 1] float32, sums to 1 over the legal moves
    value: Tensor  # [n, 3] float32 probabilities in the order of `wdl`
    reward: Tensor  # [n, 3] float32 probabilities in the order of `wdl`


def resolve_device(name: str) -> torch.device:
    """Return the device of that name, or fail if this machine has none such."""
    device = torch.device(name)
    if device.type == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if (device.index or 0) >= count:
            raise bad("device", name, "a CUDA device of this machine", f"{count} of them")
    return device


class FoldedNet:
    """The network for chunks of exactly B positions. Activations are [N², B, C]: square, position, channel.

    Trunk convolutions are Winograd products (`winograd`); a bias is one more "point" that the output transform adds to
    every square. The first convolution has so few inputs that it is one product with each square's row of weights.
    """

    def __init__(self, model: ProbZeroNet, chunk: int, device: torch.device) -> None:
        squares, channels = model.size**2, model.channels
        inputs, _, outputs = winograd.tensors(model.size, device, torch.float32)

        def put(values: Tensor) -> Tensor:
            return values.detach().to(device, torch.float32).contiguous()

        def trunk(weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:  # [P², C, C] and [B·C]
            return put(winograd.transform_kernels(weight, model.size)), put(bias.repeat(chunk))

        stem, stem_bias = _fold(model.stem.weight, model.stem_norm)
        self.stem = put(_dense(stem, model.size))  # [N², 2N², C]
        self.stem_bias = put(stem_bias)
        self.blocks = [
            (
                *trunk(*_fold(block.first.weight, block.first_norm)),
                *trunk(*_fold(block.second.weight, block.second_norm)),
            )
            for block in model.blocks
        ]
        heads, heads_bias = _fold(model.heads.weight, model.heads_norm)
        self.heads, self.heads_bias = put(heads.T), put(heads_bias)  # [C, 96]
        layers = [model.policy.hidden, model.policy.output] if isinstance(model.policy, Perceptron) else [model.policy]
        self.policy = [(put(layer.weight.T), put(layer.bias)) for layer in layers]  # the last [·, N² + 1]
        outcomes = [model.value] if model.reward is None else [model.value, model.reward]
        self.widths = [len(outcome.output.bias) for outcome in outcomes]  # outputs of each

        def wide(values: Tensor) -> Tensor:  # zeros where a head has fewer outputs than the other
            return torch.nn.functional.pad(values, (0, max(self.widths) - values.shape[-1]))

        self.hidden = put(torch.stack([outcome.hidden.weight.T for outcome in outcomes]))  # [H, 32N², C]
        self.hidden_bias = put(torch.stack([outcome.hidden.bias[None] for outcome in outcomes]))
        self.output = put(torch.stack([wide(outcome.output.weight.T) for outcome in outcomes]))  # [H, C, K]
        self.output_bias = put(torch.stack([wide(outcome.output.bias[None]) for outcome in outcomes]))

        self.inputs = inputs  # [P², N²]
        self.outputs = torch.cat([outputs, torch.ones_like(outputs[:, :1])], dim=1)  # [N², P² + 1]
        self.x = torch.zeros(squares, chunk, channels, device=device)
        self.inner = torch.zeros(squares, chunk * channels, device=device)
        self.values = torch.zeros(len(inputs), chunk, channels, device=device)
        self.products = torch.zeros(len(inputs) + 1, chunk * channels, device=device)

    def __call__(self, planes: Tensor, policy: Tensor, outcomes: Tensor) -> None:
        """Read planes [B, 2N²]; write the logits policy [B, N² + 1] and outcomes [H, B, K] (value, reward)."""
        squares, chunk, channels = self.x.shape
        torch.bmm(planes.expand(squares, -1, -1), self.stem, out=self.x)
        self.x.add_(self.stem_bias).relu_()
        x = self.x.view(squares, -1)
        for first, first_bias, second, second_bias in self.blocks:
            torch.mm(self.outputs, self._products(x, first, first_bias), out=self.inner).relu_()
            x.addmm_(self.outputs, self._products(self.inner, second, second_bias)).relu_()
        features = torch.addmm(self.heads_bias, self.x.view(-1, channels), self.heads).relu_()
        features = split_heads(features.view(squares, chunk, -1))
        shaped = features[0]
        for weight, bias in self.policy[:-1]:
            shaped = torch.addmm(bias, shaped, weight).relu_()
        torch.addmm(self.policy[-1][1], shaped, self.policy[-1][0], out=policy)
        hidden = torch.baddbmm(self.hidden_bias, features[1:], self.hidden).relu_()
        torch.baddbmm(self.output_bias, hidden, self.output, out=outcomes)

    def _products(self, x: Tensor, kernels: Tensor, bias: Tensor) -> Tensor:
        """Return [P² + 1, B·C]: the products at every point, and the bias, for x [N², B·C]."""
        torch.mm(self.inputs, x, out=self.values.view(len(self.inputs), -1))
        torch.bmm(self.values, kernels, out=self.products[:-1].view_as(self.values))
        self.products[-1].copy_(bias)
        return self.products


class Evaluator:
    """Evaluates positions given as bitboards; counts its calls, the positions sent and the seconds spent in them."""

    def __init__(self, model: ProbZeroNet, size: int, device: torch.device | str, chunk: int | None = None) -> None:
        if model.size != size:
            raise bad("evaluator", "board size of the network", size, model.size)
        self.rules = othello(size)
        self.device = torch.device(device)
        self.chunk = chunk or CHUNKS[self.device.type]
        if self.chunk % ROWS:
            raise bad("evaluator", "chunk", f"a multiple of {ROWS}", chunk)
        self.value_head = model.config.value
        self.network = FoldedNet(model, self.chunk, self.device)
        self.calls = 0
        self.positions = 0
        self.seconds = 0.0

    @torch.inference_mode()
    def __call__(self, own: Tensor, opp: Tensor, legal: Tensor) -> Evaluation:
        """Return the evaluation of positions own, opp [n] (int64) with legal moves [n, N² + 1] (bool), one at least.

        The only place where logits become probabilities for the search.
        """
        self._synchronize()
        start = time.perf_counter()
        count = len(own)
        chunks = -(-count // self.chunk)
        planes = torch.zeros(chunks, self.chunk, PLANES * self.rules.squares, device=self.device)
        policy = torch.empty(chunks, self.chunk, self.rules.actions, device=self.device)
        heads, width = len(self.network.widths), max(self.network.widths)
        outcomes = torch.empty(chunks, heads, self.chunk, width, device=self.device)
        planes.flatten(0, 1)[:count] = self.rules.encode(own, opp).flatten(1)
        for piece in range(chunks):
            self.network(planes[piece], policy[piece], outcomes[piece])
        prior = policy.flatten(0, 1)[:count].masked_fill(~legal, -torch.inf).softmax(-1)
        outcomes = outcomes.transpose(0, 1).flatten(1, 2)[:, :count]  # [H, n, K]
        value = values.to_wdl(self.value_head, outcomes[0, :, : self.network.widths[0]])
        reward = outcomes[1, :, : self.network.widths[1]].softmax(-1) if heads == 2 else value
        self._synchronize()
        self.seconds += time.perf_counter() - start
        self.calls += 1
        self.positions += count
        return Evaluation(prior, value, reward)

    def _synchronize(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


def _fold(weight: Tensor, norm: Norm) -> tuple[Tensor, Tensor]:
    """Return weight [O, ...] and bias [O] (float64) of the layer that equals `norm` after a layer with this weight."""
    assert norm.running_mean is not None and norm.running_var is not None
    scale = norm.weight.double() / (norm.running_var.double() + norm.eps).sqrt()
    folded = weight.double() * scale.view(-1, *[1] * (weight.dim() - 1))
    return folded.detach(), (norm.bias.double() - norm.running_mean.double() * scale).detach()


def _dense(weight: Tensor, size: int) -> Tensor:
    """Return the convolution with `weight` [O, I, 3, 3] as one matrix [I·N², O] for each of the N² output squares."""
    inputs = weight.shape[1] * size * size
    one_hot = torch.eye(inputs, dtype=weight.dtype, device=weight.device).view(inputs, -1, size, size)
    return torch.nn.functional.conv2d(one_hot, weight, padding=1).flatten(2).permute(2, 0, 1)
