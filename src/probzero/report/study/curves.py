"""Learning curves of a study: errors of every variant in a panel of its own, a thin line for each seed."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from probzero.origin import Origin
from probzero.report import style
from probzero.report.study import statistics
from probzero.report.study.inputs import RAW, Results, at_checkpoint
from probzero.study import ABLATION

LOOKS = ((style.ORANGE, "o"), (style.BLUE, "s"))  # the policy alone, the largest budget
THIN, THICK = 0.5, 1.4
TITLE = 27  # characters of a panel's title in a line
_REFERENCE: dict[str, Any] = {"color": style.BLACK, "linestyle": (0, (3, 2)), "linewidth": 0.8, "zorder": 2.6}
ROOM = 1.12  # what axes leave free, as a factor


class Axis(NamedTuple):
    """What curves are drawn by: the work or the costs of a study, a column of it, in units of `unit`."""

    spent: pd.DataFrame
    column: str
    unit: float
    label: str


class Curve(NamedTuple):
    """What one variant spent and gave away with one budget, at each of its checkpoints."""

    spent: np.ndarray  # [checkpoints, seeds]
    lost: np.ndarray  # [checkpoints, seeds], percent
    low: float  # the ends of the last mean's 95 % interval over seeds; NaN with one seed
    high: float


def plot_truth(found: Results, path: Path, made: Origin) -> None:
    """Curves of the systems by leaf evaluations."""
    _plot(found, _systems(found), _by_leaves(found), path, made)


def plot_variants(found: Results, path: Path, made: Origin) -> None:
    """Curves of the reference and of its ablations by leaf evaluations."""
    _plot(found, _ablated(found), _by_leaves(found), path, made)


def plot_costs(found: Results, path: Path, made: Origin) -> None:
    """Curves of the systems by time."""
    _plot(found, _systems(found), _by_time(found), path, made)


def plot_variants_costs(found: Results, path: Path, made: Origin) -> None:
    """Curves of the reference and of its ablations by time."""
    _plot(found, _ablated(found), _by_time(found), path, made)


def _systems(found: Results) -> list[str]:
    return [name for name in found.described if name not in found.having(ABLATION)]


def _ablated(found: Results) -> list[str]:
    return [found.reference, *found.having(ABLATION)]


def _by_leaves(found: Results) -> Axis:
    return Axis(found.work, "leaf_evaluations", 1e6, "Leaf evaluations in self-play (millions)")


def _by_time(found: Results) -> Axis:
    unit, seconds = ("minutes", 60.0) if found.costs["seconds"].max() < 3 * 3600 else ("hours", 3600.0)
    return Axis(found.costs, "seconds", seconds, f"Self-play and training ({unit})")


def _curve(found: Results, variant: str, particles: int, across: Axis) -> Curve:
    shares = [found.shares[variant, particles, number] for number in found.checkpoints(variant, particles)]
    spent = [
        at_checkpoint(across.spent, variant, number)[across.column].to_numpy(float) / across.unit
        for number in found.checkpoints(variant, particles)
    ]
    lost = np.array([style.given_away(part.totals, part.positions.sum()) for part in shares])
    last = statistics.mean(lost[-1]) if len(lost) else None
    return Curve(np.array(spent), lost, *((last.low, last.high) if last else statistics.UNKNOWN))


def _plot(found: Results, names: Sequence[str], across: Axis, path: Path, made: Origin) -> None:
    """Draw a panel for every variant: errors of the policy alone and with the largest budget, by what was spent.

    The mean of the reference is dashed in every panel. A variant that does not learn is a line across. The untrained
    networks lie outside: the axes begin with what was learned.
    """
    budgets = (RAW, found.largest)
    curves = {name: [_curve(found, name, budget, across) for budget in budgets] for name in names}
    columns = min(len(names), 4 if len(names) > 9 else 3)
    rows = math.ceil(len(names) / columns)
    titles = {name: textwrap.wrap(found.label(name), TITLE) for name in names}
    lines = max(map(len, titles.values()))
    alone = len(names) == 1
    size = (style.SINGLE, 2.9) if alone else (style.DOUBLE, rows * (1.25 + 0.13 * lines) + 0.75)
    with style.figure(*size, rows, columns, sharex=True, sharey=True) as (drawn, panels):
        for axes, name in zip(panels, names, strict=False):
            style.errors_axis(axes, "")
            axes.set_title("\n".join(titles[name]), fontsize=8)
            for curve, reference, look in zip(curves[name], curves[found.reference], LOOKS, strict=True):
                _draw(axes, curve, *look)
                if name != found.reference:
                    axes.plot(*_mean(reference), **_REFERENCE)
        panels[0].set_ylim(*_limits([curve for parts in curves.values() for curve in parts]))
        panels[0].set_xlim(left=0)
        panels[0].xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
        for axes in panels[len(names) - columns : len(names)]:  # with nothing below
            axes.tick_params(labelbottom=True)
        for axes in panels[len(names) :]:
            axes.remove()
        drawn.supxlabel(across.label, fontsize=8)
        drawn.supylabel("Exact results given away (%)", fontsize=8)
        drawn.legend(handles=_keys(found)[: 3 if alone else 4], loc="outside upper center", ncols=1 if alone else 3)
        style.save(drawn, path, made)


def _draw(axes: Axes, curve: Curve, colour: str, marker: str) -> None:
    """Draw each seed, their mean, and the 95 % interval of the last mean."""
    if len(curve.lost) == 1:
        for seed in curve.lost[0]:
            axes.axhline(seed, color=colour, linewidth=THIN)
        axes.axhline(curve.lost[0].mean(), color=colour, linewidth=THICK)
    elif len(curve.lost):
        axes.plot(curve.spent, curve.lost, color=colour, linewidth=THIN, alpha=0.7)
        x, mean = _mean(curve)
        axes.plot(x, mean, color=colour, marker=marker, linewidth=THICK, markevery=max(1, len(x) // 6), zorder=3)
        low = max(curve.low, mean[-1] / 100)  # a logarithmic axis has no 0
        axes.plot([x[-1], x[-1]], [low, curve.high], color=colour, marker="_", markersize=4, zorder=3)


def _mean(curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    return (curve.spent.mean(1), curve.lost.mean(1)) if len(curve.lost) else (np.empty(0), np.empty(0))


def _limits(curves: Sequence[Curve]) -> tuple[float, float]:
    """Return the least and the largest error that is to be seen: of seeds that learned, and of those that never do."""
    seen = np.concatenate([(curve.lost[1:] if len(curve.lost) > 1 else curve.lost).ravel() for curve in curves])
    return float(seen.min() / ROOM), float(seen.max() * ROOM)


def _keys(found: Results) -> list[Line2D]:
    names = ("Raw policy, mean and its last 95 %", f"{found.largest} particles a move, the same")
    return [
        *(
            Line2D([], [], color=colour, marker=marker, linewidth=THICK, label=name)
            for name, (colour, marker) in zip(names, LOOKS, strict=True)
        ),
        Line2D([], [], color=style.GREY, linewidth=THIN, label="Each seed"),
        Line2D([], [], **_REFERENCE, label=f"Mean of {found.label(found.reference)}"),
    ]
