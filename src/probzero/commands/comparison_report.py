"""probzero comparison-report: several variants over several seeds, as tables and figures."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from probzero.commands import progress
from probzero.commands.figures import names
from probzero.report import comparison_figures as figures
from probzero.report.comparison import comparison_tables
from probzero.report.comparison_inputs import RAW, read_comparison
from probzero.report.comparison_text import write_tables

RIVAL = "alphazero"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--points", required=True, nargs="+", type=Path, metavar="CSV", help="shares and costs of each variant and seed"
    )
    parser.add_argument(
        "--ratings", required=True, nargs="+", type=Path, metavar="CSV", help="ratings of all players, for each seed"
    )
    parser.add_argument("--tables", required=True, type=Path, metavar="FOLDER", help="where to write the tables")
    parser.add_argument("--figures", required=True, type=Path, metavar="FOLDER", help="where to write the figures")
    parser.add_argument(
        "--reference", default="probzero", metavar="NAME", help="the variant that others are compared with"
    )


def run(args: argparse.Namespace) -> None:
    found = read_comparison(args.points, args.ratings, args.reference)
    tables = comparison_tables(found)
    write_tables(tables, found.reference, args.tables)
    figures.plot_truth(tables["curves"], found.reference, *names(args.figures, "comparison_truth"))
    figures.plot_variants(tables["curves"], found.reference, *names(args.figures, "comparison_variants"))
    figures.plot_ablations(tables["ablations"], found.reference, *names(args.figures, "comparison_ablations"))
    figures.plot_elo(tables["elo"], found.ratings, found.reference, *names(args.figures, "comparison_elo"))
    for line in summary(tables, found.reference):
        progress.report("comparison", line)


def summary(tables: dict[str, pd.DataFrame], reference: str) -> Iterator[str]:
    """Yield lines: last shares of the reference and its rival, then what each variant needed to reach a share."""
    final = tables["final"].set_index(["variant", "particles"])
    for particles in final.loc[[reference]].index.get_level_values("particles"):
        mine = final.loc[(reference, particles)]
        line = f"{_budget(particles)}: {reference} keeps {_percent(mine['share'])}"
        if reference != RIVAL and (RIVAL, particles) in final.index:
            other = final.loc[(RIVAL, particles)]
            line += f", {RIVAL} {_percent(other['share'])}, lead {_points(other['lead'])} points"
            if not math.isnan(other["lead_t_low"]):
                line += f" (95 %: {_points(other['lead_t_low'])} to {_points(other['lead_t_high'])})"
        yield line
    for variant, rows in tables["efficiency"].groupby("variant", sort=False):
        yield f"{variant} reaches " + ", ".join(_reached(row) for _, row in rows.iterrows())


def _reached(row: pd.Series) -> str:
    share = f"{100 * row['threshold']:.0f} %"
    if not row["seeds_reaching"]:
        return f"{share} in no seed"
    cost = f"after {row['leaf_evaluations']:,.0f} leaf evaluations, {progress.duration(row['seconds'])}"
    cost = cost if row["leaf_evaluations"] else "without learning"
    return f"{share} {cost} ({row['seeds_reaching']} of {row['seeds']} seeds)"


def _budget(particles: int) -> str:
    return "raw policy" if particles == RAW else f"{particles} particles a move"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _points(share: float) -> str:
    return f"{100 * share:+.1f}"
