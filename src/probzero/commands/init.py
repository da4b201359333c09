"""probzero init: the untrained network and the empty state of its optimiser."""

from __future__ import annotations

import argparse

from probzero.commands import arguments, progress
from probzero.network.checkpoint import CheckpointInfo, save_checkpoint, save_optimizer
from probzero.network.model import build
from probzero.random_keys import key

NEEDS = ("experiment", "game", "network")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    arguments.add_seed(parser)
    arguments.add_path(parser, "--checkpoint", "where to write the checkpoint")
    arguments.add_path(parser, "--optimizer", "where to write the optimiser's state")


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    network = build(game.shape, settings.network, key(settings.experiment, args.seed, "init"))
    info = CheckpointInfo(arguments.made(args, settings, NEEDS).at(0), game, settings.network)
    save_checkpoint(args.checkpoint, network, info)
    save_optimizer(args.optimizer, network, {}, info)
    parameters = sum(parameter.numel() for parameter in network.parameters())
    size = f"{settings.network.blocks} × {settings.network.channels}"
    progress.report(f"seed {args.seed}", f"untrained {size} network", f"{parameters:,} parameters")
