"""Choosing the move to play from what a search says of the root."""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

from probzero.kinds import Array, cast, count_up, pick, space
from probzero.random_keys import key, uniform

TINY = sys.float_info.min


class Moves(NamedTuple):
    """What a search says of the moves of n roots, side by side."""

    action: Array  # [n, K]
    tried: Array  # [n, K] bool; one at least in every row
    weight: Array  # [n, K] float64 ≥ 0, 0 where not tried: policy_search, or visits


def best(moves: Moves) -> Array:
    """Return the tried action [n] of largest weight."""
    return pick(moves.action, space(moves.weight).where(moves.tried, moves.weight, -1.0).argmax(1, keepdims=True))[:, 0]


def tempered(moves: Moves, temperature: float) -> Array:
    """Return weight^(1/τ) normalised over the tried moves [n, K]; τ = 0 is the largest alone, τ = ∞ all alike.

    Where no tried move has any weight they are all alike.
    """
    xp = space(moves.weight)
    largest = xp.amax(moves.weight, axis=1, keepdims=True)
    weight = xp.where(largest > 0, moves.weight / largest.clip(min=TINY), 1.0)
    if temperature == 0:
        slots = count_up(weight, weight.shape[1])
        weight = (slots == xp.where(moves.tried, weight, -1.0).argmax(1, keepdims=True)) * 1.0
    elif temperature == math.inf:
        weight = xp.ones_like(weight)
    elif temperature != 1:
        weight = weight ** (1 / temperature)
    weight = weight * moves.tried
    return weight / weight.sum(1, keepdims=True)


def sample(moves: Moves, game_key: Array, ply: int, temperature: float = 1.0, exploration: float = 0.0) -> Array:
    """Return actions [n] drawn from (1 − ε)·weight^(1/τ) + ε·uniform, both normalised over the tried moves."""
    even = cast(moves.tried, "float64") / moves.tried.sum(1, keepdims=True)
    bounds = ((1 - exploration) * tempered(moves, temperature) + exploration * even).cumsum(1)
    drawn = uniform(game_key ^ key("move", ply))[:, None]
    slot = (bounds <= drawn * bounds[:, -1:]).sum(1, keepdims=True)
    xp, slots = space(slot), count_up(slot, moves.tried.shape[1])
    last = xp.amax(xp.where(moves.tried, slots, -1), axis=1, keepdims=True)
    return pick(moves.action, xp.minimum(slot, last))[:, 0]
