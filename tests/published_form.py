"""Networks in the form of the published project: random weights by its names, and its layers written out in numpy."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

HEAD = 32


def published_state(blocks: int, channels: int, size: int, seed: int = 0) -> dict[str, Tensor]:
    """Return random tensors by their published names, batch norms as after some training."""
    generator = torch.Generator().manual_seed(seed)
    state: dict[str, Tensor] = {}

    def uniform(*shape: int) -> Tensor:
        return 2 * torch.rand(shape, generator=generator) - 1

    def norm(name: str, width: int) -> None:
        state[f"{name}.weight"] = 1 + uniform(width) / 2
        state[f"{name}.bias"] = uniform(width) / 2
        state[f"{name}.running_mean"] = uniform(width) / 2
        state[f"{name}.running_var"] = 1 + uniform(width) / 2
        state[f"{name}.num_batches_tracked"] = torch.tensor(123)

    def layer(name: str, *shape: int, bias: bool = False) -> None:
        state[f"{name}.weight"] = uniform(*shape) * (3 / np.prod(shape[1:])) ** 0.5
        if bias:
            state[f"{name}.bias"] = uniform(shape[0])

    layer("conv_input", channels, 2, 3, 3)
    norm("bn_input", channels)
    for block in range(blocks):
        for half in (1, 2):
            layer(f"res_blocks.{block}.conv{half}", channels, channels, 3, 3)
            norm(f"res_blocks.{block}.bn{half}", channels)
    for head in "pvr":
        layer(f"{head}_conv", HEAD, channels, 1, 1)
        norm(f"{head}_bn", HEAD)
        if head == "p":
            layer("p_fc", size * size + 1, HEAD * size * size, bias=True)
        else:
            layer(f"{head}_fc1", channels, HEAD * size * size, bias=True)
            layer(f"{head}_fc2", 3, channels, bias=True)
    return state


def published_logits(state: dict[str, Tensor], planes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return policy [B, N² + 1], value and reward [B, 3] (loss, draw, win) of planes [B, 2, N, N], in float64."""
    weights = {name: tensor.double().numpy() for name, tensor in state.items()}

    def convolution(name: str, x: np.ndarray) -> np.ndarray:
        kernel = weights[f"{name}.weight"]
        reach = kernel.shape[-1] // 2
        padded = np.pad(x, ((0, 0), (0, 0), (reach, reach), (reach, reach)))
        rows, columns = x.shape[2:]
        return sum(
            np.einsum("oi,birc->borc", kernel[:, :, i, j], padded[:, :, i : i + rows, j : j + columns])
            for i in range(kernel.shape[2])
            for j in range(kernel.shape[3])
        )

    def norm(name: str, x: np.ndarray) -> np.ndarray:
        scale, shift, mean, variance = (
            weights[f"{name}.{part}"][:, None, None] for part in ("weight", "bias", "running_mean", "running_var")
        )
        return (x - mean) / np.sqrt(variance + 1e-5) * scale + shift

    def linear(name: str, x: np.ndarray) -> np.ndarray:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def relu(x: np.ndarray) -> np.ndarray:
        return np.maximum(x, 0)

    x = relu(norm("bn_input", convolution("conv_input", planes)))
    block = 0
    while f"res_blocks.{block}.conv1.weight" in weights:
        name = f"res_blocks.{block}"
        inner = relu(norm(f"{name}.bn1", convolution(f"{name}.conv1", x)))
        x = relu(x + norm(f"{name}.bn2", convolution(f"{name}.conv2", inner)))
        block += 1
    p, v, r = (relu(norm(f"{head}_bn", convolution(f"{head}_conv", x))).reshape(len(x), -1) for head in "pvr")
    return (
        linear("p_fc", p),
        linear("v_fc2", relu(linear("v_fc1", v))),
        linear("r_fc2", relu(linear("r_fc1", r))),
    )


class PublishedNet(nn.Module):
    """A network with the published names and layers, to be saved as a program."""

    def __init__(self, blocks: int, channels: int, size: int) -> None:
        super().__init__()
        self.conv_input = nn.Conv2d(2, channels, 3, padding=1, bias=False)
        self.bn_input = nn.BatchNorm2d(channels)
        self.res_blocks = nn.Sequential(*(_Block(channels) for _ in range(blocks)))
        for head in "pvr":
            setattr(self, f"{head}_conv", nn.Conv2d(channels, HEAD, 1, bias=False))
            setattr(self, f"{head}_bn", nn.BatchNorm2d(HEAD))
        self.p_fc = nn.Linear(HEAD * size * size, size * size + 1)
        for head in "vr":
            setattr(self, f"{head}_fc1", nn.Linear(HEAD * size * size, channels))
            setattr(self, f"{head}_fc2", nn.Linear(channels, 3))

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x = self.res_blocks(self.bn_input(self.conv_input(planes)).relu())
        p, v, r = (getattr(self, f"{head}_bn")(getattr(self, f"{head}_conv")(x)).relu().flatten(1) for head in "pvr")
        value = self.get_submodule("v_fc2")(self.get_submodule("v_fc1")(v).relu())
        reward = self.get_submodule("r_fc2")(self.get_submodule("r_fc1")(r).relu())
        return self.p_fc(p), value, reward


class _Block(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        return (x + self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))).relu()


class Exported(nn.Module):
    """What the published exporter saves: policy logits, but probabilities of value and reward."""

    def __init__(self, network: PublishedNet, policy_softmax: bool = False, swapped: bool = False) -> None:
        super().__init__()
        self.m = network
        self.policy_softmax, self.swapped = policy_softmax, swapped

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        p, v, r = self.m(planes)
        if self.policy_softmax:
            p = p.softmax(1)
        if self.swapped:
            v, r = r, v
        return p, v.softmax(1), r.softmax(1)
