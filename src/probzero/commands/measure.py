"""probzero measure: a variant's checkpoints measured against exact truth, and apart from it what they cost to make."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from probzero import config, files
from probzero.arena.names import iteration_of_file
from probzero.commands import arguments, progress
from probzero.devices import resolve_device
from probzero.errors import bad
from probzero.network.checkpoint import load_weights
from probzero.network.inference import Evaluator
from probzero.report.iteration_costs import collect_selfplay_costs, collect_training_costs
from probzero.report.study.inputs import COSTS, MEASURED, WORK
from probzero.report.tables import collect_selfplay, collect_training
from probzero.search.build import SearchFactory
from probzero.tables import write_csv
from probzero.truth.measures import kept_table
from probzero.truth.positions import judged, read_positions

NEEDS = (*config.LEARNED, "truth")
FILES = {
    "--checkpoints": "the networks",
    "--selfplay": "metrics of self-play",
    "--training": "metrics of training",
    "--selfplay-costs": "costs of self-play",
    "--training-costs": "costs of training",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    arguments.add_seed(parser)
    parser.add_argument("--variant", required=True, metavar="NAME", help="what the variant is called")
    arguments.add_path(parser, "--positions", "the evaluation set")
    for name, what in FILES.items():
        summary = f"{what} of the variant; none for one that does not learn"
        parser.add_argument(name, nargs="*", default=[], type=Path, metavar="FILE", help=summary)
    arguments.add_path(parser, "--output", "where to write the measures")
    arguments.add_path(parser, "--costs", "where to write what the checkpoints cost")


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    truth = settings.truth
    made = arguments.made(args, settings, NEEDS).about(args.variant)
    wanted: dict[str, Any] = {"seed": args.seed, "settings": made.settings}
    shared = {part: made.settings[part] for part in ("game", "truth")}  # by all variants
    positions = read_positions(args.positions, game, settings=shared)
    work = work_done(args.selfplay, args.training, **wanted)
    costs = costs_until(args.selfplay_costs, args.training_costs, **wanted)
    parts = []
    given = args.checkpoints or [None]
    for path in given:
        evaluator, iteration = None, 0
        if path is not None:
            model, info = load_weights(path, game, iteration=iteration_of_file(path), **wanted)
            evaluator = Evaluator(model, game, resolve_device(truth.device, truth.threads))
            iteration = info.made.iteration or 0
        for what, found in (("metrics", work), ("costs", costs)):
            if iteration not in found.index:
                raise bad(
                    "measures", "self-play and training", f"{what} up to iteration {iteration}", found.index.max()
                )
        factory = SearchFactory(game, evaluator, settings.search, truth.capacity, "truth.capacity")
        met = judged(positions, 1 if path is given[-1] else truth.curve_share)  # the last one meets the whole set
        kept = kept_table(factory, evaluator, met, truth, args.seed)
        kept = kept.groupby(["particles", "phase"])[["positions", "kept", "outcomes"]].sum().reset_index()
        parts.append(kept.assign(iteration=iteration))
    named = {"variant": args.variant, "seed": args.seed}
    table = pd.concat(parts, ignore_index=True).merge(work, left_on="iteration", right_index=True).assign(**named)
    columns = ["particles", "phase", "positions", "kept", "outcomes", *WORK]
    write_csv(args.output, table[[*named, "iteration", *columns]], MEASURED, made)
    costs = costs.loc[table["iteration"].unique()].rename_axis("iteration").reset_index().assign(**named)
    write_csv(args.costs, costs[[*named, "iteration", *COSTS]], files.COSTS, made)
    last = table[table["iteration"] == table["iteration"].max()]
    shares = last.groupby("particles")[["kept", "positions"]].sum()
    said = [f"{progress.percent(row.kept, row.positions)} with {number}" for number, row in shares.iterrows()]
    progress.report(f"{args.variant}, seed {args.seed}", "keeps the exact result: " + ", ".join(said))


def work_done(selfplay: Sequence[Path], training: Sequence[Path], **wanted: Any) -> pd.DataFrame:
    """Return what was done before each checkpoint, by iteration from 0: WORK. `wanted` is what origins must be."""
    if not selfplay:
        return _nothing(WORK)
    played = collect_selfplay(selfplay, **wanted).set_index("iteration")[["games", "moves", "leaf_evaluations"]]
    trained = _of_training(collect_training(training, **wanted), "samples", "samples_seen")
    return _cumulative(played.join(trained, how="inner"))


def costs_until(selfplay: Sequence[Path], training: Sequence[Path], **wanted: Any) -> pd.DataFrame:
    """Return what it had cost until each checkpoint, by iteration from 0: COSTS. `wanted` is what origins must be."""
    if not selfplay:
        return _nothing(COSTS)
    played = collect_selfplay_costs(selfplay, **wanted).set_index("iteration")
    played = played.rename(columns={"seconds": "selfplay_seconds"})
    trained = _of_training(collect_training_costs(training, **wanted), "seconds", "training_seconds")
    return _cumulative(played.join(trained, how="inner")[list(COSTS)])


def _of_training(table: pd.DataFrame, column: str, name: str) -> pd.Series:
    return table.set_index("iteration")[column].rename(name)


def _nothing(columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(0, index=[0], columns=list(columns))


def _cumulative(spent: pd.DataFrame) -> pd.DataFrame:
    """Return the sums of all iterations up to each, and 0 before the first."""
    if list(spent.index) != list(range(1, len(spent) + 1)):
        raise bad("measures", "self-play and training", f"iterations 1 to {len(spent)}", list(spent.index))
    return pd.concat([_nothing(spent.columns.tolist()), spent]).cumsum()
