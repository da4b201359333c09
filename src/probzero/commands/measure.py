"""probzero measure: a variant's checkpoints measured against exact truth, with what they cost to make."""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd
import torch

from probzero.commands import arguments, progress
from probzero.errors import bad
from probzero.files import write_csv
from probzero.network.checkpoint import load_checkpoint
from probzero.network.inference import Evaluator, resolve_device
from probzero.report.study.inputs import COSTS
from probzero.report.tables import collect_selfplay, collect_training
from probzero.search.build import SearchFactory
from probzero.truth.measures import kept_table
from probzero.truth.positions import read_positions

NEEDS = ("game", "search", "truth")
SELFPLAY = ("games", "moves", "leaf_evaluations", "network_evaluations", "network_calls", "cache_hits")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    arguments.add_seed(parser)
    parser.add_argument("--variant", required=True, metavar="NAME", help="what the variant is called")
    arguments.add_path(parser, "--positions", "the evaluation set")
    for name, what in (("--checkpoints", "the networks"), ("--selfplay", "metrics"), ("--training", "metrics")):
        summary = f"{what} of the variant; none for one that does not learn"
        parser.add_argument(name, nargs="*", default=[], type=Path, metavar="FILE", help=summary)
    arguments.add_path(parser, "--output", "where to write the measures")


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    truth = settings.truth
    torch.set_num_threads(truth.threads)
    positions = read_positions(args.positions, game)
    costs = cumulative_costs(args.selfplay, args.training)
    parts = []
    for path in args.checkpoints or [None]:
        evaluator, iteration = None, 0
        if path is not None:
            model, info = load_checkpoint(path, game)
            evaluator, iteration = Evaluator(model, game, resolve_device(truth.device)), info.iteration
        if iteration not in costs.index:
            raise bad("measures", "--selfplay, --training", f"metrics up to iteration {iteration}", costs.index.max())
        factory = SearchFactory(game, evaluator, settings.search, truth.capacity, "truth.capacity")
        kept = kept_table(factory, evaluator, positions, truth, args.seed)
        kept = kept.groupby(["particles", "phase"])[["positions", "kept"]].sum().reset_index()
        parts.append(kept.assign(iteration=iteration))
    table = pd.concat(parts, ignore_index=True).merge(costs, left_on="iteration", right_index=True)
    table = table.assign(variant=args.variant, seed=args.seed)
    columns = ["variant", "seed", "iteration", "particles", "phase", "positions", "kept", *COSTS]
    write_csv(args.output, table[columns])
    last = table[table["iteration"] == table["iteration"].max()]
    shares = last.groupby("particles")[["kept", "positions"]].sum()
    said = [f"{progress.percent(row.kept, row.positions)} with {number}" for number, row in shares.iterrows()]
    progress.report(f"{args.variant}, seed {args.seed}", "keeps the exact result: " + ", ".join(said))


def cumulative_costs(selfplay: list[Path], training: list[Path]) -> pd.DataFrame:
    """Return what was spent before each checkpoint, by iteration from 0."""
    if not selfplay:
        return pd.DataFrame(0, index=[0], columns=list(COSTS))
    played = collect_selfplay(selfplay).set_index("iteration")[[*SELFPLAY, "seconds"]]
    trained = collect_training(training).set_index("iteration")[["samples", "seconds"]]
    costs = played.rename(columns={"seconds": "selfplay_seconds"}).join(
        trained.rename(columns={"samples": "samples_seen", "seconds": "training_seconds"}), how="inner"
    )
    if list(costs.index) != list(range(1, len(costs) + 1)):
        raise bad("measures", "--selfplay, --training", f"iterations 1 to {len(costs)}", list(costs.index))
    return pd.concat([pd.DataFrame(0, index=[0], columns=costs.columns), costs]).cumsum()
