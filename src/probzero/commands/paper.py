"""probzero paper: the paper of a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero import config, files
from probzero.commands import arguments, progress
from probzero.origin import Origin
from probzero.report.paper import compile_pdf
from probzero.report.paper_inputs import check


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", required=True, type=Path, dest="folder", metavar="FOLDER", help="results/<name>")
    arguments.add_seed(parser)
    parser.add_argument("--study", type=Path, metavar="FOLDER", help="a finished study (default: none)")
    arguments.add_path(parser, "--output", "where to write the paper (PDF)")


def run(args: argparse.Namespace) -> None:
    check(args.folder, args.seed, args.study)
    document = compile_pdf(args.folder, args.seed, args.study)
    records = [
        files.read_sealed(folder / "config.json", config.KIND)[1] for folder in (args.study, args.folder) if folder
    ]
    settings = {part: found for record in records for part, found in record.settings.items()}
    made = Origin(command=args.command, seed=args.seed, settings=settings)
    files.write(args.output, document, "paper", made)
    progress.report("paper", str(args.output))
