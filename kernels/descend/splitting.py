"""How the particles of a node are divided among its moves.

A splitter takes weights `share` float32 [n, K], of which p is the normalised form, volumes V int64 [n], the nodes' keys
int64 [n] and a salt; it returns counts int64 [n, K]. A row without any weight places nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from probzero.errors import bad
from probzero.random_keys import uniform

Splitter = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, int], torch.Tensor]


def systematic(share: torch.Tensor, volume: torch.Tensor, keys: torch.Tensor, salt: int) -> torch.Tensor:
    """Systematic resampling: counts [n, K] are differences of ⌊V·cumsum(p) + u⌋ with one uniform u per node.

    Each count is ⌊V·p⌋ or ⌈V·p⌉ and their sum is V.
    """
    return _placed(share, volume, uniform(keys ^ salt))


def _placed(share: torch.Tensor, volume: torch.Tensor, offset: torch.Tensor) -> torch.Tensor:
    upper = (
        _bounds(share).mul_(volume[:, None]).add_(offset[:, None]).to(torch.int64)
    )  # truncation: nothing is negative
    upper = torch.minimum(upper, volume[:, None])  # rounding may lift V + u to V + 1
    return upper.diff(dim=1, prepend=torch.zeros_like(upper[:, :1]))


def middle(share: torch.Tensor, volume: torch.Tensor, keys: torch.Tensor, salt: int) -> torch.Tensor:
    """Systematic resampling with u = ½ in the place of the draw: ⌊V·cumsum(p) + ½⌋ is rounded, nothing is random."""
    return _placed(share, volume, torch.full_like(keys, 0.5, dtype=torch.float64))


def multinomial(share: torch.Tensor, volume: torch.Tensor, keys: torch.Tensor, salt: int) -> torch.Tensor:
    """Independent draws: counts [n, K] of V particles that each choose a move with probability p."""
    particle = torch.arange(int(volume.max()) if len(volume) else 0, device=share.device)
    drawn = uniform((keys ^ salt)[:, None], particle[None, :])  # [n, V]
    bounds = _bounds(share)
    taking_part = particle[None, :] < volume[:, None]
    below = (drawn[:, None, :] < bounds[:, :, None]) & taking_part[:, None, :]  # [n, K, V]
    upper = below.sum(2)
    return upper.diff(dim=1, prepend=torch.zeros_like(upper[:, :1]))


def _bounds(share: torch.Tensor) -> torch.Tensor:
    """Return cumsum(p) float64 [n, K]; exactly 1 from the last positive weight on, 0 in rows without any."""
    bounds = share.cumsum(1, dtype=torch.float64)
    return bounds.div_(bounds[:, -1:].clamp(min=torch.finfo(torch.float64).tiny))


SPLITTERS: dict[str, Splitter] = {"systematic": systematic, "middle": middle, "multinomial": multinomial}


def check(splitting: str, known: Iterable[str]) -> None:
    """Refuse a scheme that a form does not have."""
    if splitting not in known:
        expected = f"one of {', '.join(known)}, which the tensor form has"
        raise bad("search", "search.splitting", expected, splitting)
