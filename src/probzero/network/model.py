"""The network in its training form: a residual trunk with a policy, a value and a reward head.

    planes [B, 2, N, N] → 3×3 convolution to C channels, BN, ReLU
                        → `blocks` × (convolution, BN, ReLU, convolution, BN, + skip, ReLU)
                        → three heads, each a 1×1 convolution to 32 channels, BN, ReLU, flatten:
                          policy → N² + 1 logits; value → C → 3 logits; reward → C → 3 logits

Every output is a plain logit: softmax is applied in `inference` for the search, and in the loss for training.
Inside, activations are [N², B, C] (square, position, channel): every layer is then a product of contiguous matrices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from probzero import wdl
from probzero.config import Network
from probzero.network import winograd

PLANES = 2  # own discs, opposing discs
HEADS = 3  # policy, value, reward
HEAD_CHANNELS = 32


class Outputs(NamedTuple):
    policy: Tensor  # [B, N² + 1] logits
    value: Tensor  # [B, 3] logits in the order of `wdl`
    reward: Tensor  # [B, 3] logits in the order of `wdl`


class Convolution(nn.Module):
    """3×3 convolution of whole boards, [N², B, I] → [N², B, O], zeros around the board; see `winograd`.

    It has no bias: the batch norm that follows has one.
    """

    def __init__(self, size: int, inputs: int, outputs: int) -> None:
        super().__init__()
        self.size = size
        self.weight = nn.Parameter(torch.empty(outputs, inputs, winograd.TAPS, winograd.TAPS))
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))

    def forward(self, x: Tensor) -> Tensor:
        squares, batch, inputs = x.shape
        evaluate, _, interpolate = winograd.tensors(self.size, x.device, x.dtype)
        values = (evaluate @ x.view(squares, -1)).view(-1, batch, inputs)
        products = values @ winograd.transform_kernels(self.weight, self.size)
        return (interpolate @ products.view(len(products), -1)).view(squares, batch, -1)


class Norm(nn.BatchNorm1d):
    """Batch norm of each channel, then + skip if there is one, then ReLU; everything [N², B, C]."""

    def forward(self, x: Tensor, skip: Tensor | None = None) -> Tensor:
        # In place on the norm's own output: on a view of it, autograd would copy the whole tensor back and forth.
        y = super().forward(x.view(-1, x.shape[-1]))
        if skip is not None:
            y = y.add_(skip.view_as(y))
        return y.relu_().view_as(x)


class Block(nn.Module):
    """x → ReLU(x + BN(conv(ReLU(BN(conv(x)))))), everything [N², B, C]."""

    def __init__(self, size: int, channels: int) -> None:
        super().__init__()
        self.first = Convolution(size, channels, channels)
        self.first_norm = Norm(channels)
        self.second = Convolution(size, channels, channels)
        self.second_norm = Norm(channels)

    def forward(self, x: Tensor) -> Tensor:
        return self.second_norm(self.second(self.first_norm(self.first(x))), skip=x)


class Outcome(nn.Module):
    """The end of the value and of the reward head: features [B, 32N²] → C → 3 logits."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(features, hidden)
        self.output = nn.Linear(hidden, wdl.SIZE)

    def forward(self, features: Tensor) -> Tensor:
        return self.output(self.hidden(features).relu())


class ProbZeroNet(nn.Module):
    """The network for N×N boards with `blocks` residual blocks of `channels` channels."""

    def __init__(self, size: int, blocks: int, channels: int) -> None:
        super().__init__()
        self.size = size
        self.channels = channels
        self.stem = Convolution(size, PLANES, channels)
        self.stem_norm = Norm(channels)
        self.blocks: Sequence[Block] = nn.ModuleList(Block(size, channels) for _ in range(blocks))  # type: ignore[assignment]
        self.heads = nn.Linear(channels, HEADS * HEAD_CHANNELS, bias=False)  # the three 1×1 convolutions as one
        self.heads_norm = Norm(HEADS * HEAD_CHANNELS)
        features = HEAD_CHANNELS * size * size
        self.policy = nn.Linear(features, size * size + 1)
        self.value = Outcome(features, channels)
        self.reward = Outcome(features, channels)

    @property
    def config(self) -> Network:
        return Network(blocks=len(self.blocks), channels=self.channels)

    def forward(self, planes: Tensor) -> Outputs:
        """Return the logits of the positions with planes [B, 2, N, N] (float32)."""
        x = planes.flatten(2).permute(2, 0, 1).contiguous()
        x = self.stem_norm(self.stem(x))
        for block in self.blocks:
            x = block(x)
        policy, value, reward = split_heads(self.heads_norm(self.heads(x)))
        return Outputs(self.policy(policy), self.value(value), self.reward(reward))


def split_heads(x: Tensor) -> Tensor:
    """Return the flat features [3, B, 32N²] of the three heads, by square and then by channel, from [N², B, 96]."""
    squares, batch, _ = x.shape
    return x.view(squares, batch, HEADS, HEAD_CHANNELS).permute(2, 1, 0, 3).reshape(HEADS, batch, -1)


def build(size: int, network: Network, seed_key: int) -> ProbZeroNet:
    """Return a new network whose weights are a function of `seed_key` alone; no global generator is left changed."""
    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(seed_key)
        return ProbZeroNet(size, network.blocks, network.channels)
