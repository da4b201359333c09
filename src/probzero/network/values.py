"""The kinds of value head: how many numbers each gives, what they mean for the search, and how they learn.

    wdl      3 logits       chances of win, draw and loss by softmax; cross-entropy
    support  S logits       a distribution over S points evenly spaced from −1 to 1, v its mean; cross-entropy with the
                            target as *two-hot*: its two neighbouring points share it so that the mean is exact
Targets are triples whatever the head; a triple of zeros stands for no target.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from probzero import wdl


def to_wdl(kind: str, output: Tensor) -> Tensor:
    """Return the triples [..., 3] that a head's outputs [..., K] stand for; v becomes one without draws."""
    return _TO_WDL[kind](output.softmax(-1))


def loss(kind: str, output: Tensor, target: Tensor) -> Tensor:
    """Return the loss [n] of a head's outputs [n, K] for target triples [n, 3]."""
    return -(_TARGETS[kind](target, output.shape[-1]) * output.log_softmax(-1)).sum(-1)


def points(count: int, like: Tensor) -> Tensor:
    """Return the points of the support [count], of the type and on the device of another tensor."""
    return torch.linspace(-1, 1, count, dtype=like.dtype, device=like.device)


def two_hot(value: Tensor, count: int) -> Tensor:
    """Return distributions [n, count] over the support with means `value` [n] in [−1, 1], on two neighbours at most."""
    place = (value.clamp(-1, 1) + 1) / 2 * (count - 1)
    below = place.floor().clamp(max=count - 2).long()
    upper = (place - below)[:, None]
    spread = torch.zeros(len(value), count, dtype=value.dtype, device=value.device)
    return spread.scatter(1, below[:, None], 1 - upper).scatter(1, below[:, None] + 1, upper)


_TO_WDL: dict[str, Callable[[Tensor], Tensor]] = {
    "wdl": lambda chance: chance,
    "support": lambda chance: wdl.from_expectation((chance * points(chance.shape[-1], chance)).sum(-1).clamp(-1, 1)),
}
_TARGETS: dict[str, Callable[[Tensor, int], Tensor]] = {
    "wdl": lambda target, count: target,
    "support": lambda target, count: two_hot(wdl.expectation(target), count),
}
