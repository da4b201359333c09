"""probzero unpack: the run that was packed, so that the command that made it goes on with it."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero import config
from probzero.commands import arguments, progress
from probzero.commands.pack import EXAMPLES as EXAMPLES
from probzero.report.packing import unpack


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_path(parser, "--packed", "what `probzero pack` made", "FOLDER")
    arguments.add_config(parser)
    parser.add_argument(
        "--run", required=True, type=Path, dest="folder", metavar="FOLDER", help="where the run goes on; must not exist"
    )


def run(args: argparse.Namespace) -> None:
    newest = unpack(args.packed, config.load(args.config, config.PARTS), args.folder)
    reached = [f"seed {seed} after iteration {iteration}" for seed, iteration in newest.items()]
    progress.report(str(args.folder), *reached)
