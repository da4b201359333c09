"""probzero claims: what README and paper claim, beside the committed results or beside a fresh run."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.report.claims import as_text, failed, load, on_committed, on_run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", type=Path, dest="fresh", metavar="FOLDER", help="results/<name> of a run of yours")
    parser.add_argument(
        "--results", type=Path, default=Path("results"), metavar="FOLDER", help="committed results (default: results)"
    )


def run(args: argparse.Namespace) -> int:
    claims = load(args.results / "claims.yaml")
    rows = on_run(claims, args.fresh) if args.fresh else on_committed(claims, args.results)
    print(as_text(rows))
    return 1 if failed(rows) else 0
