"""Lines a person can follow: where the run is, how fast it goes, and about how long the learning will still take."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

TENTHS = 10
RECENT = 10  # iterations that speak for the speed of those to come


def report(*parts: str) -> None:
    """Print one line of the parts that are not empty."""
    print(" · ".join(part for part in parts if part), flush=True)


@contextmanager
def bar(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Yield a function that is told how much is done: a bar where there is a terminal, else a line at every tenth.

    Where nobody knows the total, a terminal shows how much is done, and lines are left to the command."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
            task = shown.add_task(what, total=total)
            yield lambda done: shown.update(task, completed=done)
        return
    told = 0

    def tell(done: int) -> None:
        nonlocal told
        if total is None:
            return
        if done * TENTHS // total > told:
            told = done * TENTHS // total
            print(f"{what} · {done} of {total}", file=sys.stderr, flush=True)

    yield tell


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "– %"


def where(iteration: int, iterations: int | None) -> str:
    if iterations is None:
        return f"iteration {iteration}"
    return f"iteration {iteration}/{iterations}" if iteration <= iterations else f"after iteration {iterations}"


def time_left(checkpoint: Path, iteration: int, iterations: int | None) -> str:
    """Say how long learning will still take, judging by when the newest checkpoints were written; "" if unknown.

    `checkpoint` is the one that `iteration` started from, in the folder of all of them. An iteration takes the median
    of the newest gaps between checkpoints, so that a pause between two runs does not count.
    """
    if iterations is None or not 2 <= iteration <= iterations:
        return ""
    numbers = range(max(0, iteration - 1 - RECENT), iteration)
    try:
        written = [(checkpoint.parent / f"{number:04}{checkpoint.suffix}").stat().st_mtime for number in numbers]
    except FileNotFoundError:
        return ""
    usual = statistics.median(later - earlier for earlier, later in pairwise(written))
    spent = min(time.time() - written[-1], usual)
    return f"about {(usual * (iterations - iteration + 1) - spent) / 60:.0f} min of learning left"
