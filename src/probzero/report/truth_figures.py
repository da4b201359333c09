"""Figures of strength measured against exact truth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from probzero.origin import Origin
from probzero.report import style
from probzero.report.tables import PHASES_PER_BAND
from probzero.report.tournament import wilson
from probzero.report.truth import ALL, CEILING, NORMAL

HEADS = (("value", style.BLUE, "o"), ("reward", style.VERMILION, "s"))
CEILING_NAME = "Trained on exact labels"

Looks = Mapping[int, tuple[str, str]]  # colour and marker by particles a move, the same in all figures of a run


def looks_of(tables: Iterable[pd.DataFrame]) -> Looks:
    """Return how every budget in the column `particles` of these tables is drawn."""
    budgets = sorted({int(count) for table in tables for count in table["particles"]})
    return {budget: style.LOOKS[number % len(style.LOOKS)] for number, budget in enumerate(budgets)}


def plot_truth(truth: pd.DataFrame, looks: Looks, path: Path, made: Origin) -> None:
    """Errors, on a logarithmic axis, by iteration and by leaf evaluations, raw and searched; the ceiling is dotted.

    A hollow marker, drawn at half a position's share, says that no error was seen."""
    table = truth[truth["source"] == ALL]
    checkpoints, ceiling = table[table["iteration"].notna()], table[table["player"] == CEILING]
    with style.figure(style.DOUBLE, 3.2, columns=2, sharey=True) as (drawn, panels):
        for axes, column in zip(panels, ("iteration", "leaf_evaluations"), strict=True):
            style.errors_axis(axes)
            for particles, rows in checkpoints.groupby("particles"):
                look, known = looks[int(str(particles))], ceiling[ceiling["particles"] == particles]
                _errors_line(axes, rows[column].astype(float) / (1 if column == "iteration" else 1e6), rows, *look)
                for height in style.given_away(known["kept_share"], known["positions"]):
                    axes.axhline(height, color=look[0], linestyle=":", linewidth=1)
        style.iterations_axis(panels[0])
        panels[1].set_ylabel("")
        panels[1].set_xlabel("Leaf evaluations in self-play (millions)")
        panels[1].xaxis.set_major_locator(MaxNLocator(nbins=6))
        panels[1].plot([], [], color=style.GREY, linestyle=":", linewidth=1, label=CEILING_NAME)
        kept = panels[1].secondary_yaxis("right", functions=(lambda lost: lost, lambda lost: lost))
        style.log_ticks(kept.yaxis)
        kept.yaxis.set_major_formatter(FuncFormatter(lambda lost, _: f"{100 - lost:g}"))
        kept.set_ylabel("Exact results kept (%)")
        drawn.legend(*panels[1].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        style.save(drawn, path, made)


def _errors_line(axes: Axes, x: pd.Series, rows: pd.DataFrame, colour: str, marker: str) -> None:
    """Draw errors of one budget with their band of 95 %."""
    positions = rows["positions"]
    lost, low, high = (
        style.given_away(rows[name], positions) for name in ("kept_share", "share_high", "share_low")
    )  # the least share is the largest error
    axes.fill_between(x, low, high, color=colour, alpha=style.BAND, linewidth=0)
    axes.plot(x, lost, color=colour, marker=marker, label=budget_name(int(rows["particles"].iloc[0])))
    none = (rows["kept"] == positions).to_numpy()
    axes.plot(x[none], lost[none], marker, color=colour, markerfacecolor="white", zorder=3)


class Bars(NamedTuple):
    """What is drawn as bars of one kind."""

    rows: pd.DataFrame
    colour: str
    hatch: str = ""


def budget_name(particles: int) -> str:
    return f"{particles} particles a move" if particles else "Raw policy"


def plot_errors(errors: pd.DataFrame, looks: Looks, path: Path, made: Origin, phase: str = "Phase") -> None:
    """Errors of the last checkpoint by bands of phases, as bars: the policy alone beside the ceiling's; searched."""
    table = errors[errors["source"] == ALL]
    last = table[table["iteration"] == table["iteration"].max()]
    bars = {
        int(str(particles)): Bars(rows, looks[int(str(particles))][0]) for particles, rows in last.groupby("particles")
    }
    ceiling = table[(table["player"] == CEILING) & (table["particles"] == 0)]
    above = {"Raw policy": bars[0], CEILING_NAME: Bars(ceiling, "#C9C9C9", "////")}
    below = {f"{budget} particles": found for budget, found in bars.items() if budget}
    parts = [part for part in (above, below) if part]
    width = _phases_per_band(table)
    with style.figure(style.SINGLE, 0.9 + 1.25 * len(parts), rows=len(parts), sharex=True) as (drawn, panels):
        for axes, part in zip(panels, parts, strict=True):
            _draw_bars(axes, part, width)
        first, end = int(table["phase"].min()) // width, int(table["phase"].max()) // width
        names = [f"{band * width}\N{EN DASH}{band * width + width - 1}" for band in range(first, end + 1)]
        panels[-1].set_xticks(
            range(first, end + 1), names if width > 1 else [str(band) for band in range(first, end + 1)]
        )
        panels[-1].set_xlabel(phase)
        style.save(drawn, path, made)


def _draw_bars(axes: Axes, parts: Mapping[str, Bars], width: int) -> None:
    """Draw errors by band as bars side by side, with whiskers of 95 %."""
    each = 0.8 / len(parts)
    for number, (name, (rows, colour, hatch)) in enumerate(parts.items()):
        band = _lost_by_band(rows, width)
        whiskers = np.clip([band["lost"] - band["low"], band["high"] - band["lost"]], 0, None)  # rounding at 0
        place = band["band"] / width + (number - (len(parts) - 1) / 2) * each
        axes.bar(
            place, band["lost"], each, yerr=whiskers, color=colour, hatch=hatch, linewidth=0.4, label=name,
            edgecolor=style.GREY if hatch else "white",
            error_kw={"elinewidth": 0.8, "capsize": 1.2, "ecolor": "#404040"},
        )  # fmt: skip
    axes.grid(False, axis="x")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("Given away (%)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.47, 1), ncols=3, handlelength=1.2, columnspacing=1.2)


def _phases_per_band(rows: pd.DataFrame) -> int:
    return 1 if rows["phase"].nunique() <= PHASES_PER_BAND else PHASES_PER_BAND


def _lost_by_band(rows: pd.DataFrame, width: int) -> pd.DataFrame:
    """Return the percentage of lost results and its 95 % interval for bands of so many phases, named by their first."""
    sums = rows.groupby(rows["phase"] // width * width)[["positions", "kept"]].sum()
    lost = 1 - sums["kept"] / sums["positions"]
    low, high = wilson(lost, sums["positions"], NORMAL)
    return (100 * pd.DataFrame({"lost": lost, "low": low, "high": high})).assign(band=sums.index.to_numpy())


def plot_certificates(certificates: pd.DataFrame, looks: Looks, path: Path, made: Origin) -> None:
    """Holes of the agents that play from the start, by iteration; beside them the won openings that are certified.

    All are exact counts, so that there are no intervals. An agent without a hole is certified."""
    counted = certificates[certificates["draws"] == 0]
    start, won = (counted[counted["source"] == source] for source in ("start", "won"))
    columns = 1 + bool(len(won))
    with style.figure((style.SINGLE, style.DOUBLE)[columns - 1], 2.7, columns=columns) as (drawn, panels):
        axes = panels[0]
        axes.set_yscale("symlog", linthresh=1, linscale=0.8)  # which has a place for 0
        for budget in sorted(set(start["particles"])):
            rows = start[start["particles"] == budget].sort_values("iteration")
            colour, marker = looks[budget]
            axes.plot(
                rows["iteration"], rows["holes"], color=colour, marker=marker, clip_on=False, label=budget_name(budget)
            )
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value else "none:\ncertified"))
        axes.set_ylim(bottom=0)
        axes.set_ylabel("Holes from the start")
        style.iterations_axis(axes)
        style.legend_above(axes, 2)
        for right in panels[1:]:
            _certified_bars(right, won)
        style.save(drawn, path, made)


def _certified_bars(axes: Axes, won: pd.DataFrame) -> None:
    """Draw how many won openings the last checkpoint is certified from, by particles a move."""
    last = won[won["iteration"] == won["iteration"].max()].sort_values("particles")
    places = np.arange(len(last))
    axes.bar(places, last["agents"], 0.6, color="#E4E4E4", label="Won openings")
    drawn = axes.bar(places, last["certified"], 0.6, color=style.BLUE, label="Certified from")
    axes.bar_label(drawn, [str(number) for number in last["certified"]], padding=1)
    axes.set_xticks(places, ["Raw policy" if count == 0 else str(count) for count in last["particles"]])
    axes.set_xlabel(f"Particles a move, iteration {last['iteration'].max()}")
    axes.set_ylabel("Openings")
    axes.set_ylim(top=1.1 * last["agents"].max())
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(False, axis="x")
    style.legend_above(axes, 2)


def plot_reliability(table: pd.DataFrame, path: Path, made: Origin) -> None:
    """Observed frequency against predicted probability for the value and the reward head."""
    with style.figure(style.SINGLE, 3.2) as (drawn, (axes,)):
        axes.plot([0, 1], [0, 1], color=style.GREY, linestyle=":", label="Perfectly calibrated")
        for head, colour, marker in HEADS:
            rows = table[table["head"] == head]
            spread = [
                (rows["frequency"] - rows["share_low"]).clip(lower=0),  # rounding at 0 and 1
                (rows["share_high"] - rows["frequency"]).clip(lower=0),
            ]
            axes.errorbar(
                rows["mean_prediction"], rows["frequency"], spread, color=colour, marker=marker, capsize=2,
                label=f"{head.capitalize()} head, 95 %",
            )  # fmt: skip
        axes.set_xlabel("Predicted probability of win, draw or loss")
        axes.set_ylabel("Observed frequency")
        axes.set_aspect("equal")
        axes.legend(loc="upper left")
        style.save(drawn, path, made)


def plot_blunders(blunders: pd.DataFrame, path: Path, made: Origin) -> None:
    """Moves of self-play that gave the exact result away, by iteration."""
    with style.figure(style.SINGLE, 2.4) as (drawn, (axes,)):
        axes.plot(blunders["iteration"], blunders["blunders_per_game"], color=style.BLUE, marker="o", clip_on=False)
        axes.set_ylabel("Results given away per game")
        axes.set_ylim(bottom=0)
        style.iterations_axis(axes)
        style.save(drawn, path, made)
