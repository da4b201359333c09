"""probzero certify: what a network is worth against every opponent, exactly, and a file that proves it."""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from probzero import files
from probzero.commands import arguments, progress
from probzero.devices import resolve_device
from probzero.network.checkpoint import load_weights
from probzero.network.inference import Evaluator
from probzero.search.build import SearchFactory
from probzero.tables import write_csv
from probzero.truth.best_response import Choose, explore
from probzero.truth.certificate import (
    FILE_KIND,
    KIND,
    NO_DRAWS,
    as_file,
    certificates,
    keys_for,
    network_moves,
    won_positions,
)
from probzero.truth.labels import Solver, check_solvable

NEEDS = ("experiment", "game", "search", "truth", "certify")
EXAMPLES = """examples:
  probzero certify results/laptop/seed0/checkpoints/0060.safetensors --output certify.csv
                                          is its policy alone beaten from the start, and by which line?
  probzero certify results/laptop/seed0/checkpoints/0060.safetensors --particles 0,96 --output certify.csv \\
      --certificate certificate.json.gz   the same with 96 particles too, and the proof as a file

A program apart checks the proof, python tools/check_certificate.py certificate.json.gz: see docs/certificates.md."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_checkpoint(parser)
    arguments.add_imported(parser)
    parser.add_argument("--name", help="what to call the network (default: the name of its file)")
    parser.add_argument("--seed", type=int, metavar="S", help="refuse a network of another seed")
    summary = "budgets certified from the start (default: 0, the raw policy)"
    parser.add_argument("--particles", type=arguments.numbers, default=(0,), metavar="N,N,…", help=summary)
    summary = "budgets certified from every won position of the configured phase (default: none)"
    parser.add_argument("--won", type=arguments.numbers, default=(), metavar="N,N,…", help=summary)
    summary = "budgets certified from the start under each key of random draws too (default: none)"
    parser.add_argument("--keyed", type=arguments.numbers, default=(), metavar="N,N,…", help=summary)
    parser.add_argument("--keys", type=int, default=8, metavar="N", help="how many keys (default: 8)")
    arguments.add_path(parser, "--output", "where to write the table")
    summary = "where to write the certificate: of the first agent that nobody beats from the start, else of the first"
    parser.add_argument("--certificate", type=Path, metavar="FILE", help=summary)


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    check_solvable(game)
    truth, name = settings.truth, args.name or args.checkpoint.stem
    for option in ("particles", "won", "keyed"):
        arguments.check_budgets(option, getattr(args, option), truth.particles)
    made = arguments.made(args, settings, NEEDS).about(name)
    model, info = load_weights(args.checkpoint, game, imported=args.imported, **arguments.of_run(made))
    evaluator = Evaluator(model, game, resolve_device(truth.device, truth.threads))
    factory = SearchFactory(game, evaluator, settings.search, truth.capacity, "truth.capacity")
    solver = Solver(game, threads=truth.threads)
    exact = int(solver.label(game.start()[None], margins=False).result[0])
    begins = game.start()[None], np.array([exact >= 0])  # the agent plays the side that has the win, if one has it
    keys = partial(keys_for, settings.search)
    won = won_positions(solver, settings.certify.won_phase) if args.won else game.start()[None][:0]
    # Source, starts, is the agent to move there, particles, key.
    agents = [("start", *begins, particles, key) for particles in args.particles for key in keys(particles, 0)]
    agents += [("start", *begins, n, key) for n in args.keyed for key in keys(n, args.keys) if key != NO_DRAWS]
    agents += [("won", won, np.ones(len(won), dtype=bool), n, key) for n in args.won if len(won) for key in keys(n, 0)]
    parts, best = [], None
    for source, starts, turn, particles, key in agents:
        choose = network_moves(factory, evaluator, truth.particles, particles, key)
        with progress.bar(f"{name}, {particles} particles: positions met", None) as tell:
            reach = explore(game, starts, turn, _counted(choose, tell))
        table = certificates(reach, solver)
        named = {"player": name, "source": source, "particles": particles, "key": key}
        parts.append(table.assign(**named)[[*named, *table.columns]])
        _say(parts[-1])
        held = bool(table["certified"].all())
        if source == "start" and (best is None or (held and not best[0])):
            best = held, reach, named
    everything = pd.concat(parts, ignore_index=True)
    write_csv(args.output, everything, KIND, made.at(info.made.iteration))
    if args.certificate is not None and best is not None:
        _, reach, named = best
        content = gzip.compress(as_file(reach, [0], named), mtime=0)
        files.write(args.certificate, content, FILE_KIND, made.at(info.made.iteration))


def _counted(choose: Choose, tell: Callable[[int], None]) -> Choose:
    """Return the same moves, telling how many were asked for."""
    asked = 0

    def counting(states: np.ndarray) -> np.ndarray:
        nonlocal asked
        moves = choose(states)
        asked += len(states)
        tell(asked)
        return moves

    return counting


def _say(table: pd.DataFrame) -> None:
    first = table.iloc[0]
    budget = "raw" if first["particles"] == 0 else f"{first['particles']} particles"
    agent = budget if first["key"] == NO_DRAWS else f"{budget}, key {first['key']}"
    held = f"certified from {table['certified'].sum()} of {len(table)} won positions"
    if first["source"] == "start":
        side = "first" if first["moves_first"] else "second"
        outcome = {1: "wins", 0: "draws", -1: "loses"}[int(first["result"])]
        margin = f" by {first['margin']:+}" if "margin" in table else ""
        held = f"{'certified' if first['certified'] else 'beaten'}: moving {side} it {outcome}{margin} at the worst"
    said = f"{table['positions'].max():,} positions", f"{table['holes'].sum():,} holes"
    progress.report(f"certificate, {first['player']}, {agent}", held, *said)
