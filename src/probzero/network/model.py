"""The network in its training form: a residual trunk with a policy, a value and a reward head.

    planes [B, 2, N, N] → 3×3 conv to C channels, BN, ReLU
                        → `blocks` × (conv, BN, ReLU, conv, BN, + skip, ReLU)
                        → three heads, each a 1×1 conv to 32 channels, BN, ReLU, flatten:
                          policy → N² + 1 logits; value → C → 3 logits; reward → C → 3 logits

Every output is a plain logit: softmax is applied in `inference` for the search and inside the loss for training.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from probzero import wdl
from probzero.config import Network

PLANES = 2  # own discs, opposing discs
HEAD_CHANNELS = 32


class Outputs(NamedTuple):
    policy: Tensor  # [B, N² + 1] logits
    value: Tensor  # [B, 3] logits in the order of `wdl`
    reward: Tensor  # [B, 3] logits in the order of `wdl`


class Block(nn.Module):
    """x → ReLU(x + BN(conv(ReLU(BN(conv(x)))))), everything [B, C, N, N]."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = _convolution(channels, channels)
        self.first_norm = nn.BatchNorm2d(channels)
        self.second = _convolution(channels, channels)
        self.second_norm = nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.first_norm(self.first(x)).relu()
        return (x + self.second_norm(self.second(inner))).relu()


class Head(nn.Module):
    """1×1 convolution to 32 channels, BN, ReLU, flatten, then one linear layer, or two with `hidden` units between."""

    def __init__(self, size: int, channels: int, outputs: int, hidden: int | None = None) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(channels, HEAD_CHANNELS, 1, bias=False)
        self.norm = nn.BatchNorm2d(HEAD_CHANNELS)
        features = HEAD_CHANNELS * size * size
        self.hidden = nn.Linear(features, hidden) if hidden else None
        self.output = nn.Linear(hidden or features, outputs)

    def forward(self, x: Tensor) -> Tensor:
        features = self.norm(self.convolution(x)).relu().flatten(1)
        if self.hidden is not None:
            features = self.hidden(features).relu()
        return self.output(features)


class ProbZeroNet(nn.Module):
    """The network for N×N boards with `blocks` residual blocks of `channels` channels."""

    def __init__(self, size: int, blocks: int, channels: int) -> None:
        super().__init__()
        self.size = size
        self.channels = channels
        self.stem = _convolution(PLANES, channels)
        self.stem_norm = nn.BatchNorm2d(channels)
        self.blocks: Sequence[Block] = nn.ModuleList(Block(channels) for _ in range(blocks))  # type: ignore[assignment]
        self.policy = Head(size, channels, size * size + 1)
        self.value = Head(size, channels, wdl.SIZE, hidden=channels)
        self.reward = Head(size, channels, wdl.SIZE, hidden=channels)

    @property
    def config(self) -> Network:
        return Network(blocks=len(self.blocks), channels=self.channels)

    def forward(self, planes: Tensor) -> Outputs:
        """Return the logits of the positions with planes [B, 2, N, N] (float32)."""
        x = self.stem_norm(self.stem(planes)).relu()
        for block in self.blocks:
            x = block(x)
        return Outputs(self.policy(x), self.value(x), self.reward(x))


def build(size: int, network: Network, seed_key: int) -> ProbZeroNet:
    """Return a new network whose weights are a function of `seed_key` alone; no global generator is left changed."""
    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(seed_key)
        return ProbZeroNet(size, network.blocks, network.channels)


def _convolution(inputs: int, outputs: int) -> nn.Conv2d:
    """3×3, same size, without a bias: the batch norm that follows has one."""
    return nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
