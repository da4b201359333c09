"""The figures of a run, one `plot_…` function each, drawn from its tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from probzero.arena.names import iteration_of
from probzero.origin import Origin
from probzero.report import style


def plot_elo(ratings: pd.DataFrame, path: Path, made: Origin) -> None:
    """Elo by iteration. Band: 95 % of the difference from the anchor. Whiskers: 95 % against the mean of the field.

    Players that are not checkpoints are horizontal lines. Where the games bound a difference on one side only
    (`bounded` false: one side took no point at all) the marker is hollow.
    """
    checkpoints = ratings[ratings["iteration"].notna()].sort_values("iteration")
    others = ratings[ratings["iteration"].isna()].sort_values("rating")
    # The one player whose rating is certain, because it is defined to be 0.
    anchor = str(ratings["player"].iloc[int(ratings["standard_error"].argmin())])
    iteration_zero = iteration_of(anchor)
    anchor = anchor if iteration_zero is None else f"iteration {iteration_zero}"
    with style.figure(style.SINGLE, 2.9) as (drawn, (axes,)):
        iteration = checkpoints["iteration"].to_numpy(float)
        rating = checkpoints["rating"].to_numpy()
        axes.fill_between(
            iteration, checkpoints["low"], checkpoints["high"], color=style.BLUE, alpha=style.BAND, linewidth=0,
            label=f"95 % of the difference from {anchor}",
        )  # fmt: skip
        whiskers = [rating - checkpoints["field_low"], checkpoints["field_high"] - rating]
        axes.errorbar(
            iteration, rating, whiskers, color=style.BLUE, marker="o", elinewidth=0.9, capsize=2,
            label="Rating, 95 % against the field's mean",
        )  # fmt: skip
        hollow = ~checkpoints["bounded"].to_numpy(bool)
        if hollow.any():
            axes.plot(
                iteration[hollow], rating[hollow], "o", color=style.BLUE, markerfacecolor="white", zorder=3,
                label="Bounded by the games on one side only",
            )  # fmt: skip
        for height, colour in zip(others["rating"], _cycle(len(others)), strict=True):
            axes.axhline(height, color=colour, linestyle="--", linewidth=1)
        low, high = axes.get_ylim()
        labels = spread(others["rating"].to_numpy(), 0.065 * (high - low))
        for name, height, colour in zip(others["player"], labels, _cycle(len(others)), strict=True):
            axes.text(1.01, height, name, color=colour, va="center", transform=axes.get_yaxis_transform())
        axes.set_ylabel(f"Elo relative to {anchor}")
        style.iterations_axis(axes)
        style.legend_above(axes, 1)
        style.save(drawn, path, made)


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


def spread(heights: np.ndarray, gap: float) -> np.ndarray:
    """Return ascending heights moved until neighbours are at least `gap` apart, halfway up and halfway down."""
    steps = gap * np.arange(len(heights))
    up = np.maximum.accumulate(heights - steps) + steps
    down = np.minimum.accumulate((heights - steps)[::-1])[::-1] + steps
    return (up + down) / 2


def _cycle(count: int) -> list[str]:
    colours = [style.VERMILION, style.GREEN, style.PURPLE, style.ORANGE, style.GREY]
    return [colours[position % len(colours)] for position in range(count)]
