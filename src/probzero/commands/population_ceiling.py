"""probzero population-ceiling: the same network, trained on exact labels of all positions that can be reached."""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from probzero.commands import arguments, progress
from probzero.database.ceiling import population, stages
from probzero.database.form import Form
from probzero.database.layers import folder_of
from probzero.database.lookup import Database
from probzero.files import METRICS, write_json
from probzero.learning.training import check_finite
from probzero.network.checkpoint import CheckpointInfo, save_checkpoint
from probzero.random_keys import key
from probzero.tables import TABLE, write_csv
from probzero.truth.ceiling import CEILING
from probzero.truth.positions import read_positions

NEEDS = ("experiment", "game", "network", "training", "truth")
EXAMPLES = """
  make database
  probzero population-ceiling --config config/laptop.yaml --validation results/reference/positions/validation.csv \\
      --held-out results/reference/positions/test.csv results/reference/positions/drawn.csv --output results/ceiling
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed (default: 0)")
    parser.add_argument("--database", type=Path, metavar="FOLDER", help="the database (default: results/database/GAME)")
    arguments.add_path(parser, "--validation", "the positions on which the share must rise; none is learned from")
    summary = "further positions, none of which is learned from"
    parser.add_argument("--held-out", nargs="*", default=[], type=Path, metavar="FILE", help=summary)
    summary = "most positions of a phase (default: 150000)"
    parser.add_argument("--per-phase", type=int, default=150_000, metavar="N", help=summary)
    summary = "samples drawn in the first stage; each further one draws twice as many (default: 1000000)"
    parser.add_argument("--draws", type=int, default=1_000_000, metavar="N", help=summary)
    summary = "where to write the last stage's network and metrics, and the table of stages"
    arguments.add_path(parser, "--output", summary, "FOLDER")


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    made = arguments.made(args, settings, NEEDS).about(CEILING)
    database = Database(Form(game), args.database or folder_of(game))
    validation = read_positions(args.validation, game)
    held_out = [validation, *(read_positions(path, game) for path in args.held_out)]
    states = population(database, args.per_phase, held_out)
    progress.report("population", f"{len(states):,} positions with a choice, none of the held-out ones among them")
    rows = []
    draws = key(settings.experiment, args.seed, "population ceiling")
    for stage in stages(database, settings, states, validation, args.draws, draws):
        check_finite(CEILING, stage.model.state_dict(), stage.metrics)
        rows.append({"samples": stage.metrics["samples"], "positions": len(states), "kept_share": stage.share})
        write_csv(args.output / "stages.csv", pd.DataFrame(rows), TABLE, made, "%.4f")
        save_checkpoint(args.output / "ceiling.safetensors", stage.model, CheckpointInfo(made, game, settings.network))
        write_json(args.output / "ceiling.json", stage.metrics, METRICS, made)
        progress.report(
            "ceiling",
            f"{stage.metrics['samples']:,} samples",
            f"keeps the exact result on {progress.percent(stage.share, 1)} of the validation positions",
        )
