"""Lines a person can follow: where the run is, how fast it goes, and about how long the learning will still take."""

from __future__ import annotations

import statistics
import time
from itertools import pairwise
from pathlib import Path

RECENT = 10  # iterations that speak for the speed of those to come


def report(*parts: str) -> None:
    """Print one line of the parts that are not empty."""
    print(" · ".join(part for part in parts if part), flush=True)


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
    return f"about {duration(usual * (iterations - iteration + 1) - spent)} of learning left"


def duration(seconds: float) -> str:
    """Return a length of time in the unit a person would choose."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
