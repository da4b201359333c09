"""Time and memory of a leaf as games and boards grow: each shard in a process of its own, in turns over rounds.

    python -m probzero.benchmarks.growth CONFIGURATION ROUND

plays one shard and writes one line of JSON. Its capacity is in proportion to its games, as a user would set it: memory
that is set aside in hash tables belongs to the leaves too. The memory of a shard is by how much the process's peak is
above what it holds once a few games have been played, when libraries and compiled code are loaded.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import psutil

from probzero import config
from probzero.benchmarks.search import evaluator_of, game_of, played
from probzero.config import Config
from probzero.errors import bad

GAMES = (20, 64, 256, 1024)
BOARD_GAMES = 64  # on each board
BATCHES = 4  # a move: enough for a graph, and the largest case takes a minute
FIRST_GAMES, FIRST_CAPACITY = 4, 200_000  # games that say what capacity a game needs, far smaller than any case
SPARE = 1.5  # times that
MEASURES = ("microseconds", "network_microseconds", "bytes")


class Case(NamedTuple):
    growing: str  # games or board
    config: Config

    @property
    def board(self) -> str:
        shape = game_of(self.config).shape
        return f"{shape.height}x{shape.width}"


def cases(setting: Config) -> list[Case]:
    """Return what to measure: more games on a configuration's board, then that board and all larger ones."""
    base = setting.changed(selfplay={"batches": BATCHES, "threads": 1})
    found = [Case("games", base.changed(selfplay={"games": count})) for count in GAMES]
    entry, own = setting.game.entry, setting.game.options
    larger = [[choice for choice in entry.options[name] if choice >= own[name]] for name in entry.board]
    for board in product(*larger):
        values = dict(zip(entry.board, board, strict=True))
        # Some anchors need a solver, which larger boards have not.
        found.append(Case("board", base.changed(game=values, selfplay={"games": BOARD_GAMES}, arena={"anchors": ()})))
    return found


def measure(setting: Config, number: int) -> dict[str, float]:
    """Play one shard; return microseconds and bytes a leaf."""
    evaluator, games = evaluator_of(setting), setting.selfplay.games
    first = played(setting.changed(selfplay={"games": FIRST_GAMES, "capacity": FIRST_CAPACITY}), evaluator)
    capacity = round(SPARE * games / FIRST_GAMES * first["entered_positions"])
    forget_peak()
    before = psutil.Process().memory_info().rss
    done = played(setting.changed(selfplay={"capacity": capacity}), evaluator, iteration=number)
    leaves = done["leaf_evaluations"]
    return {
        "leaf_evaluations": leaves,
        "microseconds": 1e6 * done["seconds"] / leaves,
        "network_microseconds": 1e6 * done["network_seconds"] / leaves,
        "bytes": (peak() - before) / leaves,
    }


def forget_peak() -> None:
    """Let the peak of memory begin anew, where the system can: compiling takes more than a small shard does."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """Return the most bytes of memory that the process has had."""
    with suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024 * int(next(line.split()[1] for line in lines if line.startswith("VmHWM:")))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def in_process(setting: Config, number: int) -> dict[str, float]:
    """Return the same, measured in a process of its own."""
    command = [sys.executable, "-m", "probzero.benchmarks.growth", json.dumps(setting.as_dict()), str(number)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        said = ended.stderr.strip().splitlines() or ["nothing"]
        raise bad("growth", f"{setting.selfplay.games} games", "a measured shard", said[-1])
    return json.loads(ended.stdout)


def growth(setting: Config, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each case, all of them measured in turns."""
    found = cases(setting)
    measured: list[list[dict[str, float]]] = [[] for _ in found]
    for number in range(1, rounds + 1):
        for case, rows in zip(found, measured, strict=True):
            rows.append(in_process(case.config, number))
    for case, rows in zip(found, measured, strict=True):
        yield summary(case, rows)


def summary(case: Case, rows: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Return the row of a case: of each measure the median over rounds, the lowest and the highest."""
    table = pd.DataFrame(rows)
    table["other_microseconds"] = table["microseconds"] - table["network_microseconds"]
    row: dict[str, Any] = {
        "growing": case.growing,
        "board": case.board,
        "games": case.config.selfplay.games,
        "leaf_evaluations": table["leaf_evaluations"].median(),
    }
    for name in (*MEASURES, "other_microseconds"):
        low, median, high = table[name].min(), table[name].median(), table[name].max()
        row |= {f"{name}_per_leaf": median, f"{name}_per_leaf_low": low, f"{name}_per_leaf_high": high}
    return row


if __name__ == "__main__":
    print(json.dumps(measure(config.load(sys.argv[1]), int(sys.argv[2]))))
