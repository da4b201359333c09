"""probzero position-sets: the fixed sets of positions, drawn by a rule from a database."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.commands import arguments, progress
from probzero.database.form import Form
from probzero.database.layers import folder_of
from probzero.database.lookup import Database
from probzero.database.position_sets import Rule, position_sets
from probzero.tables import write_csv
from probzero.truth.positions import KIND

NEEDS = ("game",)
RULE = {
    "first": (6, "phase from which on positions are taken"),
    "whole": (9, "up to this phase all decisive positions, later ones are drawn"),
    "last": (23, "phase up to which positions are taken"),
    "validation": (1000, "positions for choosing settings; those for reporting are four times as many"),
    "drawn": (300, "positions that are drawn with best play"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    parser.add_argument("--database", type=Path, metavar="FOLDER", help="the database (default: results/database/GAME)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="processor threads")
    for name, (usual, summary) in RULE.items():
        parser.add_argument(f"--{name}", type=int, default=usual, metavar="N", help=f"{summary} (default: {usual})")
    arguments.add_path(parser, "--output", "where to write the sets", "FOLDER")


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    made = arguments.made(args, settings, NEEDS)
    database = Database(Form(game), args.database or folder_of(game))
    for name, table in position_sets(database, Rule(*(getattr(args, name) for name in RULE)), args.threads).items():
        write_csv(args.output / f"{name}.csv", table, KIND, made)
        progress.report(name, f"{len(table):,} positions", f"{(table.result > 0).sum():,} won by the player to move")
