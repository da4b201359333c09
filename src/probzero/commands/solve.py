"""probzero solve: the exact value of positions and of their moves, from the database if there is one."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from probzero.commands import arguments, progress
from probzero.database.lookup import find
from probzero.truth.labels import ILLEGAL, Solver, check_solvable

NEEDS = ("game",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    summary = "look it up there alone (default: results/database/GAME if it is there, else search)"
    parser.add_argument("--database", type=Path, metavar="FOLDER", help=summary)
    parser.add_argument("positions", nargs="+", metavar="POSITION", help="rows from the top, /; x moves, o does not")


def run(args: argparse.Namespace) -> None:
    _, game = arguments.load(args, NEEDS)
    check_solvable(game)
    states = np.stack([game.from_text(text) for text in args.positions])
    database = find(game, args.database)
    if args.database is not None and database is not None:
        game.check_states(states)
        database.require(states)
    labels = Solver(game, threads=1, lookup=database).label(states, margins=game.has_margin)
    value, moves = labels.result, labels.action_result
    if labels.margin is not None and labels.action_margin is not None:
        value, moves = labels.margin, labels.action_margin
    for text, best, row in zip(args.positions, value, moves, strict=True):
        named = [f"{game.move_name(int(move))} {row[move]:+d}" for move in np.flatnonzero(row != ILLEGAL)]
        progress.report(text, f"{best:+d}", ", ".join(named) or "the game is over")
