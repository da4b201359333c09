"""probzero blunders: the exact result given away in the self-play of iterations."""

from __future__ import annotations

import argparse
from itertools import groupby
from pathlib import Path
from typing import Any

from probzero.commands import arguments, progress
from probzero.database.lookup import find
from probzero.errors import bad
from probzero.files import write_json
from probzero.truth.blunders import BLUNDERS, count_blunders, read_games

NEEDS = ("game", "selfplay", "truth")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    arguments.add_seed(parser)
    summary = "the games; files of one folder are the shards of the iteration whose number is its name"
    parser.add_argument("--games", required=True, nargs="+", type=Path, metavar="CSV", help=summary)
    parser.add_argument("--output", required=True, type=Path, metavar="FOLDER", help="where to write the counts")


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    made = arguments.made(args, settings, NEEDS)
    for folder, shards in groupby(args.games, lambda path: path.parent):
        if not folder.name.isdecimal():
            raise bad("blunders", folder, "a folder named by its iteration", folder.name)
        iteration = int(folder.name)
        wanted: dict[str, Any] = {"seed": args.seed, "iteration": iteration, "settings": made.settings}
        games = read_games(shards, game, settings.selfplay.games, **wanted)
        counts = count_blunders(game, games, settings.truth.threads, find(game))
        counted = {"iteration": iteration, **counts}
        write_json(args.output / f"{folder.name}.json", counted, BLUNDERS, made.at(iteration))
        progress.report(f"blunders, iteration {iteration}", f"{counts['blunders_per_game']:.2f} a game of self-play")
