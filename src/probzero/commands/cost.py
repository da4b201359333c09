"""probzero cost: how the cores' time of a run was spent, by kind of job and without one."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero import config, files
from probzero.commands import arguments
from probzero.origin import Origin
from probzero.report.cost import cost
from probzero.report.tables import markdown, write_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", required=True, type=Path, dest="results", metavar="FOLDER", help="results/<name>")
    parser.add_argument("--wall", required=True, type=float, metavar="S", help="seconds that the run took")
    parser.add_argument("--cores", required=True, type=int, metavar="K", help="cores that it had")
    arguments.add_path(parser, "--output", "where to write the table of costs (.csv; .md goes beside it)")


def run(args: argparse.Namespace) -> None:
    table = cost(args.results, args.wall, args.cores)
    record = files.read_sealed(args.results / "config.json", config.KIND)[1]
    write_table(table, args.output, Origin(command=args.command, settings=record.settings))
    print(markdown(table))
