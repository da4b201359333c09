"""A study of two seeds that is small enough for paper and pencil: what was measured, what it cost, and ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import made_study as made
import pandas as pd

from probzero import files
from probzero.report.study.inputs import COSTS, MEASURED, WORK, Results, read_results
from probzero.study import descriptions
from probzero.tables import TABLE


class Inputs(NamedTuple):
    measures: pd.DataFrame
    costs: pd.DataFrame
    ratings: pd.DataFrame


def row(variant: str, seed: int, iteration: int, particles: int, phase: int, positions: int, kept: int) -> dict:
    work = dict.fromkeys(WORK, iteration * 100.0) | {"moves": iteration * 10.0}  # iteration 0 did none
    outcomes = kept * "1" + (positions - kept) * "0"
    return {"variant": variant, "seed": seed, "iteration": iteration, "particles": particles, "phase": phase,
            "positions": positions, "kept": kept, "outcomes": outcomes, **work}  # fmt: skip


def measures() -> pd.DataFrame:
    """Two seeds; 20 positions of 4 and 5 discs (one band) and 80 of 6, raw and with 10 particles."""
    kept = {  # by variant and seed, at iterations 1 and 2: kept of 4, 5 and 6 discs
        ("probzero", 0): [(8, 8, 60), (10, 9, 77)],
        ("probzero", 1): [(9, 9, 78), (10, 10, 79)],
        ("alphazero", 0): [(5, 5, 60), (8, 8, 70)],
        ("alphazero", 1): [(5, 5, 50), (8, 9, 75)],
    }
    rows = []
    for (variant, seed), counts in kept.items():
        for iteration, found in enumerate(counts, start=1):
            for phase, positions, number in zip((4, 5, 6), (10, 10, 80), found, strict=True):
                rows.append(row(variant, seed, iteration, 10, phase, positions, number))
                rows.append(row(variant, seed, iteration, 0, phase, positions, number - 5))
    for seed in (0, 1):
        rows += [row("uct", seed, 0, 10, phase, count, count // 2) for phase, count in ((4, 10), (5, 10), (6, 80))]
    return pd.DataFrame(rows)


def costs() -> pd.DataFrame:
    """Every iteration has cost 100 of each, so 200 seconds; iteration 0 nothing."""
    spent = measures()[["variant", "seed", "iteration"]].drop_duplicates(ignore_index=True)
    return spent.assign(**dict.fromkeys(COSTS, spent["iteration"] * 100.0))


def ratings() -> pd.DataFrame:
    rated = {"probzero": (100, 120), "alphazero": (60, 70), "uct": (0, 10), "perfect": (200, 190)}
    return pd.DataFrame([
        {"seed": seed, "player": name, "rating": ratings[seed], "low": 0, "high": 0, "standard_error": 5}
        for name, ratings in rated.items() for seed in (0, 1)
    ])  # fmt: skip


def inputs() -> Inputs:
    return Inputs(measures(), costs(), ratings())


def read(folder: Path, found: Inputs) -> Results:
    """Read the inputs as the files of their seeds."""
    record = made.write_record(folder / "config.json", list(made.WORTH))
    parts = [
        made.write_by_seed(folder, kind, table, kind)
        for kind, table in zip((MEASURED, files.COSTS, TABLE), found, strict=True)
    ]
    return read_results(*parts, descriptions(record))


def rows_by(table: pd.DataFrame, *columns: str) -> dict[Any, dict[Any, Any]]:
    """Return the rows of a table by the values in these columns."""
    return table.set_index(list(columns)).to_dict("index")
