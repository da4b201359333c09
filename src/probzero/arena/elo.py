"""Elo ratings by maximum likelihood, with draws and a first-move term, and intervals that respect paired openings.

Model (Davidson 1970, with an order effect). With ratings R and first-move advantage F in Elo, for
a, who moves first, against b,

    x = (R_a − R_b + F) · ln 10 / 400
    P(a wins) = e^(x/2) / Z     P(draw) = ν / Z     P(b wins) = e^(−x/2) / Z     Z = e^(x/2) + ν + e^(−x/2)

Without draws (ν = 0) this is the Elo logistic. With η = ln ν the logits (x/2, η, −x/2) are linear in (R, F, η), so the
log-likelihood is concave and has one maximum. Ratings are only defined up to a constant: the anchor is 0.

Prior. A player who wins (or loses) every game has no finite maximum; nor have F and η when one side wins everything
or nobody draws. A few pseudo-games per tournament, played as opening pairs (both sides), keep everything finite:
- one for each player, half won, half lost (the empirical logit of Anscombe 1956), spread evenly over the pairings
  played. One for each *pairing* would pull distant players together, because a large gap makes even half a loss loud;
- one in all for F: half won by who moves first, half by the other;
- half a draw in all.

Covariance. Both players meet the same opening from both sides, and the same openings serve all pairings, so the
games of one opening are not independent: an opening that is decided gives 1–1 whoever plays, and similar checkpoints
repeat each other's games. Openings are what was drawn at random, so they are the clusters of a sandwich estimate

    V = H⁻¹ M H⁻¹     M = G/(G−1) · Σ_opening s sᵀ + Σ_pseudo weight · s sᵀ

where H is the negative Hessian, s the score vector summed over the games of an opening, G the number of openings.
Every opening carries the same games, so each has leverage 1/G and a t quantile with G − 1 degrees of freedom is right
even for few openings. The pseudo-games count as data in M; otherwise a perfect score, whose residuals vanish, would
get an interval of no width. A single opening says nothing of the spread between openings: V = H⁻¹, widest t quantile.

Meaning. Openings that favour one side are not part of the model: a rating speaks of scores averaged over this set of
openings, and the intervals cover that. Such openings pull scores towards one half, so the scale is compressed against
one that would allow for each opening: compare ratings within a set of openings, not between sets.

Intervals are Wald's, from V. Where no result at all speaks for the weaker side (Ford 1957: no chain of points taken
leads from one player to the other) the games bound the difference on one side only and the far end of the interval
rests on the prior: such rows are marked `bounded` = False, to be read as "at least".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import optimize, stats
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from probzero.errors import bad

ELO = 400 / np.log(10)  # Elo points of one natural logit
CONFIDENCE = 0.95

# Pseudo opening pairs of a pairing (i, j): the result for who moves first, which is i, then j.
_PAIR_RESULTS = np.array([[1, -1], [-1, 1], [1, 1], [-1, -1], [0, 0]])  # i twice, j twice, first, second, drawn


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Ratings:
    """Ratings of n players; Elo points throughout."""

    players: tuple[str, ...]
    anchor: str
    rating: np.ndarray  # [n], 0 for the anchor
    covariance: np.ndarray  # [n, n] of the ratings relative to the anchor, whose row and column are 0
    first_move: Estimate  # F, Elo that moving first is worth
    draw: Estimate  # ν; equal players draw with probability ν / (2 + ν) when F = 0
    games: np.ndarray  # [n] games of each player
    score: np.ndarray  # [n] mean score of each player, a draw counting one half
    group: np.ndarray  # [n] players of one group took points from each other, directly or by a chain
    openings: int  # G, the number of clusters
    freedom: int  # degrees of freedom of the t quantile, G − 1


def fit(games: pd.DataFrame, players: Sequence[str], anchor: str) -> Ratings:
    """Rate `players` from `games`, as `report.tables.read_matches` reads them, so that `anchor` is 0."""
    players = list(players)
    first, second, result = indices(games, players)
    if anchor not in players:
        raise bad("tournament", "anchor", f"one of {players}", anchor)
    pairings = np.unique(np.sort(np.stack([first, second], axis=1), axis=1), axis=0)  # [m, 2]
    group = _groups(first, second, result, players)
    cluster, names = pd.factorize(games["opening_moves"])
    openings = len(names)

    pseudo_first, pseudo_second, pseudo_result, pair_weight = _pseudo_games(pairings, len(players))
    free = np.arange(len(players) + 2) != players.index(anchor)  # every rating but the anchor's, F, η
    rows = _Rows(
        design=_design(np.append(first, pseudo_first), np.append(second, pseudo_second), len(players))[:, free[:-1]],
        result=np.append(result, pseudo_result),
        weight=np.concatenate([np.ones(len(first)), pair_weight, pair_weight]),
    )
    best = _maximise(rows)
    covariance = np.linalg.inv(rows.hessian(best))
    if openings > 1:
        scores = rows.scores(best)
        real = np.zeros((openings, len(best)))
        np.add.at(real, cluster, scores[: len(first)])
        pseudo = scores[len(first) :].reshape(2, -1, len(best)).sum(axis=0)  # [pseudo pairs, parameters]
        meat = openings / (openings - 1) * real.T @ real + (pseudo.T * pair_weight) @ pseudo
        covariance = covariance @ meat @ covariance

    size, freedom = len(players), max(openings - 1, 1)
    theta, spread = np.zeros(size + 2), np.zeros((size + 2, size + 2))
    theta[free], spread[np.ix_(free, free)] = best, covariance
    margin = quantile(freedom) * np.sqrt(np.diag(spread))
    low, high = theta - margin, theta + margin
    games_of = np.bincount(first, minlength=size) + np.bincount(second, minlength=size)
    points = np.bincount(first, (1 + result) / 2, size) + np.bincount(second, (1 - result) / 2, size)
    return Ratings(
        players=tuple(players),
        anchor=anchor,
        rating=theta[:size] * ELO,
        covariance=spread[:size, :size] * ELO**2,
        first_move=Estimate(*(float(bound[size]) * ELO for bound in (theta, low, high))),
        draw=Estimate(*(float(np.exp(bound[size + 1])) for bound in (theta, low, high))),
        games=games_of,
        score=points / games_of,
        group=group,
        openings=openings,
        freedom=freedom,
    )


def quantile(freedom: int) -> float:
    """Return the two-sided 95 % quantile of the t distribution."""
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom))


@dataclass(frozen=True)
class _Rows:
    """Games and pseudo-games as a weighted softmax regression on θ = (ratings but the anchor's, F, η), in logits."""

    design: np.ndarray  # [rows, n] with x = design · (ratings but the anchor's, F)
    result: np.ndarray  # [rows] 1 first, 0 draw, −1 second
    weight: np.ndarray  # [rows]

    def _probabilities(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return P(first), P(draw), P(second) and the log-likelihood, each [rows]."""
        half = self.design @ theta[:-1] / 2
        logits = np.stack([half, np.full_like(half, theta[-1]), -half])  # [3, rows]
        logs = logits - np.logaddexp.reduce(logits, axis=0)
        win, draw, loss = np.exp(logs)
        return win, draw, loss, np.choose(1 - self.result, logs)

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """Return the gradient of each row's log-likelihood, unweighted [rows, parameters]."""
        win, draw, loss, _ = self._probabilities(theta)
        in_x = (self.result - (win - loss)) / 2
        in_eta = (self.result == 0) - draw
        return np.column_stack([in_x[:, None] * self.design, in_eta])

    def loss(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the negative log-likelihood and its gradient [parameters]."""
        likelihood = self._probabilities(theta)[-1]
        return -float(self.weight @ likelihood), -self.weight @ self.scores(theta)

    def hessian(self, theta: np.ndarray) -> np.ndarray:
        """Return H [parameters, parameters]: the covariance of (±½ or 0, draw) under the model, carried to θ."""
        win, draw, loss, _ = self._probabilities(theta)
        in_x = self.weight * ((win + loss) - (win - loss) ** 2) / 4
        cross = self.design.T @ (self.weight * -draw * (win - loss) / 2)
        in_eta = float(self.weight @ (draw * (1 - draw)))
        corner = self.design.T @ (in_x[:, None] * self.design)
        return np.block([[corner, cross[:, None]], [cross[None, :], np.array([[in_eta]])]])


def _maximise(rows: _Rows) -> np.ndarray:
    """Return θ [parameters] of the greatest likelihood."""
    start = np.zeros(rows.design.shape[1] + 1)
    found = optimize.minimize(rows.loss, start, (), "trust-exact", True, rows.hessian, options={"gtol": 1e-3})
    if not found.success:
        raise bad("ratings", "maximum likelihood", "convergence", found.message)
    # Differences of the likelihood drown in rounding before its gradient does; two Newton steps go the rest of the way.
    theta = found.x
    for _ in range(2):
        theta = theta - np.linalg.solve(rows.hessian(theta), rows.loss(theta)[1])
    return theta


def _design(first: np.ndarray, second: np.ndarray, players: int) -> np.ndarray:
    design = np.zeros((len(first), players + 1))
    rows = np.arange(len(first))
    design[rows, first] = 1
    design[rows, second] = -1
    design[:, -1] = 1
    return design


def _pseudo_games(pairings: np.ndarray, players: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the prior of the module's docstring for the pairings [m, 2] that were played: first, second and result of
    its games [10 m], the games that i begins before those that j begins, and the weights of its pairs [5 m].
    """
    count = len(pairings)
    strength, shared = players / (8 * count), 1 / (4 * count)
    i, j = np.repeat(pairings, len(_PAIR_RESULTS), axis=0).T  # [5 m]
    result = np.tile(_PAIR_RESULTS, (count, 1)).T.reshape(-1)
    weight = np.tile([strength, strength, shared, shared, shared], count)
    return np.append(i, j), np.append(j, i), result, weight


def indices(games: pd.DataFrame, players: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return first, second [games] as indices into `players`, and result [games]; refuse what cannot be rated."""
    if len(set(players)) < len(players) or len(players) < 2:
        raise bad("tournament", "players", "two or more distinct names", players)
    for column in ("first", "second"):
        unknown = ~games[column].isin(players)
        if unknown.any():
            raise bad("games", column, f"one of {players}", games.loc[unknown, column].iloc[0])
    index = {player: position for position, player in enumerate(players)}
    first, second = (games[side].map(index).to_numpy(np.int64) for side in ("first", "second"))
    return first, second, games["result"].to_numpy(np.int64)


def _groups(first: np.ndarray, second: np.ndarray, result: np.ndarray, players: list[str]) -> np.ndarray:
    """Return the group of each player [n]; refuse players without a chain of games between them."""
    took = np.append(first[result >= 0], second[result <= 0])  # a draw gives both players something
    gave = np.append(second[result >= 0], first[result <= 0])
    graph = coo_array((np.ones(len(took)), (took, gave)), shape=(len(players), len(players)))
    part = connected_components(graph, directed=False)[1]
    if (part != part[0]).any():
        missing = f"none from {players[0]} to {players[int(np.argmax(part != part[0]))]}"
        raise bad("tournament", "games", "a chain of games between any two players", missing)
    return connected_components(graph, directed=True, connection="strong")[1]
