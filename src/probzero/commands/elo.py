"""probzero elo: ratings, differences and pairings from the games of a tournament."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.arena import elo
from probzero.commands import arguments, progress
from probzero.report.tables import read_matches, write_table
from probzero.report.tournament import differences_table, model_table, pairings_table, ratings_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--matches", required=True, nargs="+", type=Path, metavar="FILE", help="the games, a file for each player's row"
    )
    parser.add_argument(
        "--players", required=True, nargs="+", metavar="NAME", help="the players, in order; the first is 0 on the scale"
    )
    parser.add_argument("--seed", type=int, metavar="S", help="note the run's seed in the ratings")
    arguments.add_table(parser, "--ratings", "rating of each player")
    arguments.add_table(parser, "--differences", "difference of each two players")
    arguments.add_table(parser, "--pairings", "score of each pairing")
    arguments.add_table(parser, "--model", "worth of the first move, frequency of draws")


def run(args: argparse.Namespace) -> None:
    games = read_matches(args.matches)
    ratings = elo.fit(games, args.players, anchor=args.players[0])
    table = ratings_table(ratings)
    tables = {
        args.ratings: table if args.seed is None else table.assign(seed=args.seed),
        args.differences: differences_table(ratings),
        args.pairings: pairings_table(games, args.players),
        args.model: model_table(ratings),
    }
    for path, found in tables.items():
        write_table(found, path)
    trained = table.dropna(subset="iteration")
    last = (trained if len(trained) else table).iloc[-1]
    progress.report(
        "ratings",
        f"{len(games):,} games of {len(args.players)} players",
        f"{last['player']} is at {last['rating']:+.0f} (95 %: {last['low']:+.0f} to {last['high']:+.0f})"
        f" relative to {ratings.anchor}",
    )
