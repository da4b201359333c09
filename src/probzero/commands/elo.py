"""probzero elo: ratings, differences and pairings from the games of a tournament."""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from probzero.commands import arguments, progress
from probzero.report.tables import read_matches, write_table
from probzero.report.tournament import tournament_tables

NEEDS = ("experiment", "game", "arena")
TABLES = {
    "ratings": "rating of each player",
    "differences": "difference of each two players",
    "pairings": "score of each pairing",
    "model": "worth of the first move, frequency of draws",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    parser.add_argument(
        "--matches", required=True, nargs="+", type=Path, metavar="FILE", help="the games, a file for each player's row"
    )
    parser.add_argument(
        "--players", required=True, nargs="+", metavar="NAME", help="the players, in order; the first is 0 on the scale"
    )
    arguments.add_seed(parser)
    for name, summary in TABLES.items():
        arguments.add_path(parser, f"--{name}", f"where to write: {summary} (.csv; .md goes beside it)")


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    made = arguments.made(args, settings, NEEDS)
    games = read_matches(args.matches, game, seed=args.seed, settings=made.settings)
    tables = tournament_tables(games, args.players)
    tables["ratings"] = tables["ratings"].assign(seed=args.seed)
    for name, table in tables.items():
        write_table(table, getattr(args, name), made)
    say_last(tables["ratings"], games)


def say_last(ratings: pd.DataFrame, games: pd.DataFrame) -> None:
    """Say where the last checkpoint is, or the last player if there is none, beside the first player."""
    trained = ratings.dropna(subset="iteration")
    last = (trained if len(trained) else ratings).iloc[-1]
    progress.report(
        "ratings",
        f"{len(games):,} games of {len(ratings)} players",
        f"{last['player']} is at {last['rating']:+.0f} (95 %: {last['low']:+.0f} to {last['high']:+.0f})"
        f" relative to {ratings['player'].iloc[0]}",
    )
