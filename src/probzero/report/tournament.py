"""Tables of a tournament: ratings, their differences, and the score of each pairing, all with 95 % intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from probzero.arena.elo import Ratings, fit, indices, quantile
from probzero.arena.names import iteration_of


def tournament_tables(games: pd.DataFrame, players: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Return all tables by name; the first player is 0 on the scale."""
    ratings = fit(games, players, anchor=players[0])
    return {
        "ratings": ratings_table(ratings),
        "differences": differences_table(ratings),
        "pairings": pairings_table(games, players),
        "model": model_table(ratings),
    }


def ratings_table(ratings: Ratings) -> pd.DataFrame:
    """Return one row per player. `low`, `high` bound the difference from the anchor; `field_low`, `field_high` bound
    the difference from the mean of all players, shifted to the same zero, and so leave out the anchor's uncertainty.
    """
    size = len(ratings.players)
    to_field = np.eye(size) - 1 / size  # rating − mean rating
    error = np.sqrt(np.diag(ratings.covariance))
    field = np.sqrt(np.diag(to_field @ ratings.covariance @ to_field.T))
    margin, field_margin = quantile(ratings.freedom) * error, quantile(ratings.freedom) * field
    return pd.DataFrame(
        {
            "player": ratings.players,
            "iteration": pd.array([iteration_of(player) for player in ratings.players], dtype="Int64"),
            "rating": ratings.rating,
            "low": ratings.rating - margin,
            "high": ratings.rating + margin,
            "standard_error": error,
            "bounded": ratings.group == ratings.group[ratings.players.index(ratings.anchor)],
            "field_low": ratings.rating - field_margin,
            "field_high": ratings.rating + field_margin,
            "games": ratings.games,
            "score": ratings.score,
        }
    )


def differences_table(ratings: Ratings) -> pd.DataFrame:
    """Return one row per two players, the later listed first: difference, interval, likelihood of superiority.

    Var(R_i − R_j) = V_ii + V_jj − 2 V_ij; superiority = P(R_i > R_j) by the same t distribution as the interval.
    """
    other, player = np.triu_indices(len(ratings.players), k=1)
    difference = ratings.rating[player] - ratings.rating[other]
    variance = np.diag(ratings.covariance)
    error = np.sqrt(variance[player] + variance[other] - 2 * ratings.covariance[player, other])
    margin = quantile(ratings.freedom) * error
    names = np.array(ratings.players)
    return pd.DataFrame(
        {
            "player": names[player],
            "opponent": names[other],
            "difference": difference,
            "low": difference - margin,
            "high": difference + margin,
            "standard_error": error,
            "bounded": ratings.group[player] == ratings.group[other],
            "superiority": stats.t.cdf(difference / error, ratings.freedom),
        }
    )


def model_table(ratings: Ratings) -> pd.DataFrame:
    """Return the two parameters that are not ratings: the first-move advantage in Elo and the draw parameter ν."""
    estimates = {"first_move_advantage": ratings.first_move, "draw_parameter": ratings.draw}
    rows = [(name, found.value, found.low, found.high) for name, found in estimates.items()]
    return pd.DataFrame(rows, columns=["parameter", "estimate", "lower", "upper"])


def pairings_table(games: pd.DataFrame, players: Sequence[str]) -> pd.DataFrame:
    """Return one row per pairing that was played, the later listed player first, with the score of that player.

    `distinct_games` counts different full move sequences. The score's interval is Wilson's at the effective number of
    games (as Korn and Graubard 1998 do for surveys)

        n = p̃ (1 − p̃) / v      v = S² / pairs      p̃, S² = mean and variance of the scores of opening pairs

    where one pseudo-pair, half won twice and half lost twice, joins p̃ and v. Two games of an opening that always split
    1–1 make n larger than the number of games, two that always agree halve it; near 0 and 1, where a t interval on pair
    scores has no width or leaves [0, 1], Wilson's keeps its coverage.
    """
    players = list(players)
    first, second, result = indices(games, players)
    sequence = games["opening_moves"].astype(str) + "|" + games["moves"].astype(str)
    table = pd.DataFrame(
        {
            "player": np.maximum(first, second),
            "opponent": np.minimum(first, second),
            "result": np.where(first > second, result, -result),
            "opening": games["opening_moves"].to_numpy(),
            "sequence": sequence.to_numpy(),
        }
    )
    rows = [_pairing(part) for _, part in table.groupby(["opponent", "player"], sort=True)]
    return pd.DataFrame(rows).assign(
        player=lambda found: found["player"].map(players.__getitem__),
        opponent=lambda found: found["opponent"].map(players.__getitem__),
    )


def _pairing(games: pd.DataFrame) -> dict[str, object]:
    result = games["result"].to_numpy()
    score = float((1 + result.mean()) / 2)
    pairs = ((1 + games.groupby("opening")["result"].mean()) / 2).to_numpy()
    low, high = wilson(score, *_effective_games(pairs))
    return {
        "player": games["player"].iloc[0],
        "opponent": games["opponent"].iloc[0],
        "games": len(games),
        "wins": int((result == 1).sum()),
        "draws": int((result == 0).sum()),
        "losses": int((result == -1).sum()),
        "score": score,
        "score_low": low,
        "score_high": high,
        "distinct_games": games["sequence"].nunique(),
    }


def _effective_games(pairs: np.ndarray) -> tuple[float, float]:
    """Return how many independent games know the mean of pair scores [pairs] as well, and the quantile to use."""
    values, weight = np.append(pairs, [0, 1]), np.append(np.ones(len(pairs)), [0.5, 0.5])
    mean = float(np.average(values, weights=weight))
    variance = float(weight @ (values - mean) ** 2) / len(pairs) / (len(pairs) + 1)
    return mean * (1 - mean) / variance, quantile(max(len(pairs) - 1, 1))


def wilson(score: Any, games: Any, quantile: float) -> tuple[Any, Any]:
    """Return Wilson's interval for a mean score in [0, 1] of independent games, or for arrays of them."""
    scale = 1 + quantile**2 / games
    middle = (score + quantile**2 / (2 * games)) / scale
    margin = quantile / scale * np.sqrt(score * (1 - score) / games + (quantile / (2 * games)) ** 2)
    return np.maximum(middle - margin, 0.0), np.minimum(middle + margin, 1.0)
