"""probzero tables: the metrics of all iterations as one table each for training and self-play."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.commands import arguments, progress
from probzero.report.tables import collect_selfplay, collect_training, write_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for kind in ("training", "selfplay"):
        parser.add_argument(
            f"--{kind}", required=True, nargs="+", type=Path, metavar="JSON", help=f"the metrics that {kind} left"
        )
        arguments.add_table(parser, f"--{kind}-table", f"a row for each iteration of {kind}")


def run(args: argparse.Namespace) -> None:
    training, selfplay = collect_training(args.training), collect_selfplay(args.selfplay)
    write_table(training, args.training_table)
    write_table(selfplay, args.selfplay_table)
    games, leaves = selfplay["games"].sum(), selfplay["leaf_evaluations"].sum()
    progress.report("tables", f"{len(training)} iterations", f"{games:,} games", f"{leaves:,} leaf evaluations")
