"""probzero selfplay: one shard of games: the samples, the moves, the metrics."""

from __future__ import annotations

import argparse

import torch

from probzero import config, games
from probzero.commands import arguments, progress
from probzero.files import write_csv, write_json
from probzero.learning.dataset import write_samples
from probzero.learning.selfplay import play_shard
from probzero.network.checkpoint import load_checkpoint
from probzero.network.inference import Evaluator, resolve_device

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


def run(args: argparse.Namespace) -> None:
    settings = config.load(args.config, NEEDS)
    torch.set_num_threads(settings.selfplay.threads)
    device = resolve_device(settings.selfplay.device)
    game = games.make(settings.game.name, **settings.game.options)
    network, _ = load_checkpoint(args.checkpoint, game)
    evaluator = Evaluator(network, game, device)
    shard = play_shard(settings, evaluator, args.seed, args.iteration, args.shard)
    metrics = shard.metrics
    write_samples(args.dataset, shard.samples, game)
    write_csv(args.games, shard.games)
    write_json(args.metrics, metrics)
    leaves, seconds = metrics["leaf_evaluations"], metrics["seconds"]
    share = progress.percent(metrics["network_seconds"], seconds)
    hits = progress.percent(metrics["cache_hits"], leaves)
    progress.report(
        progress.where(args.iteration, args.iterations),
        f"self-play shard {args.shard}",
        f"{metrics['games']} games",
        f"{leaves / seconds:,.0f} leaf evaluations/s (network {share}, cache hits {hits})",
        progress.time_left(args.checkpoint, args.iteration, args.iterations),
    )
