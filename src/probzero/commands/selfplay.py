"""probzero selfplay: one shard of games: the samples, the moves, the metrics, what it cost."""

from __future__ import annotations

import argparse

from probzero.commands import arguments, progress
from probzero.devices import resolve_device
from probzero.files import COSTS, METRICS, write_json
from probzero.learning.dataset import write_samples
from probzero.learning.selfplay import GAMES, play_shard
from probzero.network.checkpoint import load_weights
from probzero.network.inference import Evaluator
from probzero.tables import write_csv

NEEDS = ("experiment", "game", "search", "selfplay", "targets")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    arguments.add_seed(parser)
    arguments.add_iteration(parser)
    parser.add_argument("--iterations", type=int, metavar="N", help="how many there will be, to say what is left")
    parser.add_argument("--shard", required=True, type=int, metavar="K", help="number of the shard, from 0")
    arguments.add_path(parser, "--checkpoint", "the network that plays: the checkpoint of the iteration before")
    arguments.add_path(parser, "--dataset", "where to write the samples")
    arguments.add_path(parser, "--games", "where to write the moves of the games")
    arguments.add_path(parser, "--metrics", "where to write the metrics")
    arguments.add_path(parser, "--costs", "where to write what depends on the machine and the cache")


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    device = resolve_device(settings.selfplay.device, settings.selfplay.threads)
    made = arguments.made(args, settings, NEEDS)
    playing = max(0, args.iteration - 1 - settings.selfplay.lag)
    network, _ = load_weights(args.checkpoint, game, seed=args.seed, iteration=playing, settings=made.settings)
    evaluator = Evaluator(network, game, device)
    shard = play_shard(settings, evaluator, args.seed, args.iteration, args.shard)
    write_samples(args.dataset, shard.samples, game, made)
    write_csv(args.games, shard.games, GAMES, made)
    write_json(args.metrics, shard.metrics, METRICS, made)
    write_json(args.costs, shard.costs, COSTS, made)
    leaves, seconds = shard.metrics["leaf_evaluations"], shard.costs["seconds"]
    share = progress.percent(shard.costs["network_seconds"], seconds)
    hits = progress.percent(shard.costs["cache_hits"], leaves)
    progress.report(
        progress.where(args.iteration, args.iterations),
        f"self-play shard {args.shard}",
        f"{shard.metrics['games']} games",
        f"{leaves / seconds:,.0f} leaf evaluations/s (network {share}, cache hits {hits})",
        progress.time_left(args.checkpoint, args.iteration, args.iterations),
    )
