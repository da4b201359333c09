"""Tables and figures of strength measured against exact truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator
from scipy.stats import norm

from probzero.origin import Origin
from probzero.report import style
from probzero.report.certificates import certificate_summary, read_certificates
from probzero.report.tables import PHASES_PER_BAND
from probzero.report.tournament import wilson
from probzero.report.truth_inputs import CALIBRATION, KEPT, PERFECT, collect, collect_blunders

CEILING = "ceiling"
ALL = "all"
THRESHOLDS = (0.95, 0.98)  # shares of exact results kept whose cost is told
ROUNDING = 1e-9  # 570 of 600 reach 0.95 however their parts are summed
NORMAL = float(norm.ppf(0.975))
HEADS = (("value", style.BLUE, "o"), ("reward", style.VERMILION, "s"))
COLOURS = (style.ORANGE, style.BLUE, style.GREEN, style.PURPLE, style.VERMILION)


def truth_tables(
    files: Mapping[str, Sequence[Path]], selfplay: pd.DataFrame, by_phase: bool = False, **wanted: Any
) -> dict[str, pd.DataFrame]:
    """Return all tables by name, from the files of every network (kept, calibration, perfect), blunders, certificates.

    There are none of those for a game that chance sets up. `by_phase` asks for the wins that were delivered, phase by
    phase: in a game with tables the phases are these."""
    kept, calibration = (
        collect(files[kind], columns, kind, **wanted)
        for kind, columns in (("kept", KEPT), ("calibration", CALIBRATION))
    )
    columns = {**PERFECT, "phase": int} if by_phase else PERFECT
    perfect = collect(files["perfect"], columns, "perfect", may_be_empty=True, **wanted)  # no opening may be won
    certified = files["certificates"]
    summary = kept_summary(kept, selfplay, [])
    learned = summary[(summary["source"] == ALL) & (summary["player"] != CEILING)]
    return {
        "truth": summary,
        "efficiency": efficiency(learned),
        "errors": kept_summary(kept, selfplay, ["phase"]),
        "calibration": calibration_summary(calibration),
        "reliability": reliability(calibration, f"iteration-{kept['iteration'].max():04}"),
        "perfect": perfect_summary(perfect),
        "blunders": collect_blunders(files["blunders"], **wanted),
        **({"certificates": certificate_summary(read_certificates(certified, **wanted))} if certified else {}),
        **({"delivered": delivered(perfect)} if by_phase else {}),
    }


def kept_summary(kept: pd.DataFrame, selfplay: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return shares of decisive positions whose exact result the move kept, with Wilson's 95 % intervals.

    One row per player, source (`all` joins them), particles a move and what else `by` names; `leaf_evaluations` counts
    those of all self-play before the checkpoint.
    """
    both = pd.concat([kept, kept.assign(source=ALL)])
    groups = ["player", "iteration", "source", "particles", *by]
    table = both.groupby(groups, dropna=False, sort=False)[["positions", "kept"]].sum().reset_index()
    table["kept_share"] = table["kept"] / table["positions"]
    table["share_low"], table["share_high"] = wilson(table["kept_share"], table["positions"], NORMAL)
    spent = selfplay.set_index("iteration")["leaf_evaluations"].cumsum()
    table["leaf_evaluations"] = table["iteration"].map({0: 0, **spent.to_dict()}).astype("Int64")
    return table.sort_values(["particles", "source", "iteration", *by], na_position="last", ignore_index=True)


def efficiency(truth: pd.DataFrame) -> pd.DataFrame:
    """Return the first measured checkpoint of a run that reaches each threshold, by particles a move.

    `truth` has one row for each iteration and budget (`kept_share`, `leaf_evaluations`). Where no checkpoint reaches a
    threshold, what it costs is empty.
    """
    rows = []
    for particles, measured in truth.groupby("particles"):
        for threshold in THRESHOLDS:
            reaching = measured[measured["kept_share"] >= threshold - ROUNDING].sort_values("iteration")
            row = {"threshold": threshold, "particles": particles, "iteration": None, "leaf_evaluations": None}
            if len(reaching):
                first = reaching.iloc[0]
                row |= {"iteration": first["iteration"], "leaf_evaluations": first["leaf_evaluations"]}
            rows.append(row)
    return pd.DataFrame(rows).astype({name: "Int64" for name in ("iteration", "leaf_evaluations")})


def calibration_summary(calibration: pd.DataFrame) -> pd.DataFrame:
    """Return Brier score and log loss of each player's value and reward head, over all sources."""
    groups = calibration.groupby(["player", "iteration", "head"], dropna=False, sort=False)
    sums = groups[["predictions", "brier", "log_loss"]].sum().reset_index().rename(columns={"predictions": "positions"})
    positions = sums["positions"] / 3  # each position is a prediction of win, of draw and of loss
    means = {name: sums[name] / positions for name in ("brier", "log_loss")}
    return sums.assign(positions=positions.round().astype(int), **means)


def reliability(calibration: pd.DataFrame, player: str) -> pd.DataFrame:
    """Return mean prediction and observed frequency by head and bin, over sources and outcomes."""
    rows = calibration[calibration["player"] == player].copy()
    for column in ("mean_prediction", "frequency"):
        rows[column] *= rows["predictions"]
    table = rows.groupby(["head", "bin"])[["predictions", "mean_prediction", "frequency"]].sum().reset_index()
    for column in ("mean_prediction", "frequency"):
        table[column] /= table["predictions"]
    table["share_low"], table["share_high"] = wilson(table["frequency"], table["predictions"], NORMAL)
    return table.assign(player=player)


def perfect_summary(games: pd.DataFrame) -> pd.DataFrame:
    """Return how many won positions each player won against the perfect player, from the start and from openings."""
    begins = np.where(games["opening"] < 0, "start", "openings")
    return _won(games.assign(begins=begins), ["player", "iteration", "begins"])


def delivered(games: pd.DataFrame) -> pd.DataFrame:
    """Return the same from openings alone, by the phase in which the games began."""
    return _won(games[games["opening"] >= 0], ["player", "iteration", "phase"])


def _won(games: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return games, won and drawn ones by these columns, and the share of won ones with Wilson's 95 % interval."""
    table = games.assign(won=games["result"] > 0, drawn=games["result"] == 0)
    groups = table.groupby(by, dropna=False, sort=False)
    summary = groups.agg(games=("won", "size"), won=("won", "sum"), drawn=("drawn", "sum")).reset_index()
    summary["won_share"] = summary["won"] / summary["games"]
    summary["share_low"], summary["share_high"] = wilson(summary["won_share"], summary["games"], NORMAL)
    return summary


def plot_truth(truth: pd.DataFrame, path: Path, made: Origin) -> None:
    """Share of kept results by iteration and by leaf evaluations, raw and searched; the ceiling is dotted."""
    table = truth[truth["source"] == ALL]
    checkpoints, ceiling = table[table["iteration"].notna()], table[table["player"] == CEILING]
    with style.figure(style.DOUBLE, 2.9, columns=2) as (drawn, panels):
        for axes, column in zip(panels, ("iteration", "leaf_evaluations"), strict=True):
            for (particles, rows), colour in zip(checkpoints.groupby("particles"), COLOURS, strict=False):
                x = rows[column].astype(float) / (1 if column == "iteration" else 1e6)
                name = "Raw policy" if particles == 0 else f"{particles} particles a move"
                low, high = 100 * rows["share_low"], 100 * rows["share_high"]
                axes.fill_between(x, low, high, color=colour, alpha=style.BAND, linewidth=0)
                axes.plot(x, 100 * rows["kept_share"], color=colour, marker="o", label=name)
                for height in 100 * ceiling.loc[ceiling["particles"] == particles, "kept_share"]:
                    axes.axhline(height, color=colour, linestyle=":", linewidth=1)
            axes.set_ylabel("Exact result kept (%)")
        style.iterations_axis(panels[0])
        panels[1].set_xlabel("Leaf evaluations in self-play (millions)")
        panels[1].plot([], [], color=style.GREY, linestyle=":", linewidth=1, label="Trained on exact labels")
        handles, labels = panels[1].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside upper center", ncols=3)
        panels[1].xaxis.set_major_locator(MaxNLocator(nbins=6))
        style.save(drawn, path, made)


def plot_errors(errors: pd.DataFrame, path: Path, made: Origin, phase: str = "Phase") -> None:
    """Share of lost results by phase, in bands, for the last checkpoint, raw and searched, and the raw ceiling."""
    table = errors[errors["source"] == ALL]
    last = table[table["iteration"] == table["iteration"].max()]
    ceiling = table[(table["player"] == CEILING) & (table["particles"] == 0)]
    with style.figure(style.SINGLE, 2.9) as (drawn, (axes,)):
        for (particles, rows), colour in zip(last.groupby("particles"), COLOURS, strict=False):
            band = _lost_by_band(rows, _phases_per_band(table))
            name = "Raw policy" if particles == 0 else f"{particles} particles"
            axes.fill_between(band["phase"], band["low"], band["high"], color=colour, alpha=style.BAND, linewidth=0)
            axes.plot(band["phase"], band["lost"], color=colour, marker="o", label=name, clip_on=False)
        band = _lost_by_band(ceiling, _phases_per_band(table))
        axes.plot(band["phase"], band["lost"], color=style.GREY, linestyle=":", label="Exact labels, raw")
        width = _phases_per_band(table)
        axes.set_xlabel(phase if width == 1 else f"{phase} (middle of bands of {width})")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylabel("Exact result lost (%)")
        axes.set_ylim(bottom=0)
        style.legend_above(axes, 2)
        style.save(drawn, path, made)


def _phases_per_band(rows: pd.DataFrame) -> int:
    return 1 if rows["phase"].nunique() <= PHASES_PER_BAND else PHASES_PER_BAND


def _lost_by_band(rows: pd.DataFrame, width: int) -> pd.DataFrame:
    """Return the percentage of lost results and its 95 % interval for bands of so many phases."""
    band = rows["phase"] // width * width
    sums = rows.groupby(band)[["positions", "kept"]].sum()
    lost = 1 - sums["kept"] / sums["positions"]
    low, high = wilson(lost, sums["positions"], NORMAL)
    middle = sums.index.to_numpy() + (width - 1) / 2
    return (100 * pd.DataFrame({"lost": lost, "low": low, "high": high})).assign(phase=middle)


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
