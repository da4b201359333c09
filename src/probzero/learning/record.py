"""What is kept of the games of a shard while they are played, for their samples."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import torch

from probzero.config import Targets
from probzero.learning.dataset import Samples
from probzero.search.move_choice import Moves


class Position(NamedTuple):
    """The positions of n games as they were searched, before a move is played."""

    games: torch.Tensor  # [n]
    states: torch.Tensor  # [n, W]
    roots: torch.Tensor  # [n] their nodes
    moves: Moves  # what the search says of the moves
    value: torch.Tensor  # [n] the root's value


class Record(Protocol):
    """A class of these is made for a search (see `arms`)."""

    def note(self, position: Position) -> None:
        """Note positions that were searched."""

    def samples(self, result: torch.Tensor, settings: Targets) -> Samples:
        """Return the samples; result [G] (+1, 0, −1) is that of the player who moved first."""


def as_array(column: torch.Tensor) -> np.ndarray:
    return np.ascontiguousarray(column.cpu().numpy(), dtype=np.float32)
