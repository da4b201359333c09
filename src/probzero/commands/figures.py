"""probzero figures: everything that is drawn, from the tables of a run."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from probzero.commands import progress
from probzero.report import figures
from probzero.tables import read_table

Plot = Callable[[pd.DataFrame, Path, Path], None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tables", required=True, type=Path, metavar="FOLDER", help="the tables of a run")
    parser.add_argument("--figures", required=True, type=Path, metavar="FOLDER", help="where to write the figures")


def run(args: argparse.Namespace) -> None:
    ratings, pairings = (read_table(args.tables / f"{name}.csv", {}) for name in ("ratings", "pairings"))
    figures.plot_elo(ratings, *names(args.figures, "elo"))
    figures.plot_win_rates(pairings, ratings["player"].tolist(), *names(args.figures, "win_rates"))
    draw({"training": figures.plot_training, "selfplay": figures.plot_selfplay}, args.tables, args.figures)


def draw(plots: Mapping[str, Plot], tables: Path, folder: Path) -> None:
    """Draw the figures that are named like the one table they show."""
    for name, plot in plots.items():
        plot(read_table(tables / f"{name}.csv", {}), *names(folder, name))
    progress.report("figures", str(folder))


def names(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / f"{name}.png", folder / f"{name}.pdf"
