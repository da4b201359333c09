"""The loss: cross-entropies of policy, value and reward, each weighted by the samples' weights."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from probzero.network import values
from probzero.network.model import Outputs


class Batch(NamedTuple):
    """Samples on the training device; the fields but the first and the last are those of `dataset.Samples`."""

    planes: Tensor  # [B, F, H, W]
    policy: Tensor  # [B, A]
    mask: Tensor  # [B, A]
    value: Tensor  # [B, 3]
    reward: Tensor  # [B, 3]
    valid: Tensor  # [B]
    weight: Tensor  # [B]
    drawn: Tensor  # [B] how often the sample is drawn beside the others


class Losses(NamedTuple):
    policy: Tensor
    value: Tensor
    reward: Tensor

    def total(self, policy_weight: float = 1.0) -> Tensor:
        return policy_weight * self.policy + self.value + self.reward


def losses(outputs: Outputs, batch: Batch, value_head: str = "wdl") -> Losses:
    """Return the three losses, scalars. With sample weights v and cross-entropies H of target and prediction:

    policy = Σ v·H(policy) / Σ v         log-softmax over the moves of the mask alone
    value  = Σ u·H(value)  / Σ u         both sums over the samples with a target; other heads: see `values`
    reward = Σ u·H(reward) / Σ u         both sums over the valid samples; 0 if there is none, or no reward head

    u = v / drawn: samples that say much of the policy may be drawn more often, but where moves do not matter is where
    games are won or lost already, and a value head that saw fewer of those would be wrong about chances.
    """
    log_policy = outputs.policy.masked_fill(batch.mask == 0, -torch.inf).log_softmax(-1)
    log_policy = log_policy.masked_fill(batch.mask == 0, 0.0)  # the target is 0 there, and 0 · inf is not
    policy = _mean(-(batch.policy * log_policy).sum(-1), batch.weight)
    has_value = batch.value.sum(-1) > 0
    even = batch.weight / batch.drawn
    value = _mean(values.loss(value_head, outputs.value, batch.value), even * has_value)
    if outputs.reward is None:
        return Losses(policy, value, torch.zeros_like(value))
    reward = -(batch.reward * outputs.reward.log_softmax(-1)).sum(-1)
    return Losses(policy, value, _mean(reward, even * batch.valid))


def _mean(values: Tensor, weight: Tensor) -> Tensor:
    return (values * weight).sum() / weight.sum().clamp(min=torch.finfo(torch.float32).tiny)


def agreements(outputs: Outputs, batch: Batch, value_head: str = "wdl") -> dict[str, Tensor]:
    """Return per sample [B] whether the largest output is the target's largest, 0 or 1, by head; 0 without target."""
    policy = outputs.policy.masked_fill(batch.mask == 0, -torch.inf).argmax(-1)
    return {
        "policy": (policy == batch.policy.argmax(-1)).float(),
        "value": _same(values.to_wdl(value_head, outputs.value), batch.value) * (batch.value.sum(-1) > 0),
        "reward": torch.zeros_like(batch.weight) if outputs.reward is None else _same(outputs.reward, batch.reward),
    }


def _same(output: Tensor, target: Tensor) -> Tensor:
    return (output.argmax(-1) == target.argmax(-1)).float()
