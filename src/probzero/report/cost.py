"""What the workflow itself costs: the share of the cores' time in which no job did its work.

A run of W seconds on K cores could do W·K seconds of work. Snakemake's benchmark files say how long each job took. What
is missing is scheduling, and waiting at the end when less than K jobs are left. Of self-play and training, the files
they write say how long they were at work; the rest of those jobs is starting up and reading.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from probzero.errors import bad

KINDS = {"selfplay": "self-play", "train": "training", "match": "matches", "truth": "measuring against truth"}
REST = "all other jobs"
STARTING = "starting up self-play and training"
WAITING = "no job: scheduling and waiting"
WORKFLOW = "workflow in all (the last two)"


def cost(results: Path, wall: float, cores: int) -> pd.DataFrame:
    """Return how the cores' time of a finished run was spent: kind, jobs, seconds, share_of_cores_time.

    Fails if the jobs took more time than there was: then some are of an earlier run that this one went on from.
    """
    spent: dict[str, list[float]] = {name: [] for name in (*KINDS.values(), REST)}
    for path in sorted(results.rglob("benchmarks/**/*.tsv")):
        kind = path.relative_to(results).parts
        spent[KINDS.get(kind[kind.index("benchmarks") + 1], REST)].append(_seconds(path))
    jobs = sum(map(sum, spent.values()))
    available = wall * cores
    if not 0 < jobs <= available:
        raise bad("cost", results, f"jobs of {available:.0f} s at most ({cores} cores, {wall:.0f} s)", f"{jobs:.0f} s")
    worked = _working(results, "selfplay/*/shard*.json") + _working(results, "training/*.json")
    starting = max(0.0, sum(spent["self-play"]) + sum(spent["training"]) - worked)
    rows = [(name, len(seconds), sum(seconds)) for name, seconds in spent.items()]
    rows += [(STARTING, 0, starting), (WAITING, 0, available - jobs), (WORKFLOW, 0, starting + available - jobs)]
    table = pd.DataFrame(rows, columns=["kind", "jobs", "seconds"])
    table["share_of_cores_time"] = table.seconds / available
    return table


def _seconds(path: Path) -> float:
    try:
        return float(pd.read_csv(path, sep="\t").s.iloc[0])
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise bad("cost", path, "a benchmark file of Snakemake with a column s", error) from None


def _working(results: Path, pattern: str) -> float:
    """Return the seconds that the files of all seeds say were spent at work."""
    return sum(float(json.loads(path.read_text())["seconds"]) for path in sorted(results.glob(f"seed*/{pattern}")))
