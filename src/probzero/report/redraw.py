"""Figures drawn anew from the tables that a finished or committed run, study or tournament has; nothing is measured."""

from __future__ import annotations

from pathlib import Path

from probzero import config, files, tournament
from probzero.config import Config
from probzero.errors import bad
from probzero.origin import Origin
from probzero.report import manifest
from probzero.report.drawing import draw_run, draw_study, draw_tournament, draw_verdicts
from probzero.report.study.inputs import read_results
from probzero.report.tables import read_written
from probzero.study import descriptions
from probzero.tables import TABLE
from probzero.tournament import Tournaments

RECORD, VERDICTS = "config.json", "verdicts.csv"
TOURNAMENT_FIGURE = "tournament-figure"  # the command that draws them


def redraw(folder: Path) -> int:
    """Draw all figures of a folder anew, with seals, and write its manifest if it has one; return how many there are.

    A figure has the origin of the tables beside it, as it had before, so that only what it shows can change."""
    if (folder / RECORD).is_file():
        raw = files.read_json(folder / RECORD, config.KIND)
        if "variants" in raw:
            _redraw_study(folder)
        elif "tournaments" in raw:
            _redraw_tournaments(tournament.parse(raw, str(folder / RECORD)), folder)
        else:
            _redraw_run(config.parse(raw, str(folder / RECORD)), folder)
    elif (folder / VERDICTS).is_file():
        table = read_written(folder / VERDICTS, {"claim": str})
        draw_verdicts(table, folder / "verdicts", origin_of_table(folder / VERDICTS))
    else:
        raise bad("redraw", folder, f"a run, a study or tournaments ({RECORD}), or verdicts ({VERDICTS})", "neither")
    if (folder / manifest.NAME).is_file():
        manifest.write_manifest(folder)
    return sum(1 for path in folder.rglob("*.png") if path.parent == folder or path.parent.name == "figures")


def _redraw_run(settings: Config, folder: Path) -> None:
    networks = [f"iteration-{number:04}" for number in settings.arena.checkpoints]
    players = [*networks, *settings.arena.anchors]
    seeds = sorted(path.parent for path in folder.glob("seed*/tables"))  # of others the checkpoints alone are committed
    read = {
        seed: {path.stem: read_written(path, {}, may_be_empty=True) for path in sorted((seed / "tables").glob("*.csv"))}
        for seed in seeds
    }  # of all of them before anything is drawn
    for seed, tables in read.items():
        made = origin_of_table(seed / "tables" / "ratings.csv")
        draw_run(tables, players, settings.game.entry.phase, seed / "figures", made)


def _redraw_study(folder: Path) -> None:
    measures, costs = (sorted(folder.glob(f"*/seed*/{kind}.csv")) for kind in ("measures", "costs"))
    rated = sorted(folder.glob("seed*/tables/ratings.csv"))
    found = read_results(measures, costs, rated, descriptions(folder / RECORD))
    tables = folder / "tables"
    ablations, elo = (read_written(tables / f"{name}.csv", {}, may_be_empty=True) for name in ("ablations", "elo"))
    draw_study(found, ablations, elo, folder / "figures", origin_of_table(tables / "elo.csv"))


def _redraw_tournaments(found: Tournaments, folder: Path) -> None:
    for name, players in found.players.items():
        path = folder / name / "tables" / "ratings.csv"
        made = origin_of_table(path).model_copy(update={"command": TOURNAMENT_FIGURE})
        draw_tournament(read_written(path, {"player": str}), players, folder / name / "figures" / "elo", made)


def origin_of_table(path: Path) -> Origin:
    """Return where a table comes from, and so the figures beside it."""
    return files.read_sealed(path, TABLE)[1]
