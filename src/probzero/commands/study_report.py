"""probzero study-report: the variants of a study over its seeds, as tables and figures."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from probzero.commands import arguments, progress
from probzero.report.study import figures
from probzero.report.study.inputs import RAW, Results, read_results
from probzero.report.study.tables import study_tables
from probzero.report.study.text import write_tables
from probzero.study import RIVAL, descriptions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_path(parser, "--study", "the record of the study (config.json), which says what each variant is")
    parser.add_argument(
        "--measures", required=True, nargs="+", type=Path, metavar="CSV", help="those of each variant and seed"
    )
    parser.add_argument(
        "--ratings", required=True, nargs="+", type=Path, metavar="CSV", help="ratings of all players, for each seed"
    )
    parser.add_argument("--tables", required=True, type=Path, metavar="FOLDER", help="where to write the tables")
    parser.add_argument("--figures", required=True, type=Path, metavar="FOLDER", help="where to write the figures")


def run(args: argparse.Namespace) -> None:
    found = read_results(args.measures, args.ratings, descriptions(args.study))
    tables = study_tables(found)
    write_tables(tables, found.reference, args.tables)
    figures.plot_truth(found, tables["curves"], args.figures / "study_truth")
    figures.plot_variants(found, tables["curves"], args.figures / "study_variants")
    figures.plot_ablations(found, tables["ablations"], args.figures / "study_ablations")
    figures.plot_elo(found, tables["elo"], args.figures / "study_elo")
    for line in summary(tables, found):
        progress.report("study", line)


def summary(tables: dict[str, pd.DataFrame], found: Results) -> Iterator[str]:
    """Yield lines: last shares of the reference and its first rival, then what each variant needed to reach a share."""
    reference, rivals = found.reference, found.having(RIVAL)[:1]
    final = tables["final"].set_index(["variant", "particles"])
    for particles in final.loc[[reference]].index.get_level_values("particles"):
        mine = final.loc[(reference, particles)]
        line = f"{_budget(particles)}: {reference} keeps {_percent(mine['share'])}"
        for rival in (name for name in rivals if (name, particles) in final.index):
            other = final.loc[(rival, particles)]
            line += f", {rival} {_percent(other['share'])}, lead {_points(other['lead'])} points"
            if not math.isnan(other["lead_low"]):
                line += f" (95 %: {_points(other['lead_low'])} to {_points(other['lead_high'])})"
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
