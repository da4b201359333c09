"""probzero match: two players against each other, from paired openings."""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from probzero.arena.names import MATCHES
from probzero.commands import progress
from probzero.database.lookup import find
from probzero.errors import bad
from probzero.front_ends import matches
from probzero.front_ends.players import HUMAN, PLAYERS_HELP, contestant, game_of
from probzero.games.base import Game
from probzero.games.records import check_results
from probzero.origin import Origin
from probzero.report.tables import MATCHES as COLUMNS
from probzero.report.tournament import pairings_table
from probzero.tables import read_table, write_csv

EXAMPLES = """examples:
  probzero match network:96 uct:1000                     20 games from 10 random openings, each with sides swapped
  probzero match network:384 perfect --games 100
  probzero match results/laptop results/laptop-seed1     the newest networks of two runs
  probzero match results/go5 "gtp:gnugo --mode gtp --capture-all-dead"    a program that speaks the Go Text Protocol
  probzero match network:0 network:96 --output mine.csv
  probzero match --read mine.csv                         check a record, and say the score again

The interval treats each opening as one observation, as that of a tournament does. Equal players, openings and keys give
equal games."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("players", nargs="*", metavar="PLAYER", help=f"two of: {PLAYERS_HELP}")
    parser.add_argument("--games", type=int, default=20, metavar="N", help="an even number (default: 20)")
    summary = f"random plies of an opening (default: {matches.OPENING_PLIES})"
    parser.add_argument("--plies", type=int, default=matches.OPENING_PLIES, metavar="N", help=summary)
    parser.add_argument("--game", metavar="NAME", help="which game (default: that of the players)")
    parser.add_argument("--key", type=int, default=0, metavar="K", help="of openings and random draws (default: 0)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="where to keep them (default: matches/A-B.csv)")
    parser.add_argument("--read", type=Path, metavar="FILE", help="do not play: read this record")


def run(args: argparse.Namespace) -> None:
    if args.read is not None:
        if args.players:
            raise bad("players", " ".join(args.players), "none beside --read", len(args.players))
        _say(read(args.read, game_of(args.game, [])), args.read)
        return
    if len(args.players) != 2 or HUMAN in args.players:
        raise bad("players", " ".join(args.players) or "match", "two that are no people", "others")
    if args.games < 2 or args.games % 2 or args.plies < 0:
        raise bad(
            "arguments", "--games, --plies", "an even number from 2, and one from 0", f"{args.games}, {args.plies}"
        )
    game = game_of(args.game, args.players)
    lookup = find(game)
    one, other = (contestant(text, game, key=args.key, lookup=lookup) for text in args.players)
    if matches.in_record(one.name) == matches.in_record(other.name):
        raise bad("players", one.name, "two different ones", "the same twice")
    output = args.output or Path("matches", f"{matches.in_record(one.name)}-{matches.in_record(other.name)}.csv")
    with progress.bar("games over", args.games) as tell:
        played = matches.play(one, other, args.games // 2, args.plies, args.key, tell)
        tell(args.games)
    write_csv(output, played, MATCHES, Origin(command=args.command, seed=args.key))
    _say(played, output)


def read(path: Path, game: Game) -> pd.DataFrame:
    """Return the games of a record, replayed."""
    played = read_table(path, {**COLUMNS, **({"margin": int} if game.has_margin else {})}, MATCHES)
    check_results(game, played, path)
    names = set(played["first"]) | set(played["second"])
    if len(names) != 2 or (played["first"] == played["second"]).any():
        raise bad(MATCHES, path, "games of two players", ", ".join(sorted(names)))
    return played


def _say(played: pd.DataFrame, path: Path) -> None:
    one, other = played["first"].iloc[0], played["second"].iloc[0]
    if len(played["opening_moves"].iloc[0].split()) % 2:  # the player named first goes on from the first opening
        one, other = other, one
    found = pairings_table(played, [other, one]).iloc[0]
    points = found.wins + found.draws / 2
    progress.report(f"{one} – {other}", f"{points:g} of {found.games} points", f"{100 * found.score:.0f} %",
                    f"95 % interval {100 * found.score_low:.0f} to {100 * found.score_high:.0f} %")  # fmt: skip
    progress.report(
        f"{found.wins} won, {found.draws} drawn, {found.losses} lost",
        f"{found.distinct_games} different games",
        f"record: {path}",
    )
