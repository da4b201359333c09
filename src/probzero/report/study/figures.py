"""Ablations and ratings of a study. All intervals are 95 % t intervals over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from probzero.origin import Origin
from probzero.report import style
from probzero.report.study.inputs import RAW, Results

LOOKS = ((style.BLUE, "o"), (style.VERMILION, "s"), (style.GREEN, "^"), (style.PURPLE, "D"), (style.ORANGE, "v"),
         (style.SKY, "P"), (style.BLACK, "X"), (style.GREY, "<"))  # fmt: skip
ROW = 0.19  # inches of height of a row of text
LONG = 28  # characters of a label that leave room beside it in one column
MEAN = "Mean, 95 % over seeds"


_SEED: dict[str, Any] = {"color": "#A6A6A6", "marker": "o", "markersize": 2, "linestyle": "none"}


def plot_ablations(found: Results, ablations: pd.DataFrame, path: Path, made: Origin) -> None:
    """What is lost without each idea: reference less ablation on raw and on searched shares, grouped by idea.

    The small dots are seeds: the mean of the reference less each of the ablation's."""
    group = (ablations["idea"] != ablations["idea"].shift()).cumsum().to_numpy(int) - 1  # 0, 1, …
    heights = (np.arange(len(ablations)) + 1.3 * group + 1).tolist()  # a heading before each group
    headings = dict(zip(ablations["idea"][::-1], heights[::-1], strict=True))  # the first row of each idea
    colours = [LOOKS[number % len(LOOKS)][0] for number in group]
    kinds = {"raw_effect": ("Raw policy", RAW), "searched_effect": (f"{found.largest} particles a move", found.largest)}
    bottom = max(heights, default=1.0) + 0.6
    with style.figure(style.DOUBLE, ROW * bottom + 1.1, columns=2) as (drawn, panels):
        for axes, (kind, (title, particles)) in zip(panels, kinds.items(), strict=True):
            for name, height in zip(ablations["variant"], heights, strict=True):
                _seeds(axes, 100 * _less(found, name, particles), height)
            _dots(axes, heights, 100 * ablations[_interval(kind)].to_numpy(), colours)
            _rows_axis(
                axes,
                heights,
                [found.label(name) for name in ablations["variant"]] if kind == "raw_effect" else [""] * len(heights),
            )
            axes.set_title(title)
            axes.set_ylim(bottom, -0.6)
        for idea, height in headings.items():
            panels[0].text(
                -0.02, height - 1, idea, ha="right", va="center", weight="bold",
                transform=panels[0].get_yaxis_transform(),
            )  # fmt: skip
        drawn.supxlabel(f"{found.label(found.reference)} less variant (percentage points)", fontsize=8)
        _legend(drawn, style.BLACK)
        style.save(drawn, path, made)


def plot_elo(found: Results, elo: pd.DataFrame, path: Path, made: Origin) -> None:
    """Elo relative to the reference, and each seed as a small dot; players that do not learn have their own scale."""
    zero = found.rated(found.reference)["rating"].mean()
    ranked = elo.sort_values("rating", ascending=False)
    groups = [rows for rows in (ranked[ranked["learns"]], ranked[~ranked["learns"]]) if len(rows)]
    longest = max(len(found.label(name)) for name in ranked["variant"])
    width = style.SINGLE if longest <= LONG else style.DOUBLE
    with style.figure(width, ROW * len(elo) + 0.55 * len(groups) + 0.65, rows=len(groups)) as (drawn, panels):
        grid = panels[0].get_gridspec()
        assert grid is not None
        grid.set_height_ratios([len(rows) + 1 for rows in groups])
        for axes, rows in zip(panels, groups, strict=True):
            heights = [float(number) for number in range(len(rows))]
            for name, height in zip(rows["variant"], heights, strict=True):
                _seeds(axes, found.rated(name)["rating"].to_numpy() - zero, height)
            colours = [style.BLUE if name == found.reference else style.VERMILION for name in rows["variant"]]
            _dots(axes, heights, rows[_interval("rating")].to_numpy(), colours)
            _rows_axis(axes, heights, [found.label(name) for name in rows["variant"]])
            axes.set_ylim(len(rows) - 0.3, -0.6)
        drawn.supxlabel(f"Elo relative to {found.label(found.reference)}", fontsize=8)
        _legend(drawn, style.VERMILION)
        style.save(drawn, path, made)


def _interval(name: str) -> list[str]:
    return [name, f"{name}_low", f"{name}_high"]


def _dots(axes: Axes, heights: Sequence[float], values: np.ndarray, colours: Sequence[str]) -> None:
    """Draw estimates [rows, 3] with their bounds as dots with whiskers, beside a line at 0."""
    axes.axvline(0, color=style.GREY, linewidth=0.9, zorder=1)
    for height, (value, low, high), colour in zip(heights, values, colours, strict=True):
        axes.plot([low, high], [height, height], color=colour, marker="|", markersize=5, zorder=2.5)
        axes.plot(value, height, "o", color=colour, markersize=4, zorder=3)


def _less(found: Results, variant: str, particles: int) -> np.ndarray:
    """Return the mean share of the reference less that of each seed of a variant; nothing, if it was not measured."""
    reference, mine = found.final(found.reference, particles), found.final(variant, particles)
    return np.empty(0) if reference is None or mine is None else reference.totals.mean() - mine.totals


def _seeds(axes: Axes, values: np.ndarray, height: float) -> None:
    axes.plot(values, np.full(len(values), height + 0.3), **_SEED)


def _legend(drawn: Figure, colour: str) -> None:
    keys = [Line2D([], [], color=colour, marker="o", markersize=4), Line2D([], [], **_SEED)]
    drawn.legend(keys, [MEAN, "Each seed"], loc="outside upper center", ncols=2)


def _rows_axis(axes: Axes, heights: Sequence[float], names: Sequence[str]) -> None:
    axes.set_yticks(list(heights), list(names))
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.xaxis.set_major_locator(_ticks(5))


def _ticks(most: int) -> MaxNLocator:
    return MaxNLocator(nbins=most, steps=[1, 2, 5, 10])
