"""The rules and the solver alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from probzero.benchmarks.positions import random_positions
from probzero.benchmarks.rows import Row, speed
from probzero.games.othello import SIZES, Othello, othello
from probzero.truth.labels import Solver
from probzero.truth.solver import NODES

POSITIONS = 4096


def engine() -> Iterator[Row]:
    """Positions per second of legal moves and one move played, as arrays of numpy and of torch."""
    torch.set_num_threads(1)
    for size in SIZES:
        rules = othello(size)
        own, opp = random_positions(rules, POSITIONS, 0)
        action = rules.legal(own, opp).argmax(1)

        def play(own: Any = own, opp: Any = opp, action: Any = action, rules: Othello = rules) -> None:
            rules.legal(own, opp)
            rules.place(own, opp, action)

        yield Row("rules", f"{size}x{size}, numpy", "legal moves and a move", speed(play, len(own)), "positions/s")
        tensors = [torch.from_numpy(np.ascontiguousarray(part)) for part in (own, opp, action)]
        rate = speed(lambda tensors=tensors, play=play: play(*tensors), len(own))  # type: ignore[misc]
        yield Row("rules", f"{size}x{size}, torch", "legal moves and a move", rate, "positions/s")


def solver() -> Iterator[Row]:
    """Nodes per second of the solver on the start of 5×5, with an empty table."""
    rules = othello(5)
    own, opp = (np.array([side]) for side in rules.start())
    Solver(4, threads=1).label(*(np.array([side]) for side in othello(4).start()), progress=False)  # loads it
    solving = Solver(5, threads=1)
    began = time.perf_counter()
    solving.label(own, opp, progress=False)
    seconds = time.perf_counter() - began
    yield Row(
        "solver", "5x5 start, one thread", "nodes", int(solving.workspaces[0].counters[NODES]) / seconds, "nodes/s"
    )
    yield Row("solver", "5x5 start, one thread", "time to solve", seconds, "s")
