"""probzero endings: the share of moves that keep the exact result near the end, where a game can be solved."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.commands import progress
from probzero.errors import bad
from probzero.front_ends.players import THINKERS_HELP, game_of, taken_apart, thinker_of
from probzero.origin import Origin
from probzero.tables import TABLE, write_csv
from probzero.truth.endings import endings, kept, solved_from

EXAMPLES = """examples:
  probzero endings results/run:0 results/run:96 uct:1000    three players in positions of random games
  probzero endings results/run:384 --from 48 --each 100"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("players", nargs="+", metavar="PLAYER", help=f"who thinks: {THINKERS_HELP}")
    parser.add_argument("--game", metavar="NAME", help="which game (default: that of the players)")
    summary = "phase of the earliest positions (default: from where they are solved in seconds)"
    parser.add_argument("--from", dest="first", type=int, metavar="PHASE", help=summary)
    parser.add_argument("--each", type=int, default=100, metavar="N", help="most positions of a phase (default: 100)")
    parser.add_argument("--key", type=int, default=0, metavar="K", help="of the random games (default: 0)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="where to keep the table")


def run(args: argparse.Namespace) -> None:
    if args.each < 1:
        raise bad("arguments", "--each", "at least 1", args.each)
    game = game_of(args.game, args.players)
    thinkers = {text: thinker_of(taken_apart(text), game, args.key) for text in args.players}
    positions = endings(game, solved_from(game) if args.first is None else args.first, args.each, args.key)
    table = kept(game, positions, {thinker.name: thinker.choose for thinker in thinkers.values()})
    for name, rows in table.groupby("player", sort=False):
        count = f"{rows.kept.sum()} of {rows.positions.sum()} decisive positions"
        phases = f"{game.entry.phase.lower()}: {rows.phase.min()} to {rows.phase.max()}"
        progress.report(str(name), progress.percent(rows.kept.sum(), rows.positions.sum()), count, phases)
    if args.output is not None:
        write_csv(args.output, table, TABLE, Origin(command=args.command, seed=args.key))
