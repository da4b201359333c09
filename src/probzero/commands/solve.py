"""probzero solve: the exact value of positions and of their moves, from the database if there is one."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from probzero.commands import arguments, progress
from probzero.database.lookup import find
from probzero.errors import bad
from probzero.front_ends import positions
from probzero.front_ends.analysis import Judge
from probzero.front_ends.screens import score
from probzero.games.names import short_name

NEEDS = ("game",)
EXAMPLES = """examples:
  probzero solve "c4 d4 d3"                          the position after these moves, and each of its moves
  probzero solve ...../.xo../.ooo./...../.....       x is to move, o is not, rows from the top
  probzero solve --game othello-4 start "b1 a1"      two positions of another game
  probzero solve --json "c4 d4 d3"                   for programs, one line a position

A position is `start`, the moves that lead to it from the start (in quotes), or the game's notation."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    of = parser.add_mutually_exclusive_group()
    of.add_argument("--game", metavar="NAME", help="which game (default: that of the committed network)")
    of.add_argument("--config", metavar="FILE|JSON", help="the same from a configuration")
    summary = "look it up there alone (default: results/database/GAME if it is there, else search)"
    parser.add_argument("--database", type=Path, metavar="FOLDER", help=summary)
    parser.add_argument("--json", action="store_true", help="for programs, one line a position")
    parser.add_argument("positions", nargs="+", metavar="POSITION")


def run(args: argparse.Namespace) -> None:
    if args.config:
        _, game = arguments.load(args, NEEDS)
    else:
        from probzero.front_ends.players import game_of  # here, because a configuration needs no network

        game = game_of(args.game, [])
    states = np.stack([positions.read(game, text).state for text in args.positions])
    database = find(game, args.database)
    if args.database is not None and database is not None:
        database.require(states)
    judge = Judge(game, database)
    for text, state in zip(args.positions, states, strict=True):
        truth = judge.truth(state)
        if truth is None:
            raise bad(
                "solver", text, "a position that is solved in some seconds", f"one of {short_name(game)} that is not"
            )
        if args.json:
            print(json.dumps(asdict(truth)), flush=True)
            continue
        moves = [
            f"{move.move} {score(move.result, move.margin)}" for move in sorted(truth.moves, key=lambda m: m.action)
        ]
        progress.report(text, score(truth.result, truth.margin), ", ".join(moves) or "the game is over")
