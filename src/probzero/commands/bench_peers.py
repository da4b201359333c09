"""probzero bench-peers: the speed of our self-play beside that of other programs, in turns on one machine."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from probzero import config
from probzero.benchmarks import rivals
from probzero.benchmarks.peers import Setting, compare, table
from probzero.commands import arguments
from probzero.config import Config
from probzero.errors import bad
from probzero.origin import Origin
from probzero.report.tables import write_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", required=True, nargs="+", metavar="FILE", help="configurations to measure")
    parser.add_argument(
        "--largest", type=int, metavar="G",
        help="measure the last configuration on its game's largest board too, with G games",
    )  # fmt: skip
    parser.add_argument(
        "--mctx", nargs=2, metavar=("PYTHON", "SCRIPT"), help="an interpreter that has mctx, and the program to run"
    )
    parser.add_argument("--published", type=Path, metavar="PROGRAM", help="a build of the published code")
    parser.add_argument("--rounds", type=int, default=5, metavar="R", help="how often each is timed (default 5)")
    arguments.add_path(parser, "--output", "where to write the table")


def run(args: argparse.Namespace) -> None:
    if args.rounds < 1:
        raise bad("bench-peers", "--rounds", "a whole number above 0", args.rounds)
    if args.published is not None and not (args.published.is_file() and os.access(args.published, os.X_OK)):
        raise bad("bench-peers", "PUBLISHED", "a program that can be run", args.published)
    for number, path in enumerate(args.mctx or []):
        if not Path(path).is_file():
            raise bad("bench-peers", "--mctx", ("an interpreter", "a program")[number], path)
    settings = [config.load(source) for source in args.config]
    if args.largest:
        settings.append(_on_largest(settings[-1], args.largest))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for setting in settings:
            others = list(_others(setting, args, Path(folder)))
            for row in compare(rivals.size_of(setting), rivals.ours(setting), others, args.rounds):
                rows.append(row)
                print(
                    f"{row['size']}: {row['system']}, {row['setting']}: {row['leaf_evaluations_per_second']:,.0f} a"
                    f" second ({row['low']:,.0f} to {row['high']:,.0f}), ours {row['ratio']:.2f} times as fast"
                )  # fmt: skip
                sys.stdout.flush()
    write_table(table(rows), args.output, Origin(command=args.command))


def _others(setting: Config, args: argparse.Namespace, folder: Path) -> Iterator[Setting]:
    if args.mctx:
        yield from rivals.mctx(setting, tuple(args.mctx))
    if args.published:
        yield from rivals.published(setting, args.published.absolute(), folder)


def _on_largest(setting: Config, games: int) -> Config:
    entry = setting.game.entry
    largest = {option: max(entry.options[option]) for option in entry.board}
    played = {"shards": 1, "games": games, "capacity": 8_000_000}
    return setting.changed(game=largest, selfplay=played, arena={"anchors": ()})  # no board is solved that is so large
