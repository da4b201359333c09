"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probzero import config, games
from probzero.config import Config
from probzero.errors import bad
from probzero.origin import Origin

if TYPE_CHECKING:
    from probzero.games.base import Game


def add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", required=True, metavar="FILE|JSON", help="a configuration file, or a JSON object")


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """Add a network, and a configuration that is by default that of the run the network lies in."""
    parser.add_argument("checkpoint", type=Path, metavar="CHECKPOINT", help="the network")
    summary = "a configuration file, or a JSON object (default: config.json of the checkpoint's run)"
    parser.add_argument("--config", metavar="FILE|JSON", help=summary)


def add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", required=True, type=int, metavar="S", help="which independent repetition of the run")


def add_iteration(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--iteration", required=True, type=int, metavar="I", help="number of the iteration, from 1")


def add_path(parser: argparse.ArgumentParser, name: str, summary: str, kind: str = "FILE") -> None:
    parser.add_argument(name, required=True, type=Path, metavar=kind, help=summary)


def add_imported(parser: argparse.ArgumentParser) -> None:
    summary = "admit networks of `probzero import`, which learned under the rules of other code"
    parser.add_argument("--imported", action="store_true", help=summary)


def add_trusted(parser: argparse.ArgumentParser) -> None:
    summary = "read a TorchScript file too: it is a program, and reading runs it"
    parser.add_argument("--trusted", action="store_true", help=summary)


def numbers(text: str) -> tuple[int, ...]:
    """Parse whole numbers separated by commas."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected whole numbers separated by commas, found {text!r}") from None


def check_budgets(option: str, budgets: Sequence[int], particles: int) -> None:
    """Refuse budgets of a move that are not made of whole batches; 0 is the raw policy."""
    for budget in budgets:
        if budget < 0 or budget % particles or list(budgets).count(budget) > 1:
            raise bad("arguments", f"--{option}", f"different multiples of {particles}, or 0", budget)


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
    settings = config.load(args.config or config_of(args.checkpoint), needs)
    return settings, games.make(settings.game.name, **settings.game.options)


def config_of(checkpoint: Path) -> Path:
    """Return the configuration of the run in whose folder seed<S>/checkpoints a network lies."""
    found = checkpoint.resolve().parent.parent.parent / "config.json"
    if not found.is_file():
        raise bad(
            "configuration", f"of {checkpoint}", f"a file {found.name} in the folder of its run, or --config", "neither"
        )
    return found


def of_run(origin: Origin) -> dict[str, Any]:
    """Return what the origin of a file that is read for this one must be."""
    return {"seed": origin.seed, "settings": origin.settings}
