"""The network as the search uses it: batch norm folded away, one fast layout, probabilities instead of logits.

The numbers of a position must not depend on which other positions share a call: a cached evaluation is then the
very number a fresh one would be. Matrix products pick their kernels by shape, so positions always go through the network
in chunks whose length is a multiple of `ROWS`, for which every row of the result is computed in the same way.
"""

from __future__ import annotations

import time
from copy import deepcopy
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from probzero.errors import bad
from probzero.games.othello import othello
from probzero.network.model import ProbZeroNet

ROWS = 16
CHUNK = 128  # the fastest of 64, 128, 256 and 512: the activations stay in the processor's cache


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
            raise bad("device", name, "a CUDA device of this machine", f"{count} CUDA devices")
    return device


class Folded(nn.Module):
    """The network with batch norm folded into the convolutions and the three heads' convolutions joined to one."""

    def __init__(self, model: ProbZeroNet) -> None:
        super().__init__()
        heads = (model.policy, model.value, model.reward)
        folded = [fuse_conv_bn_eval(head.convolution.eval(), head.norm.eval()) for head in heads]
        self.stem = fuse_conv_bn_eval(model.stem.eval(), model.stem_norm.eval())
        self.first = nn.ModuleList(fuse_conv_bn_eval(b.first.eval(), b.first_norm.eval()) for b in model.blocks)
        self.second = nn.ModuleList(fuse_conv_bn_eval(b.second.eval(), b.second_norm.eval()) for b in model.blocks)
        self.heads = nn.Conv2d(model.channels, sum(f.out_channels for f in folded), 1)
        self.heads.weight = nn.Parameter(torch.cat([f.weight for f in folded]))
        self.heads.bias = nn.Parameter(torch.cat([f.bias for f in folded]))
        self.linear = nn.ModuleList(deepcopy(h) for head in heads for h in (head.hidden, head.output) if h is not None)
        self.requires_grad_(False)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x = self.stem(planes).relu_()
        for first, second in zip(self.first, self.second, strict=True):
            x = second(first(x).relu_()).add_(x).relu_()
        policy, value, reward = self.heads(x).relu_().flatten(1).chunk(3, dim=1)
        out, value_hidden, value_out, reward_hidden, reward_out = self.linear
        return out(policy), value_out(value_hidden(value).relu_()), reward_out(reward_hidden(reward).relu_())


class Evaluator:
    """Evaluates positions given as bitboards; counts its calls, the positions sent and the seconds spent."""

    def __init__(self, model: ProbZeroNet, size: int, device: torch.device | str, chunk: int = CHUNK) -> None:
        if chunk < ROWS or chunk % ROWS:
            raise bad("evaluator", "chunk", f"a multiple of {ROWS}", chunk)
        self.rules = othello(size)
        self.device = torch.device(device)
        self.chunk = chunk
        self.network = Folded(model).to(self.device, memory_format=torch.channels_last)
        self.calls = 0
        self.positions = 0
        self.seconds = 0.0

    @torch.inference_mode()
    def __call__(self, own: Tensor, opp: Tensor, legal: Tensor) -> Evaluation:
        """Return prior, value and reward of the positions own, opp [n] (int64) with legal moves [n, N² + 1] (bool)."""
        count = len(own)
        start = time.perf_counter()
        padded = -(-count // ROWS) * ROWS
        planes = self.rules.encode(F.pad(own, (0, padded - count)), F.pad(opp, (0, padded - count)))
        planes = planes.contiguous(memory_format=torch.channels_last)
        parts = [self.network(piece) for piece in planes.split(self.chunk)]
        policy, value, reward = (torch.cat(part)[:count] for part in zip(*parts, strict=True))
        evaluation = Evaluation(
            policy.masked_fill(~legal, -torch.inf).softmax(-1), value.softmax(-1), reward.softmax(-1)
        )
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        self.seconds += time.perf_counter() - start
        self.calls += 1
        self.positions += count
        return evaluation
