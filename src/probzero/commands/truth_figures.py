"""probzero truth-figures: strength against exact truth, drawn from its tables."""

from __future__ import annotations

import argparse

from probzero.commands import figures
from probzero.report import truth

PLOTS = {
    "truth": truth.plot_truth,
    "errors": truth.plot_errors,
    "reliability": truth.plot_reliability,
    "blunders": truth.plot_blunders,
}

add_arguments = figures.add_arguments


def run(args: argparse.Namespace) -> None:
    figures.draw(PLOTS, args.tables, args.figures)
