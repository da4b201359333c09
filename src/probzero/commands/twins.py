"""probzero twins: runs of the same seeds, made as on other processors, and how far they lie apart beside the seeds.

`check` takes the table into account for the reference that the table is named after.
"""

from __future__ import annotations

import argparse

from probzero.commands import arguments, progress
from probzero.errors import bad
from probzero.origin import Origin
from probzero.report import spread
from probzero.report.check import quantities, settings_of
from probzero.report.tables import write_table
from probzero.tables import TABLE, write_csv

EXAMPLES = """examples:
  probzero twins --output results/twins/othello4.csv \\
      --runs avx2=results/othello4-avx2 default=results/othello4-default"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    summary = "runs with the same settings, and the processor that each took for its own"
    parser.add_argument("--runs", required=True, nargs="+", type=arguments.player, metavar="NAME=FOLDER", help=summary)
    arguments.add_path(parser, "--output", "where to write their quantities (.csv); NAME-spread.csv goes beside it")


def run(args: argparse.Namespace) -> None:
    for name, folder in args.runs:
        if folder is None:
            raise bad("twins", f"--runs {name}", "NAME=FOLDER", "no folder")
    first = args.runs[0][1]
    settings = settings_of(first)
    rows = []
    for name, folder in args.runs:
        if settings_of(folder) != settings:
            raise bad("twins", folder, f"a run with the settings of {first}", "one with others")
        for tables in sorted(folder.glob("seed[0-9]*/tables")):
            found = {label: told for label, told in quantities(tables).items() if told.judged and not told.exact}
            seed = int(tables.parent.name.removeprefix("seed"))
            rows.append((name, seed, {label: told.value for label, told in found.items()}))
    made = Origin(command=args.command, settings=settings)
    write_csv(args.output, spread.twins_table(rows), TABLE, made.about(args.output.stem), "%.6g")
    table = spread.spread_table(spread.read_draws(args.output))
    write_table(table, args.output.with_name(f"{args.output.stem}-spread.csv"), made)
    progress.report("twins", f"{len(rows)} runs", f"at most {table['ratio'].max():.1f} times as far apart as seeds")
