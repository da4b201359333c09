"""Win/draw/loss triples: the order of the three numbers and the change of point of view.

A triple always speaks for the player to move at its node. Nobody outside this module indexes one with bare numbers.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import torch

WIN, DRAW, LOSS = 0, 1, 2
NAMES = ("win", "draw", "loss")
SIZE = 3

Triples = TypeVar("Triples", np.ndarray, torch.Tensor)


def flip(triples: Triples) -> Triples:
    """Return the triples [..., 3] as the other player sees them: win and loss change places."""
    if isinstance(triples, torch.Tensor):
        return triples.flip(-1)
    return triples[..., ::-1]


def from_result(result: Triples) -> Triples:
    """Return one-hot triples [..., 3] (float32) for results [...] of +1, 0, −1 seen by the player to move."""
    if isinstance(result, torch.Tensor):
        order = torch.tensor([1, 0, -1], device=result.device)
        return (result[..., None] == order).to(torch.float32)
    return (result[..., None] == np.array([1, 0, -1])).astype(np.float32)


def expectation(triples: Triples) -> Triples:
    """Return win − loss [...] of triples [..., 3]: the expected result, from −1 to 1."""
    return triples[..., WIN] - triples[..., LOSS]


def from_expectation(value: Triples) -> Triples:
    """Return triples [..., 3] without draws whose expectation is `value` [...], from −1 to 1."""
    parts = [(1 + value) / 2, value * 0, (1 - value) / 2]
    return torch.stack(parts, dim=-1) if isinstance(value, torch.Tensor) else np.stack(parts, axis=-1)
