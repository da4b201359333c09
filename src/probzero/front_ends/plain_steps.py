"""A network as a list of plain steps, with the batch norms folded away: what every exported form is written from.

planes [n, F, H, W] → policy [n, A] logits of all actions; value, reward [n, 3] chances of win, draw and loss
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from probzero import wdl
from probzero.network.weights import HEAD_CHANNELS, Weights

INPUT = "planes"


class Step(NamedTuple):
    """One operation, on the results of others by their names."""

    kind: str  # convolution, linear, relu, add, flatten or softmax
    output: str
    inputs: tuple[str, ...]
    arrays: tuple[np.ndarray, ...] = ()  # weight and bias


def steps(weights: Weights) -> tuple[list[Step], list[str]]:
    """Return the steps from the planes to the outputs, and what these are called."""
    found: list[Step] = []

    def add(kind: str, output: str, *inputs: str, arrays: tuple[np.ndarray, ...] = ()) -> str:
        single = tuple(np.ascontiguousarray(array, dtype=np.float32) for array in arrays)
        found.append(Step(kind, output, inputs, single))
        return output

    def layer(kind: str, name: str, x: str, arrays: tuple[np.ndarray, ...], skip: str | None = None) -> str:
        x = add(kind, name, x, arrays=arrays)
        return add("relu", f"{name}.relu", x if skip is None else add("add", f"{name}.skip", x, skip))

    x = layer("convolution", "stem", INPUT, weights.folded("stem"))
    for first, second in zip(weights.trunk()[1::2], weights.trunk()[2::2], strict=True):
        inner = layer("convolution", first, x, weights.folded(first))
        x = layer("convolution", second, inner, weights.folded(second), skip=x)
    weight, bias = weights.folded("heads")
    names = ["policy", *weights.outcomes()]
    for number, name in enumerate(names):
        rows = slice(number * HEAD_CHANNELS, (number + 1) * HEAD_CHANNELS)
        x_head = layer("convolution", f"{name}.features", x, (weight[rows, :, None, None], bias[rows]))
        x_head = add("flatten", f"{name}.flat", x_head)
        parts = weights.policy() if name == "policy" else [f"{name}.hidden", f"{name}.output"]
        arrays = [weights.linear(part) for part in parts]
        arrays[0] = _by_channel(arrays[0][0]), arrays[0][1]
        for part, held in zip(parts[:-1], arrays[:-1], strict=True):
            x_head = layer("linear", part, x_head, held)
        if name == "policy":
            add("linear", name, x_head, arrays=arrays[-1])
        else:
            chances = add("softmax", f"{name}.chances", add("linear", parts[-1], x_head, arrays=arrays[-1]))
            add("linear", name, chances, arrays=_to_wdl(weights, name))
    return found, names


def _by_channel(weight: np.ndarray) -> np.ndarray:
    """Return the weight [O, I] of a layer on features by square and channel for features by channel and square."""
    return weight.reshape(len(weight), -1, HEAD_CHANNELS).transpose(0, 2, 1).reshape(len(weight), -1)


def _to_wdl(weights: Weights, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the linear map from a head's probabilities to win, draw and loss (see `network.values`)."""
    if name != "value" or weights.config.value == "wdl":
        return np.eye(wdl.SIZE), np.zeros(wdl.SIZE)
    points = np.linspace(-1, 1, weights.config.support)
    even = wdl.from_expectation(np.zeros(()))
    return np.outer(wdl.from_expectation(np.ones(())) - even, points), even


def in_torch(weights: Weights, planes: Any) -> dict[str, Any]:
    """Return the outputs by name for planes, a tensor of torch's."""
    import torch
    from torch.nn import functional

    operations: dict[str, Any] = {
        "convolution": lambda x, weight, bias: functional.conv2d(x, weight, bias, padding=weight.shape[-1] // 2),
        "linear": functional.linear,
        "relu": functional.relu,
        "add": torch.add,
        "flatten": lambda x: x.flatten(1),
        "softmax": lambda x: x.softmax(-1),
    }
    listed, names = steps(weights)
    found: dict[str, Any] = {INPUT: planes}
    for step in listed:
        held = [torch.from_numpy(array) for array in step.arrays]
        found[step.output] = operations[step.kind](*(found[name] for name in step.inputs), *held)
    return {name: found[name] for name in names}
