"""The figures of a run, one `plot_…` function each, drawn from its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from probzero.arena.names import iteration_of
from probzero.origin import Origin
from probzero.report import style

WHISKERS = "Whiskers: 95 % of the difference from {}"


def plot_elo(ratings: pd.DataFrame, path: Path, made: Origin) -> None:
    """Elo by iteration, and beside it that of players which are not checkpoints.

    All whiskers are 95 % of the difference from the anchor, which is at 0 by definition. Where the games bound a
    difference on one side only (`bounded` false: one side took no point at all) the marker is hollow.
    """
    checkpoints = ratings[ratings["iteration"].notna()].sort_values("iteration")
    others = ratings[ratings["iteration"].isna()].sort_values("rating")
    # The one player whose rating is certain, because it is defined to be 0.
    anchor = str(ratings["player"].iloc[int(ratings["standard_error"].argmin())])
    iteration_zero = iteration_of(anchor)
    anchor = anchor if iteration_zero is None else f"iteration {iteration_zero}"
    widths = {"learn": max(2.4, 0.5 + len(others) / 4), "others": 0.4 + len(others) / 4}
    shown = [kind for kind, rows in (("learn", checkpoints), ("others", others)) if len(rows)]
    ratios = [widths[kind] for kind in shown]
    with style.figure(style.SINGLE, 2.9, 1, len(shown), sharey=True, width_ratios=ratios) as (drawn, panels):
        for axes, kind in zip(panels, shown, strict=True):
            if kind == "learn":
                _rated(axes, checkpoints["iteration"], checkpoints, style.BLUE, "o", "-", WHISKERS.format(anchor))
                style.iterations_axis(axes)
            else:
                _plain_players(axes, others, WHISKERS.format(anchor) if len(shown) == 1 else "")
        panels[0].set_ylabel(f"Elo relative to {anchor}")
        if not ratings["bounded"].all():
            name = "Bounded on one side only"
            panels[0].plot([], [], "o", color=style.BLUE, markerfacecolor="white", label=name)
        drawn.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center")
        style.save(drawn, path, made)


def _plain_players(axes: Axes, rows: pd.DataFrame, label: str) -> None:
    """Draw players that are not checkpoints, side by side, in the order of their ratings."""
    places = pd.Series(range(len(rows)), rows.index)
    _rated(axes, places, rows, style.VERMILION, "s", "none", label)
    axes.set_xticks(places, rows["player"], rotation=90)
    axes.set_xlim(-0.6, len(rows) - 0.4)
    axes.tick_params(length=0)
    axes.set_xlabel("Other\nplayers")


def plot_budgets(ratings: pd.DataFrame, budgets: Mapping[str, int], path: Path, made: Origin) -> None:
    """Elo by search budget for each kind of search, from the raw policy (a budget of 0) up.

    Players of one search are called alike, with their budget at the end. Whiskers are 95 % of the difference from the
    first player; a player without a budget of its own is a line across.
    """
    searched = ratings[ratings["player"].map(budgets).fillna(0) > 0]
    searched = searched.assign(budget=searched["player"].map(budgets).astype(int))
    kinds = [player.removesuffix(f"-{budgets[player]}") for player in searched["player"]]
    raw = ratings[ratings["player"].map(budgets) == 0]
    others = ratings[~ratings["player"].isin(budgets)]
    smallest = searched["budget"].min()
    at_raw = smallest / 4  # a logarithmic axis has no 0
    with style.figure(style.SINGLE, 2.9) as (drawn, (axes,)):
        axes.set_xscale("log")
        for number, (kind, rows) in enumerate(searched.groupby(kinds, sort=False)):
            apart = 1.06 ** (2 * number - len(set(kinds)) + 1)  # whiskers of two kinds stand side by side
            for height in raw["rating"]:
                least = rows.sort_values("budget").iloc[0]
                ends = [at_raw, least["budget"] * apart], [height, least["rating"]]
                axes.plot(*ends, ":", color=style.LOOKS[number][0])
            _rated(axes, rows["budget"] * apart, rows, *style.LOOKS[number], "-", str(kind))
        if len(raw):
            _rated(axes, pd.Series(at_raw, raw.index), raw, style.BLACK, "o", "none", "")
        for name, height in zip(others["player"], others["rating"], strict=True):
            axes.axhline(height, color=style.GREY, linestyle="--", linewidth=1)
            axes.annotate(name, (at_raw, height), (0, 3), textcoords="offset points", color=style.GREY)
        ticks = sorted(searched["budget"].unique())
        axes.set_xticks([*([at_raw] if len(raw) else []), *ticks], [*(["raw"] if len(raw) else []), *map(str, ticks)])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("Leaf evaluations a move")
        first = ratings["player"].iloc[0]
        axes.set_ylabel(f"Elo relative to {first}")
        drawn.legend(
            *axes.get_legend_handles_labels(), loc="outside upper center", ncols=2, title=WHISKERS.format(first)
        )
        style.save(drawn, path, made)


def _rated(
    axes: Axes,
    x: pd.Series,
    rows: pd.DataFrame,
    colour: str,
    marker: str,
    line: str,
    label: str,
) -> None:
    """Draw ratings with their intervals; markers of those that are bounded on one side are hollow."""
    rating = rows["rating"].to_numpy()
    whiskers = [rating - rows["low"], rows["high"] - rating]
    axes.errorbar(
        x, rating, whiskers, color=colour, marker=marker, linestyle=line, elinewidth=0.9, capsize=2, label=label
    )
    hollow = ~rows["bounded"].to_numpy(bool)
    axes.plot(x[hollow], rating[hollow], marker, color=colour, markerfacecolor="white", zorder=3)


def plot_win_rates(pairings: pd.DataFrame, players: Sequence[str], path: Path, made: Origin) -> None:
    """Matrix of scores in percent: row's player against column's; 50 is even, a draw counts one half."""
    scores = score_matrix(pairings, players)
    names = [short_name(player) for player in players]
    side = max(style.SINGLE, min(style.DOUBLE, 0.36 * len(players) + 1.1))
    with style.figure(side, side * 0.88) as (drawn, (axes,)):
        axes.grid(False)
        axes.set_facecolor("#E4E4E4")  # where nobody met
        image = axes.imshow(100 * scores, cmap="PuOr_r", vmin=0, vmax=100)
        for row, column in zip(*np.nonzero(np.isfinite(scores)), strict=True):
            percent = 100 * scores[row, column]
            dark = image.to_rgba(percent)[:3] @ np.array([0.2126, 0.7152, 0.0722]) < 0.45
            axes.text(column, row, f"{percent:.0f}", ha="center", va="center", color="white" if dark else "black")
        ticks = range(len(players))
        turn = 90 if max(map(len, names)) > 3 else 0
        axes.set_xticks(ticks, names, rotation=turn)
        axes.set_yticks(ticks, names)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_xlabel("Opponent (iteration)")
        axes.set_ylabel("Player (iteration)")
        drawn.colorbar(image, ax=axes, label="Score of the row's player (%)", shrink=0.85, ticks=range(0, 101, 25))
        style.save(drawn, path, made)


def plot_training(training: pd.DataFrame, path: Path, made: Origin) -> None:
    """Losses and accuracies by iteration, each head in one colour on both sides."""
    heads = {"Policy": (style.BLUE, "o"), "Value": (style.VERMILION, "s"), "Reward": (style.GREEN, "^")}
    losses = dict(zip(("policy_loss", "value_loss", "reward_loss"), heads, strict=True))
    shares = dict(zip(("policy_agreement", "value_accuracy", "reward_accuracy"), heads, strict=True))
    with style.figure(style.DOUBLE, 2.5, columns=2) as (drawn, (left, right)):
        for axes, columns, scale in ((left, losses, 1), (right, shares, 100)):
            for column, head in columns.items():
                colour, marker = heads[head]
                _line(axes, training["iteration"], scale * training[column], colour, marker, head)
            style.iterations_axis(axes)
        left.set_ylabel("Cross-entropy (nats)")
        left.set_ylim(bottom=0)
        right.set_ylabel("Agreement with the target (%)")
        right.set_ylim(top=100)
        drawn.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=3)
        style.save(drawn, path, made)


def plot_selfplay(selfplay: pd.DataFrame, path: Path, made: Origin) -> None:
    """Games of self-play by iteration: who won them; how many are different, and how many moves were solved."""
    with style.figure(style.DOUBLE, 2.5, columns=2) as (drawn, (left, right)):
        for axes, column, whole, label, colour, marker in (
            (left, "first_wins", "games", "First wins", style.BLUE, "o"),
            (left, "draws", "games", "Draws", style.GREEN, "^"),
            (left, "second_wins", "games", "Second wins", style.VERMILION, "s"),
            (right, "distinct_games", "games", "Different games", style.BLUE, "o"),
            (right, "exhausted_roots", "moves", "Moves solved by search", style.ORANGE, "s"),
        ):
            _line(axes, selfplay["iteration"], 100 * selfplay[column] / selfplay[whole], colour, marker, label)
        for axes, columns in ((left, 3), (right, 2)):
            style.iterations_axis(axes)
            axes.set_ylim(-3, 103)  # lines at 0 and at 100 are whole
            style.legend_above(axes, columns)
        left.set_ylabel("Games of self-play (%)")
        right.set_ylabel("Share (%)")
        style.save(drawn, path, made)


def plot_costs(costs: pd.DataFrame, path: Path, made: Origin) -> None:
    """Throughput of self-play by iteration: evaluations per second, and where time and evaluations went."""
    with style.figure(style.DOUBLE, 2.5, columns=2) as (drawn, (left, right)):
        iteration = costs["iteration"]
        rates = {"leaf_evaluations_per_second": "All leaves", "network_evaluations_per_second": "Sent to the network"}
        shares = {"network_share": "Time in the network", "cache_hit_share": "Leaves from the cache"}
        for axes, columns, scale in ((left, rates, 1e-3), (right, shares, 100)):
            for (column, label), colour, marker in zip(columns.items(), (style.BLUE, style.ORANGE), "os", strict=True):
                _line(axes, iteration, scale * costs[column], colour, marker, label)
            style.iterations_axis(axes)
            axes.set_ylim(bottom=0)
            style.legend_above(axes, 2)
        left.set_ylabel("Evaluations (thousand/s)")
        right.set_ylabel("Share (%)")
        right.set_ylim(0, 100)
        style.save(drawn, path, made)


def score_matrix(pairings: pd.DataFrame, players: Sequence[str]) -> np.ndarray:
    """Return scores [n, n] of row against column; NaN where two players did not meet, and on the diagonal."""
    index = {player: position for position, player in enumerate(players)}
    row, column = (pairings[name].map(index).to_numpy(int) for name in ("player", "opponent"))
    scores = np.full((len(players), len(players)), np.nan)
    scores[row, column] = pairings["score"]
    scores[column, row] = 1 - pairings["score"]
    return scores


def short_name(player: str) -> str:
    """Return "40" for "iteration-0040"; other players keep their names."""
    iteration = iteration_of(player)
    return player if iteration is None else str(iteration)


def _line(axes: Axes, x: pd.Series, y: pd.Series, colour: str, marker: str, label: str) -> None:
    """Draw a line with about ten markers, however many points it has."""
    axes.plot(x, y, color=colour, marker=marker, markevery=max(1, len(x) // 10), label=label)
