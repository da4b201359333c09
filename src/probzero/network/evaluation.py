"""What the network says of positions, and what every form of it must do."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol


class Evaluation(NamedTuple):
    """Arrays of the kind that the positions came in."""

    prior: Any  # [n, K] float32 by listed move, sums to 1 over the legal ones
    value: Any  # [n, 3] float32 probabilities in the order of `wdl`
    reward: Any  # [n, 3] float32 probabilities in the order of `wdl`


class Form(Protocol):
    """How a kind of device evaluates states [n, W] whose legal moves are listed in moves [n, K]."""

    def __call__(self, states: Any, moves: Any) -> Evaluation: ...

    def mark(self) -> Any:
        """Return a mark of this moment in the order of the device's work."""

    def between(self, began: Any, ended: Any) -> float:
        """Return the seconds between two marks; who asks waits for the second."""
