"""The table of what was tried in tuning: settings, errors on the validation set, cost, and what is picked."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from probzero.errors import bad
from probzero.report.study.inputs import RAW, Results
from probzero.report.tables import read_written
from probzero.tables import refuse
from probzero.tuning import Space, drawn

COLUMNS: dict[str, type] = {
    "system": str,
    **dict.fromkeys(("draw", "picked"), int),
    **dict.fromkeys(("error", "raw_error"), float),
}


def tried_table(space: Space, found: Results) -> pd.DataFrame:
    """Return a row for every configuration that was tried.

    `error` is the share of validation positions whose result is given away with the largest budget, `raw_error` by the
    raw policy; `picked` is 1 for the one of least error of each system, of equals the one of least raw error, then the
    first drawn. Settings that a system does not have are empty.
    """
    rows = []
    for system in space.own:
        for number in range(space.draws):
            name = f"{system}-{number:02}"
            searched, raw = found.final(name, found.largest), found.final(name, RAW)
            assert searched is not None and raw is not None  # every system learns and searches
            costs = found.costs[found.costs["variant"] == name].iloc[-1]
            work = found.work[found.work["variant"] == name].iloc[-1]
            rows.append(
                {
                    "system": system,
                    "draw": number,
                    "error": 1 - searched.totals.mean(),
                    "raw_error": 1 - raw.totals.mean(),
                    "leaf_evaluations": work["leaf_evaluations"],
                    "network_evaluations": costs["network_evaluations"],
                    **{setting: str(value) for setting, value in drawn(space, system, number).items()},
                }
            )
    table = pd.DataFrame(rows)
    order = table.sort_values(["error", "raw_error", "draw"], kind="stable")
    best = order.groupby("system")["draw"].first()
    table.insert(2, "picked", (table["draw"] == table["system"].map(best)).astype(int))
    return table.fillna("")


def read_tried(path: Path, space: Space) -> pd.DataFrame:
    """Read what `tried_table` made of a space: every configuration once, one of each system picked."""
    table = read_written(path, COLUMNS)
    tried = [(system, number) for system in space.own for number in range(space.draws)]
    if list(zip(table["system"], table["draw"], strict=True)) != tried:
        raise bad("tuning", path, f"{space.draws} draws of each of {', '.join(space.own)}, in this order", "others")
    refuse(path, table, "picked", ~table["picked"].isin([0, 1]), "0 or 1", "tuning")
    for system, picked in table.groupby("system")["picked"].sum().items():
        if picked != 1:
            raise bad("tuning", f"{path}: {system}", "one draw that is picked", picked)
    return table


def picks_of(table: pd.DataFrame) -> dict[str, int]:
    """Return the picked draw of every system."""
    chosen = table[table["picked"] == 1]
    return {str(system): int(draw) for system, draw in zip(chosen["system"], chosen["draw"], strict=True)}


def rival_of(table: pd.DataFrame, reference: str) -> str:
    """Return the system of least error beside the reference, of equals that of least raw error."""
    others = table[(table["picked"] == 1) & (table["system"] != reference)]
    if others.empty:
        raise bad("tuning", "systems", f"one beside {reference}", "none")
    return str(others.sort_values(["error", "raw_error", "system"])["system"].iloc[0])
