"""The figure of the verdicts: ratios of errors with their intervals, beside the band that says "as good"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from probzero.origin import Origin
from probzero.report import style
from probzero.report.evidence.contrasts import EQUIVALENT, LEVEL, PRIMARY
from probzero.report.evidence.verdicts import FAILS, HOLDS, OPEN

RATIOS = ("1", "2", "3", "7")  # the claims that are told from ratios of errors
LOOKS = {HOLDS: (style.BLUE, "o"), FAILS: (style.VERMILION, "s"), OPEN: (style.GREY, "D"), "": (style.BLACK, "o")}
CONFIDENCE = f"{100 * (1 - LEVEL / PRIMARY):g} %"
ROW = 0.19  # inches of height of a row of text
FARTHEST = 10.0  # an interval that reaches farther ends in an arrow


def of_errors(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are ratios of errors, by claim, those with a verdict first."""
    rows = verdicts[verdicts["claim"].astype(str).isin(RATIOS) & verdicts["estimate"].notna()]
    second = rows["verdict"].fillna("") == ""
    return rows.assign(verdict=rows["verdict"].fillna(""), claim=rows["claim"].astype(str), second=second).sort_values(
        ["claim", "second"], kind="stable", ignore_index=True
    )


def plot_verdicts(verdicts: pd.DataFrame, path: Path, made: Origin) -> None:
    """Draw a row for every ratio of errors, below the heading of its claim; verdicts are those of the primary ones.

    Left of 1 is less error with the idea than without. An interval within the band says that it makes no difference."""
    rows = of_errors(verdicts)
    claim = (rows["claim"] != rows["claim"].shift()).cumsum().to_numpy(int)
    heights = np.arange(len(rows)) + 1.3 * claim  # a heading before each claim
    headings = {f"Claim {name}:": heights[rows["claim"] == name][0] - 1.05 for name in rows["claim"].unique()}
    bottom = float(heights[-1]) + 0.8
    with style.figure(style.DOUBLE, ROW * bottom + 1.0) as (drawn, (axes,)):
        axes.axvspan(*EQUIVALENT, color=style.GREEN, alpha=0.15, linewidth=0)
        axes.axvline(1, color=style.GREY, linewidth=0.9)
        axes.set_xscale("log")
        style.log_ticks(axes.xaxis, (1, 1.25, 1.5, 2, 3, 4, 5, 6, 8))
        axes.set_xlim(*_limits(rows))
        for height, row in zip(heights, rows.to_dict("records"), strict=True):
            _draw(axes, float(height), row)
        right = axes.secondary_yaxis("right")
        for side, texts in ((axes, [*_names(rows), *headings]), (right, [*_said(rows), *[""] * len(headings)])):
            side.set_yticks([*heights, *headings.values()], texts)
            side.tick_params(axis="y", length=0)
            for label, verdict in zip(side.get_yticklabels(), rows["verdict"], strict=False):
                label.set_fontweight("bold" if verdict else "normal")
        right.spines["right"].set_visible(False)
        axes.set_ylim(bottom, -0.2)
        axes.grid(False, axis="y")
        axes.set_xlabel("Ratio of errors: below 1, the first of the two gives fewer results away")
        above: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1), "ncols": 5, "columnspacing": 1.2}
        axes.legend(handles=_keys(), title=f"Whiskers: {CONFIDENCE}", **above)
        style.save(drawn, path, made)


def _limits(rows: pd.DataFrame) -> tuple[float, float]:
    low, high = min(rows["low"].min(), EQUIVALENT[0]), max(rows["high"].max(), EQUIVALENT[1])
    return max(low / 1.08, 1 / FARTHEST), min(high * 1.08, FARTHEST)


def _draw(axes: Axes, height: float, row: dict[Any, Any]) -> None:
    """Draw an estimate with its interval; where that goes on outside, an arrow says so."""
    colour, marker = LOOKS[row["verdict"]]
    left, right = axes.get_xlim()
    low, high = max(row["low"], left), min(row["high"], right)
    axes.plot([low, high], [height, height], color=colour, linewidth=1.3 if row["verdict"] else 0.8)
    for end, whole, arrow in ((low, row["low"], "<"), (high, row["high"], ">")):
        axes.plot(end, height, "|" if end == whole else arrow, color=colour, markersize=5, clip_on=False)
    face = colour if row["verdict"] else "white"
    if left <= row["estimate"] <= right:
        axes.plot(row["estimate"], height, marker, color=colour, markerfacecolor=face, markersize=4.5, zorder=3)


def _names(rows: pd.DataFrame) -> list[str]:
    """Return what is compared; below a primary contrast, what is added to its name."""
    primary = rows[rows["verdict"] != ""].set_index("claim")["contrast"]
    return [
        contrast.removeprefix(f"{primary.get(claim, '')}, ")
        for claim, contrast in zip(rows["claim"], rows["contrast"], strict=True)
    ]


def _said(rows: pd.DataFrame) -> list[str]:
    """Return ratios with their intervals, and verdicts."""
    return [
        f"{row['estimate']:.2f} ({row['low']:.2f}\N{EN DASH}{row['high']:.2f}) {row['verdict']}".rstrip()
        for row in rows.to_dict("records")
    ]


def _keys() -> list[Any]:
    keys: list[Any] = [
        Line2D([], [], color=colour, marker=marker, label=f"{verdict[0].upper()}{verdict[1:]}")
        for verdict, (colour, marker) in LOOKS.items()
        if verdict
    ]
    keys.append(
        Line2D([], [], color=style.BLACK, marker="o", markerfacecolor="white", linewidth=0.8, label="Not judged")
    )
    low, high = EQUIVALENT
    return [*keys, Patch(color=style.GREEN, alpha=0.15, linewidth=0, label=f"As good: {low:g} to {high:g}")]
