"""Choosing the move to play from what a search says of the root."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from probzero.random_keys import key, uniform


class Moves(NamedTuple):
    """What a search says of the moves of n roots, side by side."""

    action: torch.Tensor  # [n, K]
    tried: torch.Tensor  # [n, K] bool; one at least in every row
    weight: torch.Tensor  # [n, K] float64 ≥ 0, 0 where not tried: policy_search, or visits


def best(moves: Moves) -> torch.Tensor:
    """Return the tried action [n] of largest weight."""
    return moves.action.gather(1, torch.where(moves.tried, moves.weight, -1.0).argmax(1, keepdim=True))[:, 0]


def tempered(moves: Moves, temperature: float) -> torch.Tensor:
    """Return weight^(1/τ) normalised over the tried moves [n, K]; τ = 0 is the largest alone, τ = ∞ all alike.

    Where no tried move has any weight they are all alike.
    """
    largest = moves.weight.amax(1, keepdim=True)
    weight = torch.where(largest > 0, moves.weight / largest.clamp(min=torch.finfo(torch.float64).tiny), 1.0)
    if temperature == 0:
        weight = torch.zeros_like(weight).scatter(
            1, torch.where(moves.tried, weight, -1.0).argmax(1, keepdim=True), 1.0
        )
    elif temperature == math.inf:
        weight = torch.ones_like(weight)
    elif temperature != 1:
        weight = weight ** (1 / temperature)
    weight = weight * moves.tried
    return weight / weight.sum(1, keepdim=True)


def sample(
    moves: Moves, game_key: torch.Tensor, ply: int, temperature: float = 1.0, exploration: float = 0.0
) -> torch.Tensor:
    """Return actions [n] drawn from (1 − ε)·weight^(1/τ) + ε·uniform, both normalised over the tried moves."""
    even = moves.tried / moves.tried.sum(1, keepdim=True)
    bounds = ((1 - exploration) * tempered(moves, temperature) + exploration * even).cumsum(1)
    drawn = uniform(game_key ^ key("move", ply))[:, None]
    slot = (bounds <= drawn * bounds[:, -1:]).sum(1, keepdim=True)
    slots = torch.arange(moves.tried.shape[1], device=slot.device)
    last = torch.where(moves.tried, slots, -1).amax(1, keepdim=True)
    return moves.action.gather(1, torch.minimum(slot, last))[:, 0]
