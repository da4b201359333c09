"""probzero train: one iteration of learning from the newest datasets."""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import torch

from probzero.arms import ARMS
from probzero.commands import arguments, progress
from probzero.errors import bad
from probzero.files import write_json
from probzero.games.base import Game
from probzero.learning.dataset import Samples, concatenate, merge, read_samples
from probzero.learning.training import train
from probzero.network.checkpoint import load_checkpoint, load_optimizer, save_checkpoint, save_optimizer
from probzero.network.inference import resolve_device
from probzero.random_keys import key

NEEDS = ("experiment", "game", "search", "training")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    arguments.add_seed(parser)
    arguments.add_iteration(parser)
    arguments.add_path(parser, "--checkpoint", "the checkpoint to start from")
    arguments.add_path(parser, "--optimizer", "the optimiser's state to start from")
    summary = "the samples to learn from, oldest first; files of one folder are the shards of one iteration"
    parser.add_argument("--datasets", required=True, nargs="+", type=Path, metavar="FILE", help=summary)
    arguments.add_path(parser, "--new-checkpoint", "where to write the checkpoint")
    arguments.add_path(parser, "--new-optimizer", "where to write the optimiser's state")
    arguments.add_path(parser, "--metrics", "where to write the metrics")


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    torch.set_num_threads(settings.training.threads)
    device = resolve_device(settings.training.device)
    model, info = load_checkpoint(args.checkpoint, game)
    if info.iteration != args.iteration - 1:
        raise bad("checkpoint", f"{args.checkpoint}: iteration", args.iteration - 1, info.iteration)
    state, _ = load_optimizer(args.optimizer, model)
    window = _window(args.datasets, game, ARMS[settings.search.algorithm].merges)
    draws = key(settings.experiment, args.seed, args.iteration, "train")
    state, metrics = train(model, state, window, settings.training, game, args.iteration, draws, device)
    info = replace(info, iteration=args.iteration)
    save_checkpoint(args.new_checkpoint, model, info)
    save_optimizer(args.new_optimizer, state, info)
    write_json(args.metrics, metrics)
    progress.report(
        progress.where(args.iteration, settings.training.iterations),
        "training",
        f"{metrics['samples']:,} samples at {metrics['samples_per_second']:,.0f}/s",
        f"loss {metrics['total_loss']:.3f} (policy {metrics['policy_loss']:.3f}, value {metrics['value_loss']:.3f},"
        f" reward {metrics['reward_loss']:.3f})",
        f"policy agreement {progress.percent(metrics['policy_agreement'], 1)}",
    )


def _window(datasets: list[Path], game: Game, merged: bool) -> list[Samples]:
    """Read the samples of each iteration; if `merged`, a position that several of its shards have met is one sample."""
    shards = [[read_samples(path, game) for path in paths] for _, paths in groupby(datasets, lambda path: path.parent)]
    return [merge(parts) if merged else concatenate(parts) for parts in shards]
