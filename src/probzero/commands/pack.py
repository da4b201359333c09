"""probzero pack: what an unfinished run needs to go on elsewhere, in a small folder. It may go on meanwhile."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.commands import arguments, progress
from probzero.report.packing import pack

EXAMPLES = """examples:
  probzero pack --run results/paper --output results/packed/paper
  probzero unpack --packed results/packed/paper --config config/paper.yaml --run results/paper"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--run", required=True, type=Path, dest="folder", metavar="FOLDER", help="the folder of the run"
    )
    arguments.add_path(parser, "--output", "where to pack it: what was packed there before is replaced", "FOLDER")


def run(args: argparse.Namespace) -> None:
    newest = pack(args.folder, args.output)
    size = sum(path.stat().st_size for path in args.output.rglob("*") if path.is_file())
    reached = [f"seed {seed} after iteration {iteration}" for seed, iteration in newest.items()]
    progress.report(str(args.output), *reached, f"{size / 1e6:.1f} MB")
