"""probzero problems: how often searches with equal budgets find the one move that forces a win in so many moves."""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from probzero.arms import ARMS
from probzero.commands import arguments, progress
from probzero.errors import bad
from probzero.front_ends.players import path_of, searching_with, taken_apart
from probzero.front_ends.thinkers import Thinker
from probzero.games.base import Game
from probzero.games.names import named, short_name
from probzero.origin import Origin
from probzero.report.tables import write_table
from probzero.report.tournament import wilson
from probzero.report.truth import NORMAL
from probzero.tables import TABLE, write_csv
from probzero.truth.problems import problems

EXAMPLES = """examples:
  probzero problems results/run --output results/run/problems       wins in two and in three moves, three searches
  probzero problems results/run --of NAME --particles 100,1000      positions of another game with the same board

Problems come from random games and are solved by the rules alone; FOLDER/problems.csv has them with their keys.
Searches that learn have the same network; ucb1 has random playouts. A particle is as much as a simulation."""
SEARCHES = ("ucb1", "puct", "particle")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("network", metavar="NETWORK", help="a checkpoint, or the folder of a run")
    parser.add_argument("--of", metavar="GAME", help="whose random games give the problems (default: the network's)")
    parser.add_argument("--moves", type=arguments.numbers, default=(2, 3), metavar="N,N,…", help="(default: 2,3)")
    parser.add_argument("--each", type=int, default=50, metavar="N", help="problems of each length (default: 50)")
    summary = "budgets of the searches (default: 100,400,1600)"
    parser.add_argument("--particles", type=arguments.numbers, default=(100, 400, 1600), metavar="N,N,…", help=summary)
    summary = f"which searches (default: {' '.join(SEARCHES)})"
    parser.add_argument("--searches", nargs="+", choices=list(ARMS), default=SEARCHES, metavar="NAME", help=summary)
    parser.add_argument("--key", type=int, default=0, metavar="K", help="of the random games (default: 0)")
    arguments.add_path(parser, "--output", "where to write the problems and the table", "FOLDER")


def run(args: argparse.Namespace) -> None:
    if args.each < 1 or min(args.moves) < 1 or min(args.particles) < 1:
        raise bad("arguments", "--each, --moves, --particles", "whole numbers from 1", "others")
    spec = taken_apart(args.network)
    path = path_of(spec, None)
    if path is None:
        raise bad("network", args.network, "a checkpoint, or the folder of a run", "another player")
    thinkers = [searching_with(path, search, count) for search in args.searches for count in args.particles]
    game = thinkers[0].game
    source = game if args.of is None else named(args.of)
    found = problems(source, args.moves, args.each, args.key)
    made = Origin(command=args.command, seed=args.key)
    write_csv(args.output / "problems.csv", found.assign(game=short_name(source)), TABLE, made)
    table = measured(game, found, thinkers)
    write_table(table, args.output / "solved.csv", made)
    for row in table.itertuples():
        progress.report(
            f"{row.search}, {row.particles} particles", f"{row.solved} of {row.problems} in {row.moves} moves"
        )


def measured(game: Game, found: pd.DataFrame, thinkers: list[Thinker]) -> pd.DataFrame:
    """Count the problems whose key each thinker plays.

    Columns: moves, search, particles, problems, solved, solved_share and its 95 % interval after Wilson."""
    states = np.array([game.from_text(text) for text in found["position"]])
    key = np.array([game.parse_moves(name)[0] for name in found["key"]])
    rows = []
    for thinker in thinkers:
        right = pd.Series(thinker.choose(states) == key).groupby(found["moves"])
        for moves, part in right:
            rows.append(
                {
                    "moves": moves,
                    "search": thinker.settings.algorithm,
                    "particles": thinker.particles,
                    "problems": len(part),
                    "solved": int(part.sum()),
                }
            )
    table = pd.DataFrame(rows).sort_values(["moves", "particles"], kind="stable", ignore_index=True)
    table["solved_share"] = table["solved"] / table["problems"]
    table["share_low"], table["share_high"] = wilson(table["solved_share"], table["problems"], NORMAL)
    return table
