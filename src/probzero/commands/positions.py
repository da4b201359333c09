"""probzero positions: the evaluation set, labelled by the solver."""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from probzero import config
from probzero.commands import arguments, progress
from probzero.files import write_csv
from probzero.games.othello import othello
from probzero.learning.dataset import read_samples
from probzero.random_keys import key
from probzero.truth.positions import from_boards, from_random_play, labelled

NEEDS = ("experiment", "game", "truth")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    arguments.add_seed(parser)
    summary = "samples of self-play from which no network has learned; without it, random play alone"
    parser.add_argument("--dataset", type=Path, metavar="FILE", help=summary)
    arguments.add_path(parser, "--output", "where to write the positions")


def run(args: argparse.Namespace) -> None:
    settings = config.load(args.config, NEEDS)
    rules, truth = othello(settings.game.size), settings.truth
    draws = key(settings.experiment, args.seed, "positions")
    sources = {"random": from_random_play(rules, truth.per_stratum, draws)}
    if args.dataset is not None:
        board = read_samples(args.dataset, rules.size).board
        sources["selfplay"] = from_boards(rules, board, truth.per_stratum, draws)
    table = pd.concat([labelled(rules, *boards, source, truth.threads) for source, boards in sources.items()])
    write_csv(args.output, table)
    progress.report("evaluation set", f"{len(table):,} positions", f"{table.decisive.sum():,} decisive")
