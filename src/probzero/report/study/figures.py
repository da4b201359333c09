"""Figures of a study. All intervals are 95 % t intervals over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from probzero.origin import Origin
from probzero.report import style
from probzero.report.study.inputs import RAW, Results
from probzero.study import ABLATION

LOOKS = ((style.BLUE, "o"), (style.VERMILION, "s"), (style.GREEN, "^"), (style.PURPLE, "D"), (style.ORANGE, "v"),
         (style.SKY, "P"), (style.BLACK, "X"), (style.GREY, "<"))  # fmt: skip
ROW = 0.19  # inches of height of a row of text
MEAN = "Mean, 95 % over seeds"


class Axis(NamedTuple):
    """What curves are drawn by: a column, in units of `unit`."""

    column: str
    unit: float
    label: str


LEAVES = Axis("leaf_evaluations", 1e6, "Leaf evaluations in self-play (millions)")
_SEED: dict[str, Any] = {"color": "#A6A6A6", "marker": "o", "markersize": 2, "linestyle": "none"}


def plot_truth(found: Results, curves: pd.DataFrame, path: Path, made: Origin) -> None:
    """Curves of the systems by leaf evaluations, each with its interval."""
    _plot_curves(found, curves, _systems(found), _systems(found), LEAVES, path, made)


def plot_variants(found: Results, curves: pd.DataFrame, path: Path, made: Origin) -> None:
    """Curves of the reference, with its interval, and of its ablations, without."""
    _plot_curves(found, curves, _ablated(found), [found.reference], LEAVES, path, made)


def plot_costs(found: Results, curves: pd.DataFrame, costs: pd.DataFrame, path: Path, made: Origin) -> None:
    """Curves of the systems by time, each with its interval."""
    _plot_curves(found, _timed(curves, costs), _systems(found), _systems(found), _time_axis(costs), path, made)


def plot_variants_costs(found: Results, curves: pd.DataFrame, costs: pd.DataFrame, path: Path, made: Origin) -> None:
    """Curves of the reference and of its ablations by time."""
    _plot_curves(found, _timed(curves, costs), _ablated(found), [found.reference], _time_axis(costs), path, made)


def _systems(found: Results) -> list[str]:
    return [name for name in found.described if name not in found.having(ABLATION)]


def _ablated(found: Results) -> list[str]:
    return [found.reference, *found.having(ABLATION)]


def _timed(curves: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    return curves.merge(costs[["variant", "iteration", "seconds"]])


def _time_axis(costs: pd.DataFrame) -> Axis:
    unit, seconds = ("minutes", 60.0) if costs["seconds"].max() < 3 * 3600 else ("hours", 3600.0)
    return Axis("seconds", seconds, f"Self-play and training ({unit})")


def _plot_curves(
    found: Results,
    curves: pd.DataFrame,
    names: Sequence[str],
    banded: Sequence[str],
    across: Axis,
    path: Path,
    made: Origin,
) -> None:
    """Share of kept results, raw and with the largest budget, by what was spent.

    A variant without checkpoints to learn from is a dotted line across.
    """
    largest = int(curves["particles"].max())
    budgets = {RAW: "Raw policy", largest: f"{largest} particles a move"}
    with style.figure(style.DOUBLE, 2.9, columns=2) as (drawn, panels):
        for axes, (budget, title) in zip(panels, budgets.items(), strict=True):
            for number, name in enumerate(names):
                rows = curves[(curves["variant"] == name) & (curves["particles"] == budget)]
                _curve(axes, rows, rows[across.column] / across.unit, number, found.label(name), name in banded)
            axes.set_title(title)
            axes.set_xlabel(across.label)
            axes.set_ylabel("Exact result kept (%)")
            axes.set_ylim(top=min(100, axes.get_ylim()[1]))
            axes.xaxis.set_major_locator(_ticks(6))
            axes.yaxis.set_major_locator(_ticks(8))
        handles, texts = panels[-1].get_legend_handles_labels()  # all variants search
        band = Patch(color=style.GREY, alpha=style.BAND, linewidth=0)
        drawn.legend(
            [*handles, band], [*texts, "95 % over seeds"], loc="outside upper center", ncols=4, handlelength=2.6
        )
        style.save(drawn, path, made)


def _curve(axes: Axes, rows: pd.DataFrame, x: pd.Series, number: int, name: str, banded: bool) -> None:
    """Draw one variant; when colours come round again, the lines are dashed."""
    colour, marker = LOOKS[number % len(LOOKS)]
    line = ("-", "--")[number // len(LOOKS) % 2]
    if len(rows) == 1:
        axes.axhline(100 * rows["share"].iloc[0], color=colour, linestyle=":", label=name)
    elif len(rows):
        low, high = (100 * rows[bound] for bound in ("share_low", "share_high"))
        if banded:
            axes.fill_between(x, low, high, color=colour, alpha=style.BAND, linewidth=0)
        every = max(1, len(rows) // 10)
        axes.plot(x, 100 * rows["share"], line, color=colour, marker=marker, markevery=every, label=name)


def plot_ablations(found: Results, ablations: pd.DataFrame, path: Path, made: Origin) -> None:
    """What is lost without each idea: reference less ablation on raw and on searched shares, grouped by idea."""
    group = (ablations["idea"] != ablations["idea"].shift()).cumsum().to_numpy(int) - 1  # 0, 1, …
    heights = (np.arange(len(ablations)) + 1.3 * group + 1).tolist()  # a heading before each group
    headings = dict(zip(ablations["idea"][::-1], heights[::-1], strict=True))  # the first row of each idea
    colours = [LOOKS[number % len(LOOKS)][0] for number in group]
    searched = f"{ablations['particles'].iloc[0]} particles a move" if len(ablations) else "Searched"
    titles = {"raw_effect": "Raw policy", "searched_effect": searched}
    bottom = max(heights, default=1.0) + 0.6
    with style.figure(style.DOUBLE, ROW * bottom + 1.1, columns=2) as (drawn, panels):
        for axes, (kind, title) in zip(panels, titles.items(), strict=True):
            _dots(axes, heights, 100 * ablations[_interval(kind)].to_numpy(), colours)
            _rows_axis(
                axes,
                heights,
                [found.label(name) for name in ablations["variant"]] if kind == "raw_effect" else [""] * len(heights),
            )
            axes.set_title(title)
            axes.set_xlabel(f"{found.label(found.reference)} less variant (percentage points)")
            axes.set_ylim(bottom, -0.6)
        for idea, height in headings.items():
            panels[0].text(
                -0.02, height - 1, idea, ha="right", va="center", weight="bold",
                transform=panels[0].get_yaxis_transform(),
            )  # fmt: skip
        drawn.legend([_whiskers(style.BLACK)], [MEAN], loc="outside upper center")
        style.save(drawn, path, made)


def plot_elo(found: Results, elo: pd.DataFrame, path: Path, made: Origin) -> None:
    """Elo relative to the reference, and each seed as a small dot; players that do not learn have their own scale."""
    zero = found.rated(found.reference)["rating"].mean()
    ranked = elo.sort_values("rating", ascending=False)
    groups = [rows for rows in (ranked[ranked["learns"]], ranked[~ranked["learns"]]) if len(rows)]
    with style.figure(style.SINGLE, ROW * len(elo) + 0.65 * len(groups) + 0.45, rows=len(groups)) as (drawn, panels):
        grid = panels[0].get_gridspec()
        assert grid is not None
        grid.set_height_ratios([len(rows) + 1 for rows in groups])
        for axes, rows in zip(panels, groups, strict=True):
            heights = [float(number) for number in range(len(rows))]
            for name, height in zip(rows["variant"], heights, strict=True):
                seeds = found.rated(name)["rating"] - zero
                axes.plot(seeds, np.full(len(seeds), height + 0.3), **_SEED)
            colours = [style.BLUE if name == found.reference else style.VERMILION for name in rows["variant"]]
            _dots(axes, heights, rows[_interval("rating")].to_numpy(), colours)
            _rows_axis(axes, heights, [found.label(name) for name in rows["variant"]])
            axes.set_ylim(len(rows) - 0.3, -0.6)
            axes.set_xlabel(f"Elo relative to {found.label(found.reference)}")
        keys = [_whiskers(style.VERMILION), Line2D([], [], **_SEED)]
        drawn.legend(keys, [MEAN, "Each seed"], loc="outside upper center", ncols=2)
        style.save(drawn, path, made)


def _interval(name: str) -> list[str]:
    return [name, f"{name}_low", f"{name}_high"]


def _dots(axes: Axes, heights: Sequence[float], values: np.ndarray, colours: Sequence[str]) -> None:
    """Draw estimates [rows, 3] with their bounds as dots with whiskers, beside a line at 0."""
    axes.axvline(0, color=style.GREY, linewidth=0.9, zorder=1)
    for height, (value, low, high), colour in zip(heights, values, colours, strict=True):
        axes.plot([low, high], [height, height], color=colour, marker="|", markersize=5, zorder=2.5)
        axes.plot(value, height, "o", color=colour, markersize=4, zorder=3)


def _whiskers(colour: str) -> Line2D:
    return Line2D([], [], color=colour, marker="o", markersize=4)


def _rows_axis(axes: Axes, heights: Sequence[float], names: Sequence[str]) -> None:
    axes.set_yticks(list(heights), list(names))
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.xaxis.set_major_locator(_ticks(6))


def _ticks(most: int) -> MaxNLocator:
    return MaxNLocator(nbins=most, steps=[1, 2, 5, 10])
