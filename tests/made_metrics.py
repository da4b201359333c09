"""What self-play and training leave behind, with invented numbers."""

from __future__ import annotations

from typing import Any

from probzero.report import tables


def shard(iteration: int, number: int, **changes: float) -> dict[str, Any]:
    metrics: dict[str, Any] = dict.fromkeys(tables.SHARD_SUMS, 10) | {
        "iteration": iteration, "shard": number, "mean_plies": 20.0, "leaf_evaluations": 1000,
    }  # fmt: skip
    return metrics | changes


def training(iteration: int, **changes: float) -> dict[str, Any]:
    metrics: dict[str, Any] = dict.fromkeys(tables.TRAINING, 0.5) | {
        "iteration": iteration,
        "samples": 4096,
        "steps": 8,
    }
    return metrics | changes
