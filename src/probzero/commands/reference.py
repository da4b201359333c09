"""probzero reference: make a finished run or study the committed one."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.commands import arguments, progress
from probzero.report.reference import keep


def add_arguments(parser: argparse.ArgumentParser) -> None:
    summary = "the folder of the run or study"
    parser.add_argument("--run", required=True, type=Path, dest="folder", metavar="FOLDER", help=summary)
    arguments.add_path(parser, "--output", "where to commit it: results/reference/<name>", "FOLDER")


def run(args: argparse.Namespace) -> None:
    count = keep(args.folder, args.output)
    size = sum(path.stat().st_size for path in args.output.rglob("*") if path.is_file())
    progress.report(str(args.output), f"{count} files", f"{size / 1e6:.1f} MB")
