"""probzero orientations: a network's raw policy on an evaluation set, the board turned in every way its game knows.

A network that learned without symmetries may know a position in one orientation and not in another.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from probzero.commands import arguments, progress
from probzero.devices import resolve_device
from probzero.network.checkpoint import load_weights
from probzero.network.inference import Evaluator
from probzero.report.tables import write_table
from probzero.truth.measures import kept_by_orientation
from probzero.truth.positions import judged, read_positions

NEEDS = ("experiment", "game", "truth")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    parser.add_argument("--networks", required=True, nargs="+", type=arguments.player, metavar="NAME=FILE", help="whom")
    arguments.add_imported(parser)
    arguments.add_path(parser, "--positions", "the evaluation set")
    arguments.add_path(parser, "--output", "where to write the table (.csv; .md goes beside it)")


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    made = arguments.made(args, settings, NEEDS)
    positions = judged(read_positions(args.positions, game, settings=made.settings))
    parts = []
    for name, path in args.networks:
        weights, _ = load_weights(path, game, imported=args.imported)
        evaluator = Evaluator(weights, game, resolve_device(settings.truth.device, settings.truth.threads))
        kept = kept_by_orientation(evaluator, game, positions)
        parts.append(kept.assign(network=name)[["network", *kept.columns]])
        shares = kept["kept"] / kept["positions"]
        spread = f"{100 * shares.min():.1f} to {100 * shares.max():.1f} % by orientation"
        progress.report(f"raw policy, {name}", f"keeps the exact result on {100 * np.mean(shares):.1f} %", spread)
    write_table(pd.concat(parts, ignore_index=True), args.output, made)
