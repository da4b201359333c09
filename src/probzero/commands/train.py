"""probzero train: one iteration of learning from the newest datasets."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from probzero.commands import arguments, progress
from probzero.config import LEARNED
from probzero.devices import resolve_device
from probzero.errors import bad
from probzero.files import COSTS, METRICS, write_json
from probzero.games.base import Game
from probzero.learning.dataset import Samples, concatenate, merge, read_with_origin
from probzero.learning.training import check_finite, train
from probzero.network.checkpoint import load_checkpoint, load_optimizer, save_checkpoint, save_optimizer
from probzero.origin import Origin
from probzero.random_keys import key

NEEDS = LEARNED  # all of it, so that no checkpoint of a study's other variant is taken for this one's


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    arguments.add_seed(parser)
    arguments.add_iteration(parser)
    arguments.add_path(parser, "--checkpoint", "the checkpoint to start from")
    arguments.add_path(parser, "--optimizer", "the optimiser's state to start from")
    summary = "the samples to learn from: every shard of every iteration in the window, oldest first"
    parser.add_argument("--datasets", required=True, nargs="+", type=Path, metavar="FILE", help=summary)
    arguments.add_path(parser, "--new-checkpoint", "where to write the checkpoint")
    arguments.add_path(parser, "--new-optimizer", "where to write the optimiser's state")
    arguments.add_path(parser, "--metrics", "where to write the metrics")
    arguments.add_path(parser, "--costs", "where to write how long it took")


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    device = resolve_device(settings.training.device)
    made = arguments.made(args, settings, NEEDS)
    before: dict[str, Any] = {"seed": args.seed, "iteration": args.iteration - 1, "settings": made.settings}
    model, info = load_checkpoint(args.checkpoint, game, **before)
    state, _ = load_optimizer(args.optimizer, model, **before)
    window = _window(args, game, settings.training.replay_window, settings.search.arm.merges, made)
    draws = key(settings.experiment, args.seed, args.iteration, "train")
    began = time.perf_counter()
    state, metrics = train(model, state, window, settings.training, game, args.iteration, draws, device)
    seconds = time.perf_counter() - began
    check_finite(f"iteration {args.iteration}", {**model.state_dict(), **state}, metrics)
    info = replace(info, made=made)
    save_checkpoint(args.new_checkpoint, model, info)
    save_optimizer(args.new_optimizer, model, state, info)
    write_json(args.metrics, metrics, METRICS, made)
    write_json(args.costs, {"iteration": args.iteration, "seconds": seconds}, COSTS, made)
    progress.report(
        progress.where(args.iteration, settings.training.iterations),
        "training",
        f"{metrics['samples']:,} samples at {metrics['samples'] / seconds:,.0f}/s",
        f"loss {metrics['total_loss']:.3f} (policy {metrics['policy_loss']:.3f}, value {metrics['value_loss']:.3f},"
        f" reward {metrics['reward_loss']:.3f})",
        f"policy agreement {progress.percent(metrics['policy_agreement'], 1)}",
    )


def _window(args: argparse.Namespace, game: Game, length: int, merged: bool, made: Origin) -> list[Samples]:
    """Read the samples of each iteration; if `merged`, a position that several of its shards have met is one sample."""
    found = [read_with_origin(path, game, seed=args.seed, settings=made.settings) for path in args.datasets]
    places = [(origin.iteration, origin.shard) for _, origin in found]
    iterations = range(max(1, args.iteration - length + 1), args.iteration + 1)
    expected = [(iteration, shard) for iteration in iterations for shard in range(len(found) // len(iterations))]
    if places != expected:
        raise bad("datasets", "iteration, shard", _listed(expected), _listed(places))
    shards = len(found) // len(iterations)
    parts = [[samples for samples, _ in found[first : first + shards]] for first in range(0, len(found), shards)]
    return [merge(part) if merged else concatenate(part) for part in parts]


def _listed(places: Sequence[tuple[int | None, int | None]]) -> str:
    return "; ".join(f"{iteration}, {shard}" for iteration, shard in places) or "none"
