"""probzero ceiling: the same network, trained on exact labels instead of self-play."""

from __future__ import annotations

import argparse

import torch

from probzero.commands import arguments, progress
from probzero.database.lookup import find
from probzero.files import METRICS, write_json
from probzero.learning.training import check_finite
from probzero.network.checkpoint import CheckpointInfo, save_checkpoint
from probzero.random_keys import key
from probzero.truth.ceiling import CEILING, train_ceiling
from probzero.truth.positions import read_positions, states_of

NEEDS = ("experiment", "game", "network", "training", "truth")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    arguments.add_seed(parser)
    arguments.add_path(parser, "--positions", "the evaluation set, none of which is learned from")
    arguments.add_path(parser, "--checkpoint", "where to write the network")
    arguments.add_path(parser, "--metrics", "where to write the metrics of its last round")


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    torch.set_num_threads(settings.training.threads)
    made = arguments.made(args, settings, NEEDS).about(CEILING)
    held_out = states_of(game, read_positions(args.positions, game, seed=args.seed, settings=made.settings))
    draws = key(settings.experiment, args.seed, "ceiling")
    model, metrics = train_ceiling(game, settings, held_out, draws, find(game))
    check_finite(CEILING, model.state_dict(), metrics)
    save_checkpoint(args.checkpoint, model, CheckpointInfo(made, game, settings.network))
    write_json(args.metrics, metrics, METRICS, made)
    progress.report(
        "ceiling",
        f"{metrics['samples']:,} samples of {metrics['positions']:,} solved positions",
        f"policy agreement {progress.percent(metrics['policy_agreement'], 1)}",
    )
