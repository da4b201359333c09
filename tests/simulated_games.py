"""Games drawn from the rating model, so that the right ratings are known."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from probzero.arena import elo
from probzero.report.tournament import pairings_table, ratings_table


def simulate(
    rng: np.random.Generator, ratings: list[float], first_move: float, nu: float, openings: int, favour: float = 0
) -> tuple[pd.DataFrame, list[str]]:
    """Play all pairs from the model, every opening from both sides and favouring one by about `favour` Elo."""
    names = [f"iteration-{number:04}" for number in range(len(ratings))]
    i, j = np.triu_indices(len(ratings), 1)
    first = np.repeat(np.append(i, j), openings)
    second = np.repeat(np.append(j, i), openings)
    opening = np.tile(np.arange(openings), 2 * len(i))
    advantage = first_move + (favour * rng.standard_normal(openings))[opening]
    x = (np.array(ratings)[first] - np.array(ratings)[second] + advantage) * math.log(10) / 400
    weights = np.stack([np.exp(x / 2), np.full_like(x, nu), np.exp(-x / 2)])
    draw = rng.random(len(x)) * weights.sum(0)
    result = 1 - (draw[None] > weights.cumsum(0)[:2]).sum(0)
    games = pd.DataFrame(
        {
            "first": np.array(names)[first],
            "second": np.array(names)[second],
            "opening_moves": [f"o{number}" for number in opening],
            "moves": [f"m{number}" for number in range(len(x))],
            "result": result,
        }
    )
    return games, names


def tournament() -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Return ratings, pairings and players of a tournament of three checkpoints and the perfect player."""
    games, names = simulate(np.random.default_rng(0), [0, 250, 400, 450], 20, 0.2, 12)
    renamed = {names[3]: "perfect"}
    games = games.replace({"first": renamed, "second": renamed})
    players = [*names[:3], "perfect"]
    return ratings_table(elo.fit(games, players, names[0])), pairings_table(games, players), players
