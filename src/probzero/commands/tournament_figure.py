"""probzero tournament-figure: the ratings of a tournament of given networks as a figure."""

from __future__ import annotations

import argparse

from probzero import tournament
from probzero.commands import arguments
from probzero.errors import bad
from probzero.report.drawing import draw_tournament
from probzero.report.redraw import origin_of_table
from probzero.report.tables import read_written


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_path(parser, "--record", "the record of the tournaments (config.json), which says who plays")
    parser.add_argument("--tournament", required=True, metavar="NAME", help="one of them")
    arguments.add_path(parser, "--ratings", "the ratings of its players")
    arguments.add_path(parser, "--output", "where to draw it (.png; .pdf goes beside it)")


def run(args: argparse.Namespace) -> None:
    found = tournament.load(args.record).players
    if args.tournament not in found:
        raise bad("tournament-figure", "--tournament", f"one of {', '.join(found)}", args.tournament)
    ratings = read_written(args.ratings, {"player": str})
    made = origin_of_table(args.ratings).model_copy(update={"command": args.command})
    draw_tournament(ratings, found[args.tournament], args.output.with_suffix(""), made)
