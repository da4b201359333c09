"""probzero positions: the evaluation set, labelled by the solver."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

from probzero.commands import arguments, progress
from probzero.database.lookup import find
from probzero.learning.dataset import read_samples
from probzero.random_keys import key
from probzero.tables import write_csv
from probzero.truth.positions import COLUMNS, KIND, from_random_play, labelled, read_positions, stratified

NEEDS = ("experiment", "game", "truth")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    arguments.add_seed(parser)
    summary = "samples of self-play from which no network has learned; without it, random play alone"
    parser.add_argument("--dataset", type=Path, metavar="FILE", help=summary)
    for name in ("iteration", "shard"):
        summary = f"{name} of the dataset; one of another is refused"
        parser.add_argument(f"--{name}", type=int, dest=f"of_{name}", metavar=name[0].upper(), help=summary)
    summary = "a fixed set, beside which random play serves calibration alone"
    parser.add_argument("--fixed", type=Path, metavar="FILE", help=summary)
    arguments.add_path(parser, "--output", "where to write the positions")


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    truth = settings.truth
    made = arguments.made(args, settings, NEEDS)
    draws = key(settings.experiment, args.seed, "positions")
    sources = {"random": from_random_play(game, truth.per_stratum, draws)}
    if args.dataset is not None:
        wanted: dict[str, Any] = {"seed": args.seed, "iteration": args.of_iteration, "shard": args.of_shard}
        states = read_samples(args.dataset, game, settings=made.settings, **wanted).states
        sources["selfplay"] = stratified(game, states, truth.per_stratum, draws)
    lookup = find(game)
    parts = [labelled(game, states, source, truth.threads, lookup) for source, states in sources.items()]
    if args.fixed is not None:
        parts = [read_positions(args.fixed, game, settings=made.settings)[list(COLUMNS)], *parts]
    table = pd.concat(parts)
    write_csv(args.output, table, KIND, made)
    progress.report("evaluation set", f"{len(table):,} positions", f"{table.decisive.sum():,} decisive")
