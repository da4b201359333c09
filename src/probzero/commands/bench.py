"""probzero bench: speed, memory and growth of every part, all measured in one run on one machine."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pandas as pd

from probzero import config
from probzero.benchmarks import network, roofline, search
from probzero.benchmarks.rows import Row
from probzero.benchmarks.selfplay import measure
from probzero.commands import arguments
from probzero.config import Config
from probzero.origin import Origin
from probzero.report.tables import write_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", required=True, nargs="+", metavar="FILE", help="configurations to measure, the default scale first"
    )
    arguments.add_path(parser, "--output", "where to write the table of self-play beside its network")
    arguments.add_path(parser, "--parts", "where to write the table of all else")


def run(args: argparse.Namespace) -> None:
    settings = [config.load(source) for source in args.config]
    rows = []
    for setting in settings:
        rows.append(measure(setting))
        for name, value in rows[-1].items():
            print(f"{name:>28}  {value:,.3f}" if isinstance(value, float) else f"{name:>28}  {value}")
        print(flush=True)
    parts = []
    for row in _parts(settings):
        parts.append(row)
        print(f"{row.part:>10}  {row.case:<34}  {row.quantity:<46}  {row.value:>16,.3f} {row.unit}", flush=True)
    made = Origin(command=args.command)
    write_table(pd.DataFrame(rows), args.output, made)
    write_table(pd.DataFrame(parts), args.parts, made)


def _parts(settings: list[Config]) -> Iterator[Row]:
    for setting in settings:
        yield from search.components(setting)
    for setting in settings:
        yield from search.per_node(setting)
    games = [search.game_of(setting) for setting in settings]
    for setting, game in zip(settings, games, strict=True):
        yield from network.inference(game, setting.network)
        yield from search.training(setting)
    yield from search.growth(settings[0])
    for setting, game in zip(settings, games, strict=True):
        for count in (128, 1024) if game.tensor_form else ():
            yield from roofline.predict(setting, count)
