"""probzero truth: one network measured against exact truth."""

from __future__ import annotations

import argparse
from typing import Any

from probzero.arena.names import CEILING, iteration_of
from probzero.arena.players import SearchPlayer
from probzero.commands import arguments, progress
from probzero.database.lookup import find
from probzero.devices import resolve_device
from probzero.network.checkpoint import load_weights
from probzero.network.inference import Evaluator
from probzero.random_keys import key
from probzero.search.build import SearchFactory
from probzero.tables import write_csv
from probzero.truth.measures import calibration_table, kept_table
from probzero.truth.perfect import games_from_wins
from probzero.truth.positions import for_calibration, judged, read_positions

NEEDS = ("experiment", "game", "search", "truth")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    arguments.add_seed(parser)
    parser.add_argument("--name", required=True, help="what to call the network")
    arguments.add_path(parser, "--checkpoint", "the network")
    arguments.add_imported(parser)
    arguments.add_path(parser, "--positions", "the evaluation set")
    summary = "one of many checkpoints: meet one in truth.curve_share of a fixed set"
    parser.add_argument("--curve", action="store_true", help=summary)
    arguments.add_path(parser, "--kept", "where to write how many moves keep the exact result")
    arguments.add_path(parser, "--calibration", "where to write how well its values are calibrated")
    arguments.add_path(parser, "--perfect", "where to write its games against the perfect player")


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    truth = settings.truth
    made = arguments.made(args, settings, NEEDS).about(args.name)
    wanted: dict[str, Any] = {"seed": args.seed, "settings": made.settings}
    number, ceiling = iteration_of(args.name), CEILING if args.name == CEILING else None
    named = {"iteration": number, "subject": ceiling}
    model, info = load_weights(args.checkpoint, game, imported=args.imported, **named, **wanted)
    evaluator = Evaluator(model, game, resolve_device(truth.device, truth.threads))
    positions = read_positions(args.positions, game, **wanted)
    factory = SearchFactory(game, evaluator, settings.search, truth.capacity, "truth.capacity")
    kept = kept_table(factory, evaluator, judged(positions, truth.curve_share if args.curve else 1), truth, args.seed)
    calibration = calibration_table(evaluator, game, for_calibration(positions))
    player = SearchPlayer(factory, truth.particles, truth.batches[-1])  # the largest budget plays
    openings = key(settings.experiment, args.seed, "perfect")
    played = games_from_wins(
        game, player, truth.openings, truth.opening_plies, truth.games_from_start, openings, find(game)
    )
    for kind, table in (("kept", kept), ("calibration", calibration), ("perfect", played)):
        write_csv(getattr(args, kind), table.assign(player=args.name), kind, made)
    shares = kept.groupby("particles")[["kept", "positions"]].sum()
    progress.report(
        f"truth, {args.name}" + (" (imported)" if info.imported is not None else ""),
        "keeps the exact result on "
        + ", ".join(
            f"{progress.percent(row.kept, row.positions)} ({'raw' if particles == 0 else f'{particles} particles'})"
            for particles, row in shares.iterrows()
        ),
        f"{(played.result > 0).sum()} of {len(played)} won positions won against the perfect player",
    )
