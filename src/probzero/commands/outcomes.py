"""probzero outcomes: what the last networks of studies kept, position by position, in one compact file."""

from __future__ import annotations

import argparse

from probzero import files, games, study
from probzero.commands import arguments, progress
from probzero.config import KIND as CONFIGURATION
from probzero.errors import bad
from probzero.origin import Origin
from probzero.report.evidence.outcomes import collect, write_outcomes

EXAMPLES = """examples:
  probzero outcomes --studies factorial=results/factorial rivals=results/rivals \\
      --output results/study/outcomes.safetensors"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    summary = "finished studies, and what to call them"
    parser.add_argument(
        "--studies", required=True, nargs="+", type=arguments.player, metavar="NAME=FOLDER", help=summary
    )
    arguments.add_path(parser, "--output", "where to write the outcomes")


def run(args: argparse.Namespace) -> None:
    paths, settings, played = [], {}, []
    for name, folder in args.studies:
        record = files.read_sealed(folder / "config.json", CONFIGURATION)[1]
        found = study.load(folder / "config.json")
        settings[name] = record.settings["study"]
        played.append(found.variants[found.reference].game)
        for variant in found.variants:
            paths += [(name, folder / variant / f"seed{seed}" / "measures.csv") for seed in found.seeds_of(variant)]
    if any(game != played[0] for game in played):
        raise bad("outcomes", "studies", "studies of one game", ", ".join(game.name for game in played))
    outcomes = collect(paths)
    game = games.make(played[0].name, **played[0].options)
    write_outcomes(args.output, outcomes, game, Origin(command=args.command, settings=settings))
    size = f"{args.output.stat().st_size:,} bytes"
    progress.report("outcomes", f"{len(outcomes.arms)} arms", f"{outcomes.lost.shape[1]:,} positions", size)
