"""probzero choose: what a network plays in positions of one's own, to be scored with labels of one's own."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from probzero.bits import signed
from probzero.commands import arguments, progress
from probzero.devices import resolve_device
from probzero.errors import ProbZeroError, bad
from probzero.files import read_bytes
from probzero.games.base import Game
from probzero.network.checkpoint import load_weights
from probzero.network.inference import Evaluator
from probzero.search.build import SearchFactory
from probzero.tables import TABLE, parse_table, refuse, write_csv
from probzero.truth.certificate import network_moves

NEEDS = ("experiment", "game", "search", "truth")
EXAMPLES = """examples:
  probzero choose results/laptop/seed0/checkpoints/0060.safetensors positions.csv --output moves.csv
  probzero choose results/laptop/seed0/checkpoints/0060.safetensors positions.csv --particles 0,96 --output moves.csv

where positions.csv holds, for instance, the start of 5×5 Othello as Black sees it:
  own,opp
  2176,4160"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_checkpoint(parser)
    summary = "CSV with the columns own,opp: sets of squares as numbers (bit row·width + column), own of who is to move"
    parser.add_argument("positions", type=Path, metavar="POSITIONS.csv", help=summary)
    arguments.add_imported(parser)
    summary = "particles a move, 0 for the raw policy (default: 0)"
    parser.add_argument("--particles", type=arguments.numbers, default=(0,), metavar="N,N,…", help=summary)
    parser.add_argument("--key", type=int, default=0, metavar="K", help="key of the search's random draws (default: 0)")
    arguments.add_path(parser, "--output", "where to write the moves")


def run(args: argparse.Namespace) -> None:
    settings, game = arguments.load(args, NEEDS)
    truth = settings.truth
    arguments.check_budgets("particles", args.particles, truth.particles)
    states = read_states(args.positions, game)
    made = arguments.made(args, settings, NEEDS)
    model, _ = load_weights(args.checkpoint, game, imported=args.imported, settings=made.settings)
    evaluator = Evaluator(model, game, resolve_device(truth.device, truth.threads))
    factory = SearchFactory(game, evaluator, settings.search, truth.capacity, "truth.capacity")
    unsigned = states.view(np.uint64)
    parts = []
    for particles in args.particles:
        choose = network_moves(factory, evaluator, truth.particles, particles, args.key)
        table = pd.DataFrame(dict(zip(game.word_names, unsigned.T, strict=True)))
        parts.append(table.assign(particles=particles, move=[game.move_name(int(move)) for move in choose(states)]))
    write_csv(args.output, pd.concat(parts, ignore_index=True), TABLE, made)
    progress.report("moves", f"{len(states):,} positions", f"{len(args.particles)} budgets")


def read_states(path: Path, game: Game) -> np.ndarray:
    """Return the positions int64 [n, W] of a CSV file with a column for each word of a state; refuse what is none."""
    table = parse_table(read_bytes(path, "positions"), path, dict.fromkeys(game.word_names, str), "positions")
    words = []
    for column in game.word_names:
        wrong = ~table[column].str.fullmatch(r"\d{1,20}")
        refuse(path, table, column, wrong, "a whole number, not negative", "positions")
        numbers = [int(text) for text in table[column]]
        wrong = pd.Series([number >= 1 << 64 for number in numbers])
        refuse(path, table, column, wrong, "64 bits", "positions")
        words.append([signed(number) for number in numbers])
    states = np.array(words, dtype=np.int64).T.copy()
    try:
        game.check_states(states)
    except ProbZeroError as error:
        raise ProbZeroError(f"positions: {path}: {error}") from None
    over = game.finished(states)
    if over.any():
        line = int(np.argmax(over)) + 2
        raise bad("positions", f"{path}: line {line}", "a game that goes on", game.to_text(states[line - 2]))
    return states
