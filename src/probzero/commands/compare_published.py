"""probzero compare-published: the networks of a run beside the published ones, at equal numbers of games, exactly.

For games small enough that every position can be listed: agents against every opponent, and in every decisive position.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from probzero.commands import arguments, progress
from probzero.config import Config
from probzero.devices import resolve_device
from probzero.errors import bad
from probzero.network.checkpoint import load_weights
from probzero.network.inference import Evaluator
from probzero.network.published import read_published
from probzero.network.weights import Weights
from probzero.report.published import OURS, PUBLISHED, plot_published
from probzero.report.tables import write_table
from probzero.search.build import SearchFactory
from probzero.truth.best_response import explore
from probzero.truth.certificate import NO_DRAWS, certificates, network_moves, reachable
from probzero.truth.labels import Labels, Solver, decisive, keeps_result

NEEDS = ("name", "experiment", "seeds", "game", "search", "selfplay", "training", "arena", "truth", "certify")
GAMES_OF_PUBLISHED = 20  # an iteration, in the published loop


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", required=True, type=Path, dest="folder", metavar="FOLDER", help="results/<name>")
    summary = "networks of the published project for the same board"
    parser.add_argument("--published", required=True, nargs="+", type=Path, metavar="FILE", help=summary)
    arguments.add_trusted(parser)
    arguments.add_path(parser, "--output", "where to write table and figure (<run>/published)", "FOLDER")


def run(args: argparse.Namespace) -> None:
    args.config = args.folder / "config.json"
    settings, game = arguments.load(args, NEEDS)
    made = arguments.made(args, settings, set(NEEDS) - {"name", "seeds"})
    solver = Solver(game, threads=settings.truth.threads)
    labels = solver.label(reachable(game), margins=False)
    chosen = np.flatnonzero(decisive(labels))
    rows = []
    for path in args.published:
        model, info = read_published(path, args.trusted)
        number = (info.imported or {}).get("iteration")
        if info.game is not game or number is None:
            found = f"one of {info.game.identity}, iteration {number}"
            raise bad("published network", path, f"one of {game.identity} whose name tells its iteration", found)
        named = {"system": PUBLISHED, "seed": 0, "iteration": number, "games": number * GAMES_OF_PUBLISHED}
        rows += _measured(settings, solver, labels, chosen, model.weights(), named)
    games = settings.selfplay.games * settings.selfplay.shards
    for seed in settings.seeds:
        for number in settings.arena.checkpoints:
            path = args.folder / f"seed{seed}" / "checkpoints" / f"{number:04}.safetensors"
            weights, _ = load_weights(path, game, seed=seed, iteration=number, settings=made.settings)
            named = {"system": OURS, "seed": seed, "iteration": number, "games": number * games}
            rows += _measured(settings, solver, labels, chosen, weights, named)
    table = pd.DataFrame(rows).sort_values(["system", "seed", "particles", "games"], ignore_index=True)
    write_table(table, args.output / "published.csv", made)
    plot_published(table, args.output / "published", made)
    last = table[table["games"] == table.groupby("system")["games"].transform("max")]
    for (system, particles), part in last.groupby(["system", "particles"]):
        budget = "raw" if particles == 0 else f"{particles} particles"
        share = progress.percent(part["kept"].sum(), part["decisive"].sum())
        held = f"{part['certified'].sum()} of {len(part)} certified after {part['games'].max():,} games"
        progress.report(f"{system}, {budget}", held, f"keeps the exact result on {share} of all decisive positions")


def _measured(
    settings: Config, solver: Solver, labels: Labels, chosen: np.ndarray, weights: Weights, named: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return a row for each budget: the network against every opponent, and its moves in all decisive positions."""
    game, truth = solver.game, settings.truth
    evaluator = Evaluator(weights, game, resolve_device(truth.device, truth.threads))
    factory = SearchFactory(game, evaluator, settings.search, truth.capacity, "truth.capacity")
    start, keeps, rows = game.start()[None], keeps_result(labels)[chosen], []
    exact = int(solver.label(start, margins=False).result[0])
    for particles in (0, *(truth.particles * count for count in settings.certify.batches)):
        choose = network_moves(factory, evaluator, truth.particles, particles, NO_DRAWS)
        found = certificates(explore(game, start, np.array([exact >= 0]), choose), solver).iloc[0]
        kept = keeps[np.arange(len(chosen)), choose(labels.states[chosen])].sum()
        told = ("certified", "result", *(["margin"] if game.has_margin else []), "positions", "holes", "random_wins")
        counted = {"kept": int(kept), "decisive": len(chosen), "kept_share": kept / len(chosen)}
        rows.append({**named, "particles": particles, **{name: found[name] for name in told}, **counted})
    return rows
