"""probzero readme: the tables of the README and of docs/, written anew from the committed results."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.commands import progress
from probzero.files import read_text, write_text
from probzero.report.readme import rewritten


def add_arguments(parser: argparse.ArgumentParser) -> None:
    summary = "texts to rewrite (default: README.md and docs/*.md)"
    parser.add_argument("texts", nargs="*", type=Path, metavar="FILE", help=summary)
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="FOLDER", help="default: results")


def run(args: argparse.Namespace) -> None:
    for path in args.texts or [Path("README.md"), *sorted(Path("docs").glob("*.md"))]:
        text = read_text(path, "text")
        made = rewritten(text, args.results, path)
        if made != text:
            write_text(path, made)
            progress.report("readme", str(path))
