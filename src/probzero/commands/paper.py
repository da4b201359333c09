"""probzero paper: the paper of a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero import config, files
from probzero.commands import arguments, progress
from probzero.origin import Origin
from probzero.report.paper import Beside, compile_pdf
from probzero.report.paper_inputs import check


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", required=True, type=Path, dest="folder", metavar="FOLDER", help="results/<name>")
    arguments.add_seed(parser)
    parser.add_argument("--study", type=Path, metavar="FOLDER", help="a finished study (default: none)")
    parser.add_argument("--verdicts", type=Path, metavar="FILE", help="the table of verdicts (default: none)")
    summary = "the folder of committed results, which says what they cost (default: none)"
    parser.add_argument("--committed", type=Path, metavar="FOLDER", help=summary)
    arguments.add_path(parser, "--output", "where to write the paper (PDF)")


def run(args: argparse.Namespace) -> None:
    beside = Beside(args.study, args.verdicts, args.committed)
    check(args.folder, args.seed, beside)
    document = compile_pdf(args.folder, args.seed, beside)
    records = [
        files.read_sealed(folder / "config.json", config.KIND)[1] for folder in (args.study, args.folder) if folder
    ]
    settings = {part: found for record in records for part, found in record.settings.items()}
    made = Origin(command=args.command, seed=args.seed, settings=settings)
    files.write(args.output, document, "paper", made)
    progress.report("paper", str(args.output))
