"""How the cores' time of a run was spent, and what of it the workflow itself may have cost.

A run of W seconds on K cores could do W·K seconds of work. Snakemake's benchmark files say how long each job took. Of
self-play and training, the files in costs/ say how long they were at work; the rest of those jobs is starting up and
reading. A core may be without a job because Snakemake is slow or because every job that is left waits for another: an
iteration cannot be trained before the last one was. So the run's time in which no network was trained bounds what
scheduling can have cost; jobs that go before and after all training, and waiting for a free core, are part of it.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from probzero.errors import bad
from probzero.files import COSTS
from probzero.report.tables import read_metrics

MEASURING = "measuring against truth"
KINDS = {"selfplay": "self-play", "train": "training", "match": "matches", "truth": MEASURING, "measure": MEASURING}
REST = "all other jobs"
STARTING = "starting up self-play and training"
WITHOUT_JOB = "a core without a job"
WITHOUT_TRAINING = "the run without a training job"


def cost(results: Path, wall: float, cores: int) -> pd.DataFrame:
    """Return how the cores' time of a finished run or study was spent: kind, jobs, seconds, share.

    Shares are of the cores' time; that of the last row is of the run's time.
    Fails if the jobs took more time than there was: then some are of an earlier run that this one went on from.
    """
    spent: dict[str, list[float]] = {name: [] for name in (*KINDS.values(), REST)}
    chains: dict[Path, float] = {}  # by folder of a seed
    for path in sorted(results.rglob("benchmarks/**/*.tsv")):
        folder = next(parent for parent in path.parents if parent.name == "benchmarks")
        kind = KINDS.get(path.relative_to(folder).with_suffix("").parts[0], REST)
        spent[kind].append(_seconds(path))
        if kind == KINDS["train"]:  # of one seed, one after another
            chains[folder] = chains.get(folder, 0.0) + spent[kind][-1]
    jobs = sum(map(sum, spent.values()))
    available = wall * cores
    if not 0 < jobs <= available:
        raise bad("cost", results, f"jobs of {available:.0f} s at most ({cores} cores, {wall:.0f} s)", f"{jobs:.0f} s")
    worked = sum(read_metrics(path, ["seconds"], COSTS)["seconds"] for path in results.glob("**/seed*/costs/*/*.json"))
    starting = max(0.0, sum(spent["self-play"]) + sum(spent["training"]) - worked)
    rows = [(name, len(seconds), sum(seconds)) for name, seconds in spent.items()]
    rows += [(STARTING, 0, starting), (WITHOUT_JOB, 0, available - jobs)]
    rows.append((WITHOUT_TRAINING, 0, wall - max(chains.values(), default=0.0)))
    table = pd.DataFrame(rows, columns=["kind", "jobs", "seconds"])
    table["share"] = table["seconds"] / ([available] * (len(rows) - 1) + [wall])
    return table


def _seconds(path: Path) -> float:
    try:
        return float(pd.read_csv(path, sep="\t").s.iloc[0])
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise bad("cost", path, "a benchmark file of Snakemake with a column s", error) from None
