"""probzero bench-growth: what a leaf costs in time and memory as games and boards grow, as a table and a figure."""

from __future__ import annotations

import argparse

import pandas as pd

from probzero import config
from probzero.benchmarks.growth import growth
from probzero.commands import arguments
from probzero.errors import bad
from probzero.origin import Origin
from probzero.report.growth import plot_growth
from probzero.report.tables import write_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", required=True, metavar="FILE", help="the configuration to start from")
    parser.add_argument("--rounds", type=int, default=3, metavar="R", help="how often each is measured (default 3)")
    arguments.add_path(parser, "--output", "where to write the table; the figure stands beside it")


def run(args: argparse.Namespace) -> None:
    if args.rounds < 1:
        raise bad("bench-growth", "--rounds", "a whole number above 0", args.rounds)
    rows = []
    for row in growth(config.load(args.config), args.rounds):
        rows.append(row)
        print(
            f"{row['board']}, {row['games']} games: {row['microseconds_per_leaf']:.1f} µs and"
            f" {row['bytes_per_leaf']:,.0f} bytes a leaf"
        )  # fmt: skip
    made, table = Origin(command=args.command), pd.DataFrame(rows)
    write_table(table, args.output, made)
    plot_growth(table, args.output.with_suffix(""), made)
