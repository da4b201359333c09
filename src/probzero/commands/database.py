"""probzero database: the exact value of every position that can be reached."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import pandas as pd

from probzero.commands import arguments, progress
from probzero.database.build import build
from probzero.database.form import Form
from probzero.database.games import GAMES, count_games
from probzero.database.layers import folder_of
from probzero.database.lookup import Database
from probzero.database.needs import check
from probzero.report.database import plot_layers
from probzero.tables import TABLE, write_csv

NEEDS = ("game",)
COUNTED = ("positions", "terminal", "passes", "wins", "draws", "losses")
CHOSEN = ("choices", "decisive", "single", "sha256")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    parser.add_argument("--folder", type=Path, metavar="FOLDER", help="where it goes (default: results/database/GAME)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, metavar="N", help="processor threads")
    parser.add_argument("--table", type=Path, metavar="FILE", help="where to write a row for each layer")
    parser.add_argument("--figure", type=Path, metavar="PATH", help="where to draw them, without .png and .pdf")
    parser.add_argument("--games", type=Path, metavar="FILE", help="count all games, and where to write their number")


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    form, folder, began = Form(game), args.folder or folder_of(game), time.monotonic()
    made = arguments.made(args, settings, NEEDS)

    def say(*parts: str) -> None:
        progress.report(*parts, f"after {(time.monotonic() - began) / 60:.1f} min")

    check(form, folder)
    table = layers_table(build(form, folder, args.threads, say), game.entry.phase_column)
    database = Database(form, folder)
    value = int(database.layer(database.first).values[0])
    progress.report("database", str(folder), f"{table.positions.sum():,} positions", f"{value:+d} for who moves first")
    if args.table is not None:
        write_csv(args.table, table, TABLE, made, digits="%.4f")
    if args.figure is not None:
        plot_layers(table.rename(columns={game.entry.phase_column: "phase"}), args.figure, made, game.entry.phase)
    if args.games is not None:
        games = count_games(database, args.threads, say)
        write_csv(args.games, games, GAMES, made)
        progress.report("games", f"{games.games.sum():,}")


def layers_table(layers: list[dict[str, Any]], phase: str) -> pd.DataFrame:
    """Return a row for each layer; all numbers speak for the player to move."""
    rows = [
        {
            phase: layer["phase"],
            **{name: layer[name] for name in COUNTED},
            "mean_margin": layer["sum_of_values"] / layer["positions"],
            **{name: layer[name] for name in CHOSEN},
        }
        for layer in layers
    ]
    return pd.DataFrame(rows)
