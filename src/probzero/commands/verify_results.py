"""probzero verify-results: every committed file beside its manifest, its seal and its checksum."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.errors import bad
from probzero.report.manifest import LIMIT, faults


def add_arguments(parser: argparse.ArgumentParser) -> None:
    summary = "the folder of committed runs (default: results/reference)"
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path("results/reference"), metavar="FOLDER", help=summary
    )


def run(args: argparse.Namespace) -> int:
    runs = sorted(path for path in args.folder.glob("*") if path.is_dir())
    if not runs:
        raise bad("results", args.folder, "a folder of runs", "none")
    count = 0
    wrong: list[str] = []
    for folder in runs:
        files, found = faults(folder)
        count, wrong = count + files, wrong + found
    size = sum(path.stat().st_size for path in args.folder.rglob("*") if path.is_file())
    if size > LIMIT:
        wrong.append(f"{args.folder}: {size / 1e6:.1f} MB, more than {LIMIT / 1e6:.0f}")
    for line in wrong:
        print(line)
    print(f"{count} files, {len(wrong)} faults")
    return 1 if wrong else 0
