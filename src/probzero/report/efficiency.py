"""What it costs to reach a strength: leaf evaluations and time until a share of exact results is kept."""

from __future__ import annotations

import pandas as pd

THRESHOLDS = (0.95, 0.98)
ROUNDING = 1e-9  # 570 of 600 reach 0.95 however their parts are summed


def efficiency(truth: pd.DataFrame, selfplay: pd.DataFrame, training: pd.DataFrame) -> pd.DataFrame:
    """Return the first measured checkpoint of a run that reaches each threshold, by particles a move.

    `truth` has one row for each iteration and budget (`kept_share`, `leaf_evaluations`). `seconds` are those of all
    self-play and training before the checkpoint, one after another. Where no checkpoint reaches a threshold, what it
    costs is empty.
    """
    spent = selfplay.set_index("iteration")["seconds"].cumsum() + training.set_index("iteration")["seconds"].cumsum()
    seconds = {0: 0.0, **spent.to_dict()}
    rows = []
    for particles, measured in truth.groupby("particles"):
        for threshold in THRESHOLDS:
            reaching = measured[measured["kept_share"] >= threshold - ROUNDING].sort_values("iteration")
            row = {"threshold": threshold, "particles": particles, "iteration": None, "leaf_evaluations": None}
            if len(reaching):
                first = reaching.iloc[0]
                row |= {"iteration": first["iteration"], "leaf_evaluations": first["leaf_evaluations"]}
            rows.append({**row, "seconds": seconds.get(row["iteration"])})
    whole = {name: "Int64" for name in ("iteration", "leaf_evaluations")}
    return pd.DataFrame(rows).astype({**whole, "seconds": "float64"})
