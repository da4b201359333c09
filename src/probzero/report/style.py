"""The look shared by all figures, and the one way to save them.

Widths are those of a two-column page, so that a figure is printed at the size it was drawn: no text under 8 pt.
Colours are those of Okabe and Ito, told apart by colour-blind readers; markers differ too, for print without colour.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from probzero import files
from probzero.origin import Origin

FIGURE = "figure"  # the kind of a file
SINGLE, DOUBLE = 3.4, 7.0  # inches: one column, two columns
DPI = 200

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
GREY = "#767676"
BAND = 0.22  # opacity of a band of uncertainty
LOOKS = ((ORANGE, "o"), (BLUE, "s"), (GREEN, "^"), (PURPLE, "D"), (VERMILION, "v"))  # what lies in one panel

_SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that figures are the same everywhere
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.3,
    "lines.markersize": 3.5,
    "pdf.fonttype": 42,  # real text in the PDF, as publishers ask
}


@contextmanager
def figure(
    width: float, height: float, rows: int = 1, columns: int = 1, **grid: Any
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Yield a figure of `width` × `height` inches and its axes, row by row; the look holds inside the block.

    `grid` goes to `Figure.subplots`: which axes are shared, how wide columns are."""
    with matplotlib.style.context(["default", _SETTINGS]):  # "default": a user's own settings must not show
        drawn = Figure(
            figsize=(width, height), layout=ConstrainedLayoutEngine(wspace=0.06)
        )  # without pyplot: no display, no global state
        FigureCanvasAgg(drawn)
        axes = drawn.subplots(rows, columns, squeeze=False, **grid)
        yield drawn, list(axes.flat)


def save(drawn: Figure, path: Path, made: Origin) -> None:
    """Write path.png and path.pdf, each whole or not at all; the same figure gives the same bytes: no dates inside."""
    for kind, options in (
        ("png", {"dpi": DPI, "metadata": {"Software": None}}),
        ("pdf", {"metadata": {"CreationDate": None}}),
    ):
        data = io.BytesIO()
        drawn.savefig(data, format=kind, **options)
        files.write(path.with_suffix(f".{kind}"), data.getvalue(), FIGURE, made.about(path.stem))


def iterations_axis(axes: Axes) -> None:
    """Name the horizontal axis and keep its ticks whole."""
    axes.set_xlabel("Iteration")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8, steps=[1, 2, 5, 10]))


def given_away(share: Any, positions: Any) -> Any:
    """Return the percentage of exact results given away, for an axis that has no 0: at least half a position's."""
    return np.maximum(100 * (1 - np.asarray(share)), 50 / np.asarray(positions))


def errors_axis(axes: Axes, name: str = "Exact results given away (%)") -> None:
    """Make the vertical axis one of errors, in equal steps of their logarithm: 3 is as far from 1 as 30 from 10."""
    axes.set_yscale("log")
    axes.set_ylabel(name)
    log_ticks(axes.yaxis)


def log_ticks(axis: Axis, subs: tuple[float, ...] = (1, 2, 5)) -> None:
    """Write the ticks of a logarithmic axis as plain numbers."""
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def legend_above(axes: Axes, columns: int) -> None:
    """Put the legend over the axes, where it cannot hide data."""
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=columns, borderaxespad=0.2, columnspacing=1.4)
