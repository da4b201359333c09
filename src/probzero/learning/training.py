"""One iteration of training: from a window of datasets to the next weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.optim.adamw import adamw

from probzero.config import Training
from probzero.devices import one_thread
from probzero.errors import bad
from probzero.games.base import Game
from probzero.learning.dataset import Samples, concatenate
from probzero.learning.loss import Batch, agreements, losses
from probzero.learning.window import draw_weights, draw_window, tensors, turned
from probzero.network.checkpoint import OptimizerState
from probzero.network.model import ProbZeroNet


@one_thread()
def train(
    model: ProbZeroNet,
    state: OptimizerState,
    window: Sequence[Samples],
    settings: Training,
    game: Game,
    iteration: int,
    key: int,
    device: torch.device | str = "cpu",
) -> tuple[OptimizerState, dict[str, Any]]:
    """Train `model` in place on the samples of a window of iterations, oldest first.

    Every draw is a function of `key`. Returns the optimiser's new state and the metrics of the iteration. On a
    processor the trunk takes `settings.threads`, two at most, and all else one, so that results do not depend on them.
    """
    model.to(device).train()
    model.threads = settings.threads
    rate = learning_rate(settings, iteration)
    optimizer = _AdamW(model, state, rate, settings.weight_decay, settings.warm_up)
    samples = concatenate(list(window))
    drawing = np.random.default_rng(key)
    weight = draw_weights(samples, game, settings)
    rows = draw_window(drawing, [len(part) for part in window], settings.samples, settings.recency, weight)
    symmetries = len(game.symmetries.squares)
    turns = drawing.integers(0, symmetries if settings.symmetries else 1, len(rows))
    data = tensors(samples, game, settings, device, weight)
    totals = _Totals()
    optimizer.clear()
    for first in range(0, len(rows), settings.batch_size):
        chosen = slice(first, first + settings.batch_size)
        batch = turned(data, game, rows[chosen], turns[chosen])
        outputs = model(batch.planes)
        parts = losses(outputs, batch, model.config.value)
        parts.total(settings.policy_weight).backward()
        norm = torch.nn.utils.clip_grad_norm_(optimizer.named.values(), settings.gradient_clip)
        optimizer.step()
        optimizer.clear()
        totals.add(parts, agreements(outputs, batch, model.config.value), batch, norm)
    model.eval()
    metrics = {
        "iteration": iteration,
        "learning_rate": rate,
        "samples": len(rows),
        "window_positions": len(samples),
        **totals.means(),
    }
    return optimizer.state(), metrics


def check_finite(where: str, tensors: Mapping[str, Tensor], metrics: Mapping[str, float]) -> None:
    """Refuse what a training that diverged leaves behind, before any of it is written."""
    finite = {name: bool(tensor.isfinite().all()) for name, tensor in tensors.items()}
    for name, holds in {**finite, **{name: math.isfinite(number) for name, number in metrics.items()}}.items():
        if not holds:
            raise bad("training", f"{where}: {name}", "finite numbers", "NaN or infinity: it diverged")


def learning_rate(settings: Training, iteration: int) -> float:
    """Return the rate of an iteration 1 … I: a half cosine from `learning_rate` down to `final_learning_rate`."""
    done = (iteration - 1) / max(1, settings.iterations - 1)
    fall = (1 + math.cos(math.pi * min(1.0, done))) / 2
    return settings.final_learning_rate + (settings.learning_rate - settings.final_learning_rate) * fall


class _AdamW:
    """Adam with decoupled weight decay on weights (not on biases and norms), its moments taken from `state`.

    The step is torch's; its class `torch.optim.AdamW` would import torch's compiler too, which takes longer than torch.
    """

    def __init__(self, model: ProbZeroNet, state: OptimizerState, rate: float, decay: float, warm_up: int = 0) -> None:
        self.named = dict(model.named_parameters())
        self.rate, self.warm_up = rate, warm_up
        self.decay = {name: decay if parameter.dim() > 1 else 0.0 for name, parameter in self.named.items()}
        self.steps = {name: _like(state.get("step"), parameter.new_zeros(())) for name, parameter in self.named.items()}
        self.first, self.second = (
            {name: _like(state.get(f"{moment}.{name}"), parameter) for name, parameter in self.named.items()}
            for moment in ("first", "second")
        )

    @torch.no_grad()
    def step(self) -> None:
        """Take a step; step k of the run, of the first `warm_up`, at k / warm_up of the rate.

        Adam's first steps have the full length in every weight. The heads' hidden layers have thousands of inputs, none
        of them negative: a few such steps carry most units under 0 for all positions, from where none comes back.
        """
        done = int(next(iter(self.steps.values())))
        rate = self.rate * min(1.0, (done + 1) / self.warm_up) if self.warm_up else self.rate
        for decay in sorted(set(self.decay.values())):
            names = [name for name in self.named if self.decay[name] == decay]
            parameters, moments, squares, steps = (
                [part[name] for name in names] for part in (self.named, self.first, self.second, self.steps)
            )
            gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]  # all
            adamw(
                parameters, gradients, moments, squares, [], steps, fused=True, amsgrad=False, maximize=False,
                beta1=0.9, beta2=0.999, eps=1e-8, lr=rate, weight_decay=decay,
            )  # fmt: skip

    def clear(self) -> None:
        """Forget the gradients; `zero_grad` of a module would look for all parameters anew."""
        for parameter in self.named.values():
            parameter.grad = None

    def state(self) -> OptimizerState:
        """Return the number of steps and the moments; nothing before the first step."""
        if not any(self.steps.values()):
            return {}
        moments = {"first": self.first, "second": self.second}
        named = {f"{kind}.{name}": moment for kind, part in moments.items() for name, moment in part.items()}
        return {"step": next(iter(self.steps.values())), **named}


def _like(found: Tensor | None, tensor: Tensor) -> Tensor:
    """Return a copy of what was found, or zeros, of the kind of `tensor`."""
    return torch.zeros_like(tensor) if found is None else torch.empty_like(tensor, requires_grad=False).copy_(found)


class _Totals:
    """Sums over the samples of an iteration; agreement counts every sample once, whatever its weight."""

    def __init__(self) -> None:
        self.steps = 0
        self.count = 0
        self.valid = 0.0
        self.valued = 0.0
        self.sums: dict[str, float] = {}

    def add(self, parts: Any, agreed: dict[str, Tensor], batch: Batch, norm: Tensor) -> None:
        count = len(batch.weight)
        self.steps += 1
        self.count += count
        self.valid += float(batch.valid.sum())
        self.valued += float((batch.value.sum(-1) > 0).sum())
        for name in ("policy", "value", "reward"):
            self._sum(f"{name}_loss", count * float(getattr(parts, name).detach()))
        self._sum("policy_agreement", float(agreed["policy"].sum()))
        self._sum("value_accuracy", float(agreed["value"].sum()))
        self._sum("reward_accuracy", float((agreed["reward"] * batch.valid).sum()))
        self._sum("gradient_norm", count * float(norm))

    def _sum(self, name: str, value: float) -> None:
        self.sums[name] = self.sums.get(name, 0.0) + value

    def means(self) -> dict[str, float]:
        means = {name: total / max(1, self.count) for name, total in self.sums.items()}
        means["value_accuracy"] = self.sums.get("value_accuracy", 0.0) / max(1.0, self.valued)
        means["reward_accuracy"] = self.sums.get("reward_accuracy", 0.0) / max(1.0, self.valid)
        means["total_loss"] = sum(means.get(f"{name}_loss", 0.0) for name in ("policy", "value", "reward"))
        return {"steps": self.steps, **means}
