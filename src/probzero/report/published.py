"""A run's networks beside the published ones: what opponents can do to them, by games of self-play."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes

from probzero.origin import Origin
from probzero.report import style

OURS, PUBLISHED = "probzero", "published"
# Drawn in this order, the later ones smaller, so that equal values show both: name, colour, marker and its size.
LOOKS = {
    PUBLISHED: ("Published networks", style.VERMILION, "s", 6.0),
    OURS: ("ProbZero", style.BLUE, "o", 3.5),
}


def plot_published(table: pd.DataFrame, path: Path, made: Origin) -> None:
    """Score against the best response and share of decisive positions kept, by games; a line for each seed.

    Columns as rows: raw and the smallest budget with search. Filled markers are certified agents."""
    budgets = sorted(table["particles"].unique())[:2]
    score = "margin" if "margin" in table else "result"
    with style.figure(style.DOUBLE, 4.6, rows=2, columns=len(budgets)) as (drawn, panels):
        for column, particles in enumerate(budgets):
            rows = table[table["particles"] == particles]
            upper, lower = panels[column], panels[len(budgets) + column]
            upper.set_title("Raw policy" if particles == 0 else f"{particles} particles a move")
            upper.axhline(0, color=style.GREY, linewidth=0.7)
            _lines(upper, rows, rows[score])
            _lines(lower, rows, 100 * rows["kept_share"])
            lower.set_xlabel("Games of self-play")
            lower.set_ylim(100 * table["kept_share"].min() - 3, 102)
            upper.set_ylim(table[score].min() - 1, table[score].max() + 1)
        panels[0].set_ylabel(
            "Margin against the best response" if score == "margin" else "Result against the best response"
        )
        panels[len(budgets)].set_ylabel("Exact result kept (%)")
        for name, colour, marker, size in LOOKS.values():
            for held, face in (("certified", colour), ("beaten", "white")):
                panels[0].plot(
                    [], [], color=colour, marker=marker, markersize=size, markerfacecolor=face, label=f"{name}, {held}"
                )
        handles, labels = panels[0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside upper center", ncols=2)
        style.save(drawn, path, made)


def _lines(axes: Axes, rows: pd.DataFrame, values: pd.Series) -> None:
    """Draw a thin line for each seed, and marks that are filled where the agent is certified."""
    lines = (
        (look, part) for system, look in LOOKS.items() for _, part in rows[rows["system"] == system].groupby("seed")
    )
    for (_, colour, marker, size), part in lines:
        heights = values[part.index]
        axes.plot(part["games"], heights, color=colour, linewidth=0.8, alpha=0.6)
        for held, face in ((1, colour), (0, "white")):
            chosen = part["certified"] == held
            axes.plot(
                part.loc[chosen, "games"], heights[chosen], color=colour, marker=marker, markersize=size,
                markerfacecolor=face, linestyle="none",
            )  # fmt: skip
