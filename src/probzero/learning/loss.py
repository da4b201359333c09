"""The loss: cross-entropies of policy, value and reward, each weighted by the samples' weights."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from probzero.network.model import Outputs


class Batch(NamedTuple):
    """Samples on the training device; the fields are those of `dataset.Samples`."""

    board: Tensor  # [B, 2, N, N]
    policy: Tensor  # [B, N² + 1]
    mask: Tensor  # [B, N² + 1]
    value: Tensor  # [B, 3]
    reward: Tensor  # [B, 3]
    valid: Tensor  # [B]
    weight: Tensor  # [B]


class Losses(NamedTuple):
    policy: Tensor
    value: Tensor
    reward: Tensor

    @property
    def total(self) -> Tensor:
        return self.policy + self.value + self.reward


def losses(outputs: Outputs, batch: Batch) -> Losses:
    """Return the three losses, scalars. With sample weights v and cross-entropies H of target and prediction:

    policy = Σ v·H(policy) / Σ v         log-softmax over the explored moves alone
    value  = Σ v·H(value)  / Σ v
    reward = Σ v·H(reward) / Σ v         both sums over the valid samples; 0 if there is none
    """
    log_policy = outputs.policy.masked_fill(batch.mask == 0, -torch.inf).log_softmax(-1)
    log_policy = log_policy.masked_fill(batch.mask == 0, 0.0)  # the target is 0 there, and 0 · inf is not
    valid = batch.weight * batch.valid
    return Losses(
        _mean(-(batch.policy * log_policy).sum(-1), batch.weight),
        _mean(-(batch.value * outputs.value.log_softmax(-1)).sum(-1), batch.weight),
        _mean(-(batch.reward * outputs.reward.log_softmax(-1)).sum(-1), valid),
    )


def _mean(values: Tensor, weight: Tensor) -> Tensor:
    return (values * weight).sum() / weight.sum().clamp(min=torch.finfo(torch.float32).tiny)


def agreements(outputs: Outputs, batch: Batch) -> dict[str, Tensor]:
    """Return per sample [B] whether the largest output is the target's largest, as 0 or 1, by head."""
    policy = outputs.policy.masked_fill(batch.mask == 0, -torch.inf).argmax(-1)
    return {
        "policy": (policy == batch.policy.argmax(-1)).float(),
        "value": (outputs.value.argmax(-1) == batch.value.argmax(-1)).float(),
        "reward": (outputs.reward.argmax(-1) == batch.reward.argmax(-1)).float(),
    }
