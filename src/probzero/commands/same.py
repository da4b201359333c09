"""probzero same: two folders of results compared byte for byte, but for what tells of time and of the cache."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.report.same_files import differences


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for name in ("first", "second"):
        parser.add_argument(name, type=Path, metavar="FOLDER", help="results/<name> of a run or of a study")
    summary = "names of further files that need not be the same"
    parser.add_argument("--without", nargs="+", default=[], metavar="NAME", help=summary)


def run(args: argparse.Namespace) -> int:
    found = differences(args.first, args.second, args.without)
    wrong = {name: what for name, what in found.items() if what}
    for name, what in wrong.items():
        print(f"{name}: {what}")
    print(f"{len(found)} files, {len(wrong)} differ")
    return 1 if wrong or not found else 0
