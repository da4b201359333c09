"""The rules and the solver alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from probzero.benchmarks.positions import random_positions
from probzero.benchmarks.rows import Row, speed
from probzero.games.base import Game
from probzero.games.random_play import play_randomly
from probzero.truth.labels import Solver

POSITIONS = 4096


def engine(game: Game) -> Iterator[Row]:
    """Positions per second of legal moves and one move played: arrays of numpy and of torch, and the compiled form."""
    torch.set_num_threads(1)
    states = random_positions(game, POSITIONS, 0)
    actions = game.legal(states).argmax(1)
    loops, after = game.loops("probzero.benchmarks.rules_loop"), np.empty_like(states)

    def play(states: Any, actions: Any) -> None:
        game.legal(states)
        game.play(states, actions)

    forms = {"numpy": lambda: play(states, actions), "compiled": lambda: loops.play_first(states, after)}
    if game.tensor_form:
        tensors = torch.from_numpy(states), torch.from_numpy(actions)
        forms["torch"] = lambda: play(*tensors)
    for form, work in forms.items():
        case = f"{game.identity}, {form}"
        yield Row("rules", case, "legal moves and a move", speed(work, POSITIONS), "positions/s")


def solver(game: Game) -> Iterator[Row]:
    """Nodes per second of the solver on the start of a game, with an empty table."""
    finished = play_randomly(game, 1, game.longest_game, 0).states[-1]
    Solver(game, threads=1).label(finished, margins=game.has_margin, progress=False)  # loads compiled code
    solving = Solver(game, threads=1)
    began = time.perf_counter()
    solving.label(game.start()[None], margins=game.has_margin, progress=False)
    seconds = time.perf_counter() - began
    nodes, case = int(solving.workspaces[0].counters[solving.loops.NODES]), f"{game.identity} start, one thread"
    yield Row("solver", case, "nodes", nodes / seconds, "nodes/s")
    yield Row("solver", case, "time to solve", seconds, "s")
