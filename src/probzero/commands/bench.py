"""probzero bench: the speed of self-play beside the raw speed of its network, all in one run."""

from __future__ import annotations

import argparse

import pandas as pd

from probzero import config
from probzero.benchmarks.selfplay import measure
from probzero.commands import arguments
from probzero.report.tables import write_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", required=True, nargs="+", metavar="FILE", help="configurations to measure, one by one"
    )
    arguments.add_table(parser, "--output", "the table of speeds")


def run(args: argparse.Namespace) -> None:
    settings = [config.load(source) for source in args.config]
    rows = []
    for setting in settings:
        rows.append(measure(setting))
        for name, value in rows[-1].items():
            print(f"{name:>28}  {value:,.3f}" if isinstance(value, float) else f"{name:>28}  {value}")
        print(flush=True)
    write_table(pd.DataFrame(rows), args.output, args.output.with_suffix(".md"))
