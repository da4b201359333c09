"""Tables of strength measured against exact truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from probzero.report.certificates import certificate_summary, read_certificates
from probzero.report.tournament import wilson
from probzero.report.truth_inputs import CALIBRATION, KEPT, PERFECT, collect, collect_blunders

CEILING = "ceiling"
ALL = "all"
THRESHOLDS = (0.95, 0.98)  # shares of exact results kept whose cost is told
ROUNDING = 1e-9  # 570 of 600 reach 0.95 however their parts are summed
NORMAL = float(norm.ppf(0.975))


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
