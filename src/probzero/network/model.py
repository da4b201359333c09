"""The network in its training form: a residual trunk with a policy, a value and a reward head.

    planes [B, F, H, W] → 3×3 convolution to C channels, BN, ReLU
                        → `blocks` × (convolution, BN, ReLU, convolution, BN, + skip, ReLU)
                        → three heads, each a 1×1 convolution to 32 channels, BN, ReLU, flatten:
                          policy → A logits; value → C → 3 logits; reward → C → 3 logits

The policy may have a hidden layer too: whether a move keeps the result often hangs on counting discs all over the
board, which a linear map of local features cannot do. The value head may be of another kind (see `values`), and the
reward head may be left out.
Every output is a plain logit: softmax is applied in `inference` for the search, and in the loss for training.
Inside, activations are [H·W, B, C] (square, position, channel): every layer is then a product of contiguous matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from probzero import wdl
from probzero.config import Network
from probzero.games.base import Shape
from probzero.network.compiled.trunk import Trunk
from probzero.network.convolution import Convolution
from probzero.network.weights import EPSILON, HEAD_CHANNELS, Weights, value_outputs


class Outputs(NamedTuple):
    policy: Tensor  # [B, A] logits
    value: Tensor  # [B, 3] logits in the order of `wdl`, or what `values` says
    reward: Tensor | None  # [B, 3] logits in the order of `wdl`


class Norm(nn.BatchNorm1d):
    """Batch norm of each channel, then + skip if there is one, then ReLU; everything [H·W, B, C]."""

    def __init__(self, channels: int) -> None:
        super().__init__(channels, eps=EPSILON)

    def forward(self, x: Tensor, skip: Tensor | None = None) -> Tensor:
        # In place on the norm's own output: on a view of it, autograd would copy the whole tensor back and forth.
        y = super().forward(x.view(-1, x.shape[-1]))
        if skip is not None:
            y = y.add_(skip.view_as(y))
        return y.relu_().view_as(x)


class Block(nn.Module):
    """x → ReLU(x + BN(conv(ReLU(BN(conv(x)))))), everything [H·W, B, C]."""

    def __init__(self, shape: Shape, channels: int) -> None:
        super().__init__()
        self.first = Convolution(shape, channels, channels)
        self.first_norm = Norm(channels)
        self.second = Convolution(shape, channels, channels)
        self.second_norm = Norm(channels)

    def forward(self, x: Tensor) -> Tensor:
        return self.second_norm(self.second(self.first_norm(self.first(x))), skip=x)


class Perceptron(nn.Module):
    """The end of a head with a hidden layer: features [B, 32·H·W] → hidden → logits, three for WDL."""

    def __init__(self, features: int, hidden: int, outputs: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(features, hidden)
        self.output = nn.Linear(hidden, outputs)

    def forward(self, features: Tensor) -> Tensor:
        return self.output(self.hidden(features).relu())


class ProbZeroNet(nn.Module):
    """The network that a configuration describes, for the boards of a game."""

    def __init__(self, shape: Shape, config: Network) -> None:
        super().__init__()
        self.shape = shape
        self.config = config
        self.threads = 1  # of a processor, for the compiled trunk; results are the same with two
        channels = config.channels
        self.stem = Convolution(shape, shape.planes, channels)
        self.stem_norm = Norm(channels)
        self.blocks: Sequence[Block] = nn.ModuleList(Block(shape, channels) for _ in range(config.blocks))  # type: ignore[assignment]
        heads = 3 if config.reward else 2
        self.heads = nn.Linear(channels, heads * HEAD_CHANNELS, bias=False)  # the heads' 1×1 convolutions as one
        self.heads_norm = Norm(heads * HEAD_CHANNELS)
        features = HEAD_CHANNELS * shape.squares
        actions, hidden = shape.actions, config.policy_hidden
        self.policy = Perceptron(features, hidden, actions) if hidden else nn.Linear(features, actions)
        self.value = Perceptron(features, channels, value_outputs(config))
        self.reward = Perceptron(features, channels, wdl.SIZE) if config.reward else None

    @property
    def channels(self) -> int:
        return self.config.channels

    def weights(self) -> Weights:
        """Return copies of all parameters and running statistics as arrays."""
        arrays = {name: value.detach().cpu().numpy().copy() for name, value in self.state_dict().items()}
        return Weights(self.shape, self.config, arrays)

    def forward(self, planes: Tensor) -> Outputs:
        """Return the logits of the positions with planes [B, F, H, W] (float32)."""
        x = self._compiled_trunk(planes) if self._compiles(planes) else self._trunk(planes)
        policy, value, *reward = SplitHeads.apply(self.heads_norm(self.heads(x)))
        return Outputs(
            self.policy(policy), self.value(value), self.reward(*reward) if self.reward is not None else None
        )

    def _trunk(self, planes: Tensor) -> Tensor:
        """Return the last block's output [H·W, B, C]."""
        x = planes.flatten(2).permute(2, 0, 1).contiguous()
        x = self.stem_norm(self.stem(x))
        for block in self.blocks:
            x = block(x)
        return x

    def _compiles(self, planes: Tensor) -> bool:
        """Return whether the trunk has a compiled form here: training float32 parameters on a processor."""
        there = planes.device.type == "cpu" and planes.dtype == self.stem.weight.dtype == torch.float32
        return there and self.training and len(self.blocks) > 0 and len(planes) > 0 and not planes.requires_grad

    def _compiled_trunk(self, planes: Tensor) -> Tensor:
        convolutions, norms = [self.stem], [self.stem_norm]
        for block in self.blocks:
            convolutions += [block.first, block.second]
            norms += [block.first_norm, block.second_norm]
        weights = [convolution.weight for convolution in convolutions]
        scales, shifts = [norm.weight for norm in norms], [norm.bias for norm in norms]
        return Trunk.apply(planes, norms, self.threads, *weights, *scales, *shifts)


class SplitHeads(torch.autograd.Function):
    """[H·W, B, 32·heads] → the flat features of each head [B, 32·H·W], by square and then by channel.

    The way back puts each gradient in its place; torch's own would first join those of all heads."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> tuple[Tensor, ...]:
        squares, batch, _ = x.shape
        split = x.view(squares, batch, -1, HEAD_CHANNELS).permute(2, 1, 0, 3).contiguous()
        return split.flatten(2).unbind()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        batch = len(gradients[0])
        joined = gradients[0].new_empty(gradients[0].shape[1] // HEAD_CHANNELS, batch, len(gradients), HEAD_CHANNELS)
        for head, gradient in enumerate(gradients):
            joined[:, :, head] = gradient.view(batch, -1, HEAD_CHANNELS).transpose(0, 1)
        return joined.flatten(2)


def build(shape: Shape, network: Network, seed_key: int) -> ProbZeroNet:
    """Return a new network whose weights are a function of `seed_key` alone; no global generator is left changed."""
    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(seed_key)
        return ProbZeroNet(shape, network)
