"""A network as plain arrays, without torch: what a checkpoint holds and what plays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from probzero import wdl
from probzero.config import Network
from probzero.games.base import Shape

HEAD_CHANNELS = 32
EPSILON = 1e-5  # of the batch norms
Layer = tuple[np.ndarray, np.ndarray]  # weight and bias


class Weights(NamedTuple):
    """The parameters and running statistics of a network, by the names of `model.ProbZeroNet`."""

    shape: Shape
    config: Network
    arrays: Mapping[str, np.ndarray]

    def trunk(self) -> list[str]:
        """Return the names of the 3×3 convolutions, from the first; each norm is `<name>_norm`."""
        return ["stem", *(f"blocks.{i}.{part}" for i in range(self.config.blocks) for part in ("first", "second"))]

    def outcomes(self) -> list[str]:
        """Return the heads beside the policy."""
        return ["value", "reward"] if self.config.reward else ["value"]

    def policy(self) -> list[str]:
        """Return the names of the policy's linear layers."""
        return ["policy.hidden", "policy.output"] if self.config.policy_hidden else ["policy"]

    def linear(self, name: str) -> Layer:
        """Return weight [O, I] and bias [O] of a linear layer."""
        return self.arrays[f"{name}.weight"], self.arrays[f"{name}.bias"]

    def folded(self, name: str) -> Layer:
        """Return weight [O, ...] and bias [O], float64, of the layer that equals a layer and the norm after it."""
        gamma, beta, mean, variance = (
            self.arrays[f"{name}_norm.{part}"].astype(np.float64)
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        scale = gamma / np.sqrt(variance + EPSILON)
        weight = self.arrays[f"{name}.weight"].astype(np.float64)
        return weight * scale.reshape(-1, *[1] * (weight.ndim - 1)), beta - mean * scale


def value_outputs(network: Network) -> int:
    """Return how many numbers the value head gives."""
    return {"wdl": wdl.SIZE, "support": network.support}[network.value]


def forms(shape: Shape, network: Network) -> dict[str, tuple[tuple[int, ...], type]]:
    """Return shape and type of every array of a network."""
    channels, found = network.channels, dict[str, tuple[int, ...]]()

    def norm(name: str, width: int) -> None:
        found.update({f"{name}.{part}": (width,) for part in ("weight", "bias", "running_mean", "running_var")})
        found[f"{name}.num_batches_tracked"] = ()

    def linear(name: str, inputs: int, outputs: int) -> None:
        found.update({f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)})

    weights = Weights(shape, network, {})
    for name in weights.trunk():
        found[f"{name}.weight"] = (channels, shape.planes if name == "stem" else channels, 3, 3)
        norm(f"{name}_norm", channels)
    width = (1 + len(weights.outcomes())) * HEAD_CHANNELS
    found["heads.weight"] = (width, channels)
    norm("heads_norm", width)
    features = HEAD_CHANNELS * shape.squares
    widths = [features, network.policy_hidden, shape.actions] if network.policy_hidden else [features, shape.actions]
    for name, inputs, outputs in zip(weights.policy(), widths, widths[1:], strict=False):
        linear(name, inputs, outputs)
    for name in weights.outcomes():
        linear(f"{name}.hidden", features, channels)
        linear(f"{name}.output", channels, value_outputs(network) if name == "value" else wdl.SIZE)
    return {
        name: (size, np.int64 if name.endswith("num_batches_tracked") else np.float32) for name, size in found.items()
    }
