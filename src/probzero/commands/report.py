"""probzero report: the tables and figures of one seed of a run, from what its other commands left in its folder."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

from probzero import config, games
from probzero.commands import arguments, progress
from probzero.commands.elo import say_last
from probzero.config import Config
from probzero.report import truth
from probzero.report.drawing import draw_run
from probzero.report.iteration_costs import collect_costs
from probzero.report.tables import collect_selfplay, collect_training, read_matches, read_written, write_table
from probzero.report.tournament import tournament_tables

NEEDS = ("game", "selfplay", "training", "arena")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_config(parser)
    arguments.add_seed(parser)
    parser.add_argument("--run", required=True, type=Path, dest="folder", metavar="FOLDER", help="results/<name>")


def files_of(settings: Config, folder: Path) -> dict[str, list[Path]]:
    """Return where the files of a seed lie: metrics, costs, matches, and what was measured against truth."""
    iterations = [f"{number:04}" for number in range(1, settings.training.iterations + 1)]
    shards = range(settings.selfplay.shards)
    networks, anchors = networks_of(settings), settings.arena.anchors
    met = [*(networks if anchors else networks[1:]), *anchors[1:]]  # a file has the games with those before
    watched = sorted({max(1, number) for number in settings.arena.checkpoints})
    entry, options = settings.game.entry, settings.game.options
    certified = networks if entry.certifiable(**options) else []
    return {
        "training": [folder / "training" / f"{number}.json" for number in iterations],
        "selfplay": [folder / "selfplay" / number / f"shard{shard}.json" for number in iterations for shard in shards],
        "selfplay_costs": [
            folder / "costs" / "selfplay" / f"{number}-shard{shard}.json" for number in iterations for shard in shards
        ],
        "training_costs": [folder / "costs" / "train" / f"{number}.json" for number in iterations],
        "matches": [folder / "matches" / f"{name}.csv" for name in met],
        **{
            kind: [folder / "truth" / name / f"{kind}.csv" for name in [*networks, truth.CEILING]]
            for kind in ("kept", "calibration", "perfect")
        },
        "certificates": [folder / "certificates" / f"{name}.csv" for name in certified],
        "blunders": [folder / "truth" / "blunders" / f"{number:04}.json" for number in watched],
    }


def networks_of(settings: Config) -> list[str]:
    """Return what the checkpoints of the tournament are called, in their order."""
    return [f"iteration-{number:04}" for number in settings.arena.checkpoints]


def run(args: argparse.Namespace) -> None:
    settings = config.load(args.config, NEEDS)
    game, made = games.make(settings.game.name, **settings.game.options), arguments.made(args, settings, NEEDS)
    wanted: dict[str, Any] = {"seed": args.seed, "settings": made.settings}
    folder = args.folder / f"seed{args.seed}"
    found, players = files_of(settings, folder), [*networks_of(settings), *settings.arena.anchors]

    def kept(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
        """Write tables and return them as they stand there: what follows is made from the rounded numbers."""
        for name, table in tables.items():
            write_table(table, folder / "tables" / f"{name}.csv", made)
        return {name: read_written(folder / "tables" / f"{name}.csv", {}, may_be_empty=True) for name in tables}

    matches = read_matches(found["matches"], game, **wanted)
    training, selfplay = collect_training(found["training"], **wanted), collect_selfplay(found["selfplay"], **wanted)
    costs = collect_costs(found["selfplay_costs"], found["training_costs"], training, **wanted)
    tables = kept({"training": training, "selfplay": selfplay, "costs": costs})
    tables |= kept(tournament_tables(matches, players))
    if settings.game.entry.solvable(**settings.game.options):
        by_phase = settings.game.entry.has_tables
        tables |= kept(truth.truth_tables(found, tables["selfplay"], by_phase, **wanted))
    draw_run(tables, players, settings.game.entry.phase, folder / "figures", made)
    _say(tables, matches)


def _say(tables: dict[str, pd.DataFrame], games: pd.DataFrame) -> None:
    played, leaves = (tables["selfplay"][name].sum() for name in ("games", "leaf_evaluations"))
    iterations = f"{len(tables['training'])} iterations"
    progress.report("tables", iterations, f"{played:,} games", f"{leaves:,} leaf evaluations")
    say_last(tables["ratings"], games)
    if "truth" not in tables:
        return
    whole = tables["truth"][tables["truth"]["source"] == truth.ALL]
    last = whole[whole["iteration"] == whole["iteration"].max()]
    shares = zip(last["particles"], last["kept_share"], strict=True)
    said = [f"{particles} particles {progress.percent(share, 1)}" for particles, share in shares]
    progress.report("truth", f"{last['player'].iloc[0]} keeps the exact result: " + ", ".join(said))
