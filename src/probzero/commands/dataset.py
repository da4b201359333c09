"""probzero dataset: samples from and to the published form (see `learning.published_dataset`).

probzero dataset export results/smoke/seed0/selfplay/0001/shard0.safetensors samples.bin
probzero dataset import samples.bin samples.safetensors --config config/smoke.yaml
"""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.commands import arguments, progress
from probzero.errors import bad
from probzero.learning.dataset import KIND, read_any, write_samples
from probzero.learning.published_dataset import export_samples, import_samples

NEEDS = ("game",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, _, parser.epilog = (__doc__ or "").partition("\n")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "direction", choices=["import", "export"], help="import reads the published form, export writes it"
    )
    parser.add_argument("source", type=Path, metavar="FILE", help="what to read")
    parser.add_argument("target", type=Path, metavar="OUTPUT", help="where to write")
    summary = "a configuration file, or a JSON object, that says which game a published file is of"
    parser.add_argument("--config", metavar="FILE|JSON", help=summary)


def run(args: argparse.Namespace) -> None:
    if args.direction == "export":
        samples, game = read_any(args.source)
        export_samples(args.target, samples, game)
    elif args.config is None:
        raise bad(KIND, "--config", "the game of a published file, which does not say it itself", "none")
    else:
        settings, game = arguments.load(args, NEEDS)
        samples = import_samples(args.source, game)
        write_samples(args.target, samples, game, arguments.made(args, settings, NEEDS).about(args.source.name))
    progress.report(str(args.target), f"{len(samples):,} samples of {game.identity}")
