"""probzero manifest: what a committed run consists of."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.commands import progress
from probzero.report.manifest import write_manifest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="results/reference/<name>")


def run(args: argparse.Namespace) -> None:
    progress.report("manifest", str(args.folder), f"{len(write_manifest(args.folder))} files")
