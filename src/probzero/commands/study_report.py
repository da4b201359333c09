"""probzero study-report: the variants of a study over its seeds, as tables and figures."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero import config, files
from probzero.commands import arguments
from probzero.origin import Origin
from probzero.report.drawing import draw_study
from probzero.report.study.inputs import read_results
from probzero.report.study.tables import study_tables
from probzero.report.tables import markdown, read_written, write_table
from probzero.study import descriptions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_path(parser, "--study", "the record of the study (config.json), which says what each variant is")
    parser.add_argument(
        "--measures", required=True, nargs="+", type=Path, metavar="CSV", help="those of each variant and seed"
    )
    parser.add_argument(
        "--costs", required=True, nargs="+", type=Path, metavar="CSV", help="those of each variant and seed"
    )
    parser.add_argument(
        "--ratings", required=True, nargs="+", type=Path, metavar="CSV", help="ratings of all players, for each seed"
    )
    parser.add_argument("--tables", required=True, type=Path, metavar="FOLDER", help="where to write the tables")
    parser.add_argument("--figures", required=True, type=Path, metavar="FOLDER", help="where to write the figures")


def run(args: argparse.Namespace) -> None:
    record = files.read_sealed(args.study, config.KIND)[1]
    made = Origin(command=args.command, settings=record.settings)
    found = read_results(args.measures, args.costs, args.ratings, descriptions(args.study))
    tables = study_tables(found)
    for name, table in tables.items():
        write_table(table, args.tables / f"{name}.csv", made)
    # What is drawn is what stands in the tables: the rounded numbers.
    ablations, elo = (read_written(args.tables / f"{name}.csv", {}, may_be_empty=True) for name in ("ablations", "elo"))
    draw_study(found, ablations, elo, args.figures, made)
    for name in ("final", "efficiency"):
        print(markdown(tables[name]))
