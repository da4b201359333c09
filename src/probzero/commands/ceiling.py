"""probzero ceiling: the same network, trained on exact labels instead of self-play."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probzero.commands import arguments, progress
from probzero.config import Network
from probzero.database.lookup import find
from probzero.errors import bad
from probzero.files import METRICS, read_json, write_json
from probzero.games.base import Game
from probzero.learning.training import check_finite
from probzero.network.checkpoint import CHECKPOINT, CheckpointInfo, load_checkpoint, save_checkpoint
from probzero.random_keys import key
from probzero.truth.ceiling import CEILING, train_ceiling
from probzero.truth.positions import read_positions, states_of

if TYPE_CHECKING:
    from probzero.network.model import ProbZeroNet

NEEDS = ("experiment", "game", "network", "training", "truth")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    arguments.add_seed(parser)
    arguments.add_path(parser, "--positions", "the evaluation set, none of which is learned from")
    summary = "a network of `probzero population-ceiling`, with its metrics beside it, in the place of a new one"
    parser.add_argument("--given", type=Path, metavar="FILE", help=summary)
    arguments.add_path(parser, "--checkpoint", "where to write the network")
    arguments.add_path(parser, "--metrics", "where to write the metrics of its last round")


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    made = arguments.made(args, settings, NEEDS).about(CEILING)
    held_out = states_of(game, read_positions(args.positions, game, seed=args.seed, settings=made.settings))
    if args.given is not None:
        model, metrics = _given(args.given, game, settings.network)
    else:
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


def _given(path: Path, game: Game, wanted: Network) -> tuple[ProbZeroNet, dict[str, Any]]:
    """Read a ceiling and the metrics beside it; refuse one of another network."""
    model, info = load_checkpoint(path, game, subject=CEILING)
    if info.network != wanted:
        raise bad(CHECKPOINT, f"{path}: network", wanted.model_dump(), info.network.model_dump())
    return model, read_json(path.with_suffix(".json"), METRICS, subject=CEILING)
