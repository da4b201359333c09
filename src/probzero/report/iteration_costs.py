"""What every iteration of a run cost: times and the work of the cache, which no other table of the run holds.

They depend on the machine, on what else it does and on whether evaluations are kept; all else of a run does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from probzero import files
from probzero.errors import bad
from probzero.report.tables import by_iteration, by_shard, summed

SELFPLAY = ("network_evaluations", "network_calls", "cache_hits", "seconds", "network_seconds")  # of a shard
RATES = ("leaf_evaluations", "network_evaluations")


def collect_selfplay_costs(paths: Iterable[str | Path], **wanted: Any) -> pd.DataFrame:
    """Return one row per iteration, summed over its shards, ordered by iteration.

    A leaf is evaluated by the network or by the cache. Shards run side by side, so rates add up: Σ_shard evaluations /
    seconds. Where there are fewer processors than shards they are those of a machine with enough of them. `seconds` is
    the sum over shards. Here and below, `wanted` is what the origin of every file must be.
    """
    shards = by_shard(paths, SELFPLAY, "self-play costs", "seconds", files.COSTS, **wanted)
    shards["leaf_evaluations"] = shards["network_evaluations"] + shards["cache_hits"]
    rates = {f"{name}_per_second": shards[name] / shards["seconds"] for name in RATES}
    return summed(shards.assign(**rates))


def collect_training_costs(paths: Iterable[str | Path], **wanted: Any) -> pd.DataFrame:
    """Return one row per iteration, ordered by iteration."""
    return by_iteration(paths, ("iteration", "seconds"), "training costs", files.COSTS, **wanted)


def collect_costs(
    selfplay: Iterable[str | Path], trained: Iterable[str | Path], training: pd.DataFrame, **wanted: Any
) -> pd.DataFrame:
    """Return one row per iteration from the costs that self-play and training left; `training` has the samples.

    `cumulative_seconds` are those of all self-play and training up to the iteration, one after another.
    """
    played, learned = collect_selfplay_costs(selfplay, **wanted), collect_training_costs(trained, **wanted)
    iterations = training["iteration"].tolist()
    for what, found in (("self-play costs", played), ("training costs", learned)):
        if found["iteration"].tolist() != iterations:
            raise bad(what, "iterations", iterations, found["iteration"].tolist())
    seconds, leaves = played["seconds"], played["leaf_evaluations"]
    return pd.DataFrame(
        {
            "iteration": iterations,
            "selfplay_seconds": seconds,
            "network_seconds": played["network_seconds"],
            "network_share": played["network_seconds"] / seconds,
            **{f"{name}_per_second": played[f"{name}_per_second"] for name in RATES},
            "network_evaluations": played["network_evaluations"],
            "network_calls": played["network_calls"],
            "cache_hits": played["cache_hits"],
            "cache_hit_share": played["cache_hits"] / leaves,
            "training_seconds": learned["seconds"],
            "samples_per_second": training["samples"] / learned["seconds"],
            "cumulative_seconds": (seconds + learned["seconds"]).cumsum(),
        }
    )
