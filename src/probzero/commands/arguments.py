"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from probzero import config, games
from probzero.config import Config
from probzero.origin import Origin

if TYPE_CHECKING:
    from probzero.games.base import Game


def add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", required=True, metavar="FILE|JSON", help="a configuration file, or a JSON object")


def add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", required=True, type=int, metavar="S", help="which independent repetition of the run")


def add_iteration(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--iteration", required=True, type=int, metavar="I", help="number of the iteration, from 1")


def add_path(parser: argparse.ArgumentParser, name: str, summary: str, kind: str = "FILE") -> None:
    parser.add_argument(name, required=True, type=Path, metavar=kind, help=summary)


def add_imported(parser: argparse.ArgumentParser) -> None:
    summary = "admit networks of `probzero import`, which learned under the rules of other code"
    parser.add_argument("--imported", action="store_true", help=summary)


def player(text: str) -> tuple[str, Path | None]:
    """Parse NAME=PATH, or NAME alone for a player that needs no file."""
    name, equals, path = text.partition("=")
    if not name or (equals and not path):
        raise argparse.ArgumentTypeError(f"expected NAME or NAME=PATH, found {text!r}")
    return name, Path(path) if path else None


def made(args: argparse.Namespace, settings: Config, needs: Collection[str]) -> Origin:
    """Return the origin of what this command writes."""
    numbers = {name: getattr(args, name, None) for name in ("seed", "iteration", "shard")}
    return Origin(command=args.command, settings=settings.fingerprints(needs), **numbers)


def load(args: argparse.Namespace, needs: Collection[str]) -> tuple[Config, Game]:
    """Return these parts of the configuration, the game among them, and its game."""
    settings = config.load(args.config, needs)
    return settings, games.make(settings.game.name, **settings.game.options)
