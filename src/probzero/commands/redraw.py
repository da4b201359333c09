"""probzero redraw: the figures of a finished or committed run, study or tournament anew, from its tables alone."""

from __future__ import annotations

import argparse
from pathlib import Path

from probzero.commands import progress
from probzero.report.redraw import redraw

EXAMPLES = """examples:
  probzero redraw results/reference/laptop results/reference/study
  probzero verify-results

A committed folder has its manifest written anew too. The paper holds figures: compile it after this
(probzero paper), and then call probzero manifest."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    summary = "results/<name> or results/reference/<name>"
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help=summary)


def run(args: argparse.Namespace) -> None:
    for folder in args.folders:
        progress.report(str(folder), f"{redraw(folder)} figures")
