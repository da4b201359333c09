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
from torch import Tensor, nn

from probzero import wdl
from probzero.errors import bad
from probzero.games.othello import othello
from probzero.network.model import HEAD_CHANNELS, PLANES, Head, ProbZeroNet
from probzero.network.winograd import transforms

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
        self.chunk = chunk
        squares, channels = model.size**2, model.channels
        inputs, kernels, outputs = (torch.from_numpy(matrix) for matrix in transforms(model.size))
        points = len(inputs)

        def put(values: Tensor) -> Tensor:
            return values.detach().to(device, torch.float32).contiguous()

        def trunk(convolution: nn.Conv2d, norm: nn.BatchNorm2d) -> tuple[Tensor, Tensor]:  # [P², C, C] and [B·C]
            weight, bias = _fold(convolution, norm)
            transformed = kernels @ weight.flatten(2).permute(2, 1, 0).flatten(1)
            return put(transformed.view(points, channels, channels)), put(bias.repeat(chunk))

        stem, stem_bias = _fold(model.stem, model.stem_norm)
        one_disc = torch.eye(PLANES * squares, dtype=torch.float64).view(-1, PLANES, model.size, model.size)
        response = nn.functional.conv2d(one_disc, stem, padding=1)  # of every square to one disc
        self.stem = put(response.flatten(2).permute(2, 0, 1))  # [N², 2N², C]
        self.stem_bias = put(stem_bias)
        self.blocks = [
            (*trunk(block.first, block.first_norm), *trunk(block.second, block.second_norm)) for block in model.blocks
        ]
        heads = (model.policy, model.value, model.reward)
        folded = [_fold(head.convolution, head.norm) for head in heads]
        self.heads = put(torch.stack([weight.flatten(1).T for weight, _ in folded]))  # [3, C, 32]
        self.heads_bias = put(torch.stack([bias[None] for _, bias in folded]))  # [3, 1, 32]
        self.policy = put(_by_square(model.policy.output, squares))  # [32N², N² + 1]
        self.policy_bias = put(model.policy.output.bias)
        hidden = [_hidden(head) for head in heads[1:]]
        self.hidden = put(torch.stack([_by_square(layer, squares) for layer in hidden]))  # [2, 32N², C]
        self.hidden_bias = put(torch.stack([layer.bias[None] for layer in hidden]))
        self.wdl = put(torch.stack([head.output.weight.T for head in heads[1:]]))  # [2, C, 3]
        self.wdl_bias = put(torch.stack([head.output.bias[None] for head in heads[1:]]))

        self.inputs = put(inputs)  # [P², N²]
        self.outputs = put(torch.cat([outputs, torch.ones(squares, 1)], dim=1))  # [N², P² + 1]
        self.x = put(torch.zeros(squares, chunk, channels))
        self.inner = put(torch.zeros(squares, chunk * channels))
        self.values = put(torch.zeros(points, chunk, channels))
        self.products = put(torch.zeros(points + 1, chunk * channels))

    def __call__(self, planes: Tensor, policy: Tensor, wdl_logits: Tensor) -> None:
        """Read planes [B, 2N²]; write logits policy [B, N² + 1] and wdl_logits [2, B, 3] (value, reward)."""
        squares, chunk, channels = self.x.shape
        torch.bmm(planes.expand(squares, -1, -1), self.stem, out=self.x)
        self.x.add_(self.stem_bias).relu_()
        x = self.x.view(squares, -1)
        for first, first_bias, second, second_bias in self.blocks:
            torch.mm(self.outputs, self._products(x, first, first_bias), out=self.inner).relu_()
            x.addmm_(self.outputs, self._products(self.inner, second, second_bias)).relu_()
        features = torch.baddbmm(self.heads_bias, self.x.view(1, -1, channels).expand(3, -1, -1), self.heads).relu_()
        features = features.view(3, squares, chunk, HEAD_CHANNELS).transpose(1, 2).reshape(3, chunk, -1)
        torch.addmm(self.policy_bias, features[0], self.policy, out=policy)
        hidden = torch.baddbmm(self.hidden_bias, features[1:], self.hidden).relu_()
        torch.baddbmm(self.wdl_bias, hidden, self.wdl, out=wdl_logits)

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
        both = torch.empty(chunks, 2, self.chunk, wdl.SIZE, device=self.device)
        planes.flatten(0, 1)[:count] = self.rules.encode(own, opp).flatten(1)
        for piece in range(chunks):
            self.network(planes[piece], policy[piece], both[piece])
        prior = policy.flatten(0, 1)[:count].masked_fill(~legal, -torch.inf).softmax(-1)
        value, reward = both.transpose(0, 1).flatten(1, 2)[:, :count].softmax(-1)
        self._synchronize()
        self.seconds += time.perf_counter() - start
        self.calls += 1
        self.positions += count
        return Evaluation(prior, value, reward)

    def _synchronize(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


def _fold(convolution: nn.Conv2d, norm: nn.BatchNorm2d) -> tuple[Tensor, Tensor]:
    """Return weight and bias (float64) of the convolution that equals `norm` after `convolution` in evaluation mode."""
    assert norm.running_mean is not None and norm.running_var is not None
    scale = norm.weight.double() / (norm.running_var.double() + norm.eps).sqrt()
    weight = convolution.weight.double() * scale[:, None, None, None]
    return weight.detach().cpu(), (norm.bias.double() - norm.running_mean.double() * scale).detach().cpu()


def _by_square(linear: nn.Linear, squares: int) -> Tensor:
    """Return the transposed weights [32N², outputs] for features ordered by square first, then by channel."""
    return linear.weight.view(-1, HEAD_CHANNELS, squares).permute(2, 1, 0).flatten(0, 1)


def _hidden(head: Head) -> nn.Linear:
    assert head.hidden is not None
    return head.hidden
