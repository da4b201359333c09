"""probzero blunders: the exact result given away in the self-play of one iteration."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero import config, games
from probzero.commands import arguments, progress
from probzero.files import write_json
from probzero.truth.blunders import count_blunders, read_games

NEEDS = ("game", "truth")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    arguments.add_iteration(parser)
    parser.add_argument("--games", required=True, nargs="+", type=Path, metavar="CSV", help="the games of its shards")
    arguments.add_path(parser, "--output", "where to write the counts")


def run(args: argparse.Namespace) -> None:
    settings = config.load(args.config, NEEDS)
    game = games.make(settings.game.name, **settings.game.options)
    counts = count_blunders(game, read_games(args.games), settings.truth.threads)
    write_json(args.output, {"iteration": args.iteration, **counts})
    progress.report(f"blunders, iteration {args.iteration}", f"{counts['blunders_per_game']:.2f} a game of self-play")
