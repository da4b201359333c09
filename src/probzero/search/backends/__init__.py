"""The forms in which a search computes: compiled loops on processors, tensor operations and Triton kernels on GPUs."""

from __future__ import annotations

import torch

from probzero.games.base import Game
from probzero.search.backends.base import Backend


def choose(game: Game, device: torch.device) -> Backend:
    """Return the backend of a device: the one place that asks."""
    if device.type == "cpu":
        from probzero.search.backends.compiled import CompiledBackend

        return CompiledBackend(game)
    from probzero.search.backends.tensor import TensorBackend

    return TensorBackend(game, device)
