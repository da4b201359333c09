"""probzero compare: a run beside the committed reference, each quantity with its tolerance and a verdict."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.report.compare import as_text, compare, passed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", required=True, type=Path, dest="new", metavar="FOLDER", help="results/<name> of a run")
    parser.add_argument("--reference", required=True, type=Path, metavar="FOLDER", help="the run to compare it with")


def run(args: argparse.Namespace) -> int:
    comparison = compare(args.new, args.reference)
    print(as_text(comparison))
    return 0 if passed(comparison) else 1
