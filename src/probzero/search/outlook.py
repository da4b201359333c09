"""What a search has found at a root, move by move: for whoever wants to see more than the move it plays."""

from __future__ import annotations

from typing import NamedTuple

from probzero.kinds import Array


class Outlook(NamedTuple):
    """The K legal moves of n roots side by side; all numbers speak for the player to move at the root."""

    action: Array  # [n, K]
    real: Array  # [n, K] bool; other columns fill up the rows
    tried: Array  # [n, K] bool
    visits: Array  # [n, K] particles, or simulations, that took the move
    weight: Array  # [n, K] by which the search chooses: policy_search, or shares of visits
    value: Array  # [n, K] chance of a win − chance of a loss, where tried
    # What only a search that carries win, draw and loss through its graph knows:
    wdl: Array | None = None  # [n, K, 3] where tried
    winner_prob: Array | None = None  # [n, K] 0 where not tried
    root_wdl: Array | None = None  # [n, 3]
