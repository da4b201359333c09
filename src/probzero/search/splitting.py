"""How the particles of a node are divided among its moves."""

from __future__ import annotations

from collections.abc import Callable

import torch

from probzero.random_keys import uniform

Splitter = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, int], torch.Tensor]


def systematic(share: torch.Tensor, volume: torch.Tensor, keys: torch.Tensor, salt: int) -> torch.Tensor:
    """Systematic resampling: counts [n, K] are differences of ⌊V·cumsum(p) + u⌋ with one uniform u per node.

    `share` float64 [n, K] sums to 1 (or to 0: no particle is placed), `volume` V int64 [n], `keys` int64 [n].
    Each count is ⌊V·p⌋ or ⌈V·p⌉ and their sum is V.
    """
    drawn = uniform(keys ^ salt)[:, None]
    upper = (share.cumsum(1) * volume[:, None] + drawn).floor().to(torch.int64)
    upper = torch.minimum(upper, volume[:, None])  # rounding may lift V + u to V + 1
    return upper.diff(dim=1, prepend=torch.zeros_like(upper[:, :1]))


def multinomial(share: torch.Tensor, volume: torch.Tensor, keys: torch.Tensor, salt: int) -> torch.Tensor:
    """Independent draws: counts [n, K] of V particles that each choose a move with probability `share`."""
    particle = torch.arange(int(volume.max()) if len(volume) else 0, device=share.device)
    drawn = uniform((keys ^ salt)[:, None], particle[None, :])  # [n, V]
    bounds = share.cumsum(1)
    last = (share > 0).to(torch.int64).cumsum(1).argmax(1, keepdim=True)  # rounding must not lose a draw near 1
    bounds = torch.where(torch.arange(share.shape[1], device=share.device) >= last, bounds[:, -1:].ceil(), bounds)
    taking_part = particle[None, :] < volume[:, None]
    below = (drawn[:, None, :] < bounds[:, :, None]) & taking_part[:, None, :]  # [n, K, V]
    upper = below.sum(2)
    return upper.diff(dim=1, prepend=torch.zeros_like(upper[:, :1]))


SPLITTERS: dict[str, Splitter] = {"systematic": systematic, "multinomial": multinomial}
