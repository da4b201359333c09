"""probzero paper: the paper of a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.commands import arguments, progress
from probzero.files import write
from probzero.origin import Origin
from probzero.report.paper import compile_pdf


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", required=True, type=Path, dest="folder", metavar="FOLDER", help="results/<name>")
    arguments.add_seed(parser)
    parser.add_argument("--study", type=Path, metavar="FOLDER", help="a finished study (default: none)")
    arguments.add_path(parser, "--output", "where to write the paper (PDF)")


def run(args: argparse.Namespace) -> None:
    document = compile_pdf(args.folder, args.seed, args.study)
    write(args.output, document, "paper", Origin(command=args.command, seed=args.seed))
    progress.report("paper", str(args.output))
