"""probzero truth-tables: what all networks measured against exact truth, as tables."""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from probzero.commands import progress
from probzero.files import read_json
from probzero.report import truth
from probzero.report.efficiency import efficiency
from probzero.report.tables import write_table
from probzero.tables import read_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for kind in ("kept", "calibration", "perfect"):
        parser.add_argument(f"--{kind}", required=True, nargs="+", type=Path, metavar="CSV", help="of every network")
    parser.add_argument("--blunders", required=True, nargs="+", type=Path, metavar="JSON", help="of iterations")
    parser.add_argument("--selfplay-table", required=True, type=Path, metavar="CSV", help="the table of self-play")
    parser.add_argument("--training-table", required=True, type=Path, metavar="CSV", help="the table of training")
    parser.add_argument("--tables", required=True, type=Path, metavar="FOLDER", help="where to write the tables")


def run(args: argparse.Namespace) -> None:
    kept = truth.collect(args.kept, truth.KEPT)
    calibration = truth.collect(args.calibration, truth.CALIBRATION)
    perfect = truth.collect(args.perfect, {"opening": int, "result": int})
    selfplay = read_table(args.selfplay_table, {"iteration": int, "leaf_evaluations": int, "seconds": float})
    training = read_table(args.training_table, {"iteration": int, "seconds": float})
    last = f"iteration-{kept['iteration'].max():04}"
    summary = truth.kept_summary(kept, selfplay, [])
    whole = summary[summary["source"] == truth.ALL]
    learned = whole[whole["player"] != truth.CEILING]
    tables = {
        "truth": summary,
        "efficiency": efficiency(learned, selfplay, training),
        "errors": truth.kept_summary(kept, selfplay, ["phase"]),
        "calibration": truth.calibration_summary(calibration),
        "reliability": truth.reliability(calibration, last),
        "perfect": truth.perfect_summary(perfect),
        "blunders": pd.DataFrame([read_json(path) for path in args.blunders]).sort_values("iteration"),
    }
    for name, table in tables.items():
        write_table(table, args.tables / f"{name}.csv")
    final = whole[whole["player"] == last]
    shares = [
        f"{particles} particles {progress.percent(share, 1)}"
        for particles, share in zip(final["particles"], final["kept_share"], strict=True)
    ]
    reached = tables["efficiency"].dropna()
    for threshold, particles, iteration, leaves, seconds in reached.itertuples(index=False, name=None):
        progress.report(
            "truth",
            f"{100 * threshold:.0f} % with {particles} particles is reached at iteration {iteration}, after"
            f" {leaves:,} leaf evaluations, {progress.duration(seconds)} of play and training",
        )
    progress.report("truth", f"{last} keeps the exact result: " + ", ".join(shares))
