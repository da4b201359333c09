"""The figure of a database: how many positions each phase has, who wins them, and how many moves matter."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.ticker import MaxNLocator

from probzero.origin import Origin
from probzero.report import style

OUTCOMES = (
    ("wins", "Won by the player to move", style.BLUE, "o"),
    ("losses", "Lost", style.ORANGE, "s"),
    ("draws", "Drawn", style.GREY, "^"),
)
CHOICES = (
    ("decisive", "Some move gives it away", style.VERMILION, "s"),
    ("single", "One move alone keeps it", style.PURPLE, "^"),
)


def plot_layers(layers: pd.DataFrame, path: Path, made: Origin, phase: str = "Phase") -> None:
    """Positions by phase; shares won, lost and drawn; how often a choice matters, and how often one move is right."""
    chosen = layers[layers["choices"] > 0]
    with style.figure(style.DOUBLE, 2.7, columns=3) as (drawn, (counts, outcomes, choices)):
        for rows, name, label, colour, marker in (
            (layers, "positions", "All", style.BLUE, "o"),
            (chosen, "decisive", "A move gives the result away", style.VERMILION, "s"),
        ):
            counts.plot(rows["phase"], rows[name], color=colour, marker=marker, label=label, clip_on=False)
        counts.set_yscale("log")
        counts.set_ylabel("Positions up to symmetry")
        for name, label, colour, marker in OUTCOMES:
            share = 100 * layers[name] / layers["positions"]
            outcomes.plot(layers["phase"], share, color=colour, marker=marker, label=label, clip_on=False)
        outcomes.set_ylabel("Share of positions (%)")
        for name, label, colour, marker in CHOICES:
            share = 100 * chosen[name] / chosen["choices"]
            choices.plot(chosen["phase"], share, color=colour, marker=marker, label=label, clip_on=False)
        choices.set_ylabel("Share of choices (%)")
        for axes in (counts, outcomes, choices):
            axes.set_xlabel(phase)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            style.legend_above(axes, 1)
        for axes in (outcomes, choices):
            axes.set_ylim(0, 100)
        style.save(drawn, path, made)
