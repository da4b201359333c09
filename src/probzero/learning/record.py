"""What is kept of the games of a shard while they are played, for their samples."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from probzero.config import Targets
from probzero.kinds import Array, plain
from probzero.learning.dataset import Samples
from probzero.search.move_choice import Moves


class Position(NamedTuple):
    """The positions of n games as they were searched, before a move is played."""

    games: Array  # [n]
    states: Array  # [n, W]
    roots: Array  # [n] their nodes
    moves: Moves  # what the search says of the moves, as it is to be learned
    value: Array  # [n] the root's value


class Record(Protocol):
    """A class of these is made for a search (see `arms`)."""

    def note(self, position: Position) -> None:
        """Note positions that were searched."""

    def samples(self, result: Array, settings: Targets) -> Samples:
        """Return the samples; result [G] (+1, 0, −1; UNKNOWN) is that of the player who moved first."""


def as_array(column: Array) -> np.ndarray:
    return np.ascontiguousarray(plain(column), dtype=np.float32)
