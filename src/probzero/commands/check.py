"""probzero check: a run beside the committed reference, each quantity with its tolerance and a verdict."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.report.check import as_text, check, passed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", required=True, type=Path, dest="new", metavar="FOLDER", help="results/<name> of a run")
    parser.add_argument("--reference", required=True, type=Path, metavar="FOLDER", help="the run to set it beside")


def run(args: argparse.Namespace) -> int:
    rows = check(args.new, args.reference)
    print(as_text(rows))
    return 0 if passed(rows) else 1
