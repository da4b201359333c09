"""Inputs of a study as the workflow leaves them, made up with plausible numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from probzero.report.study.inputs import COSTS

RECORD: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "results" / "reference" / "study" / "config.json").read_text(encoding="utf-8")
)
PHASES = np.arange(4, 24)
POSITIONS = np.array([2, 2, 6, 26, 30, 34, 36, 38, 40, 40, 40, 40, 38, 36, 36, 34, 32, 30, 30, 26])
ASYMPTOTES = {0: 0.86, 96: 0.955, 384: 0.985}
WORTH = dict(
    zip(
        RECORD["variants"],
        (0, -0.35, -0.28, -0.25, -1.1, -0.3, -0.22, -0.12, -0.18, -0.15, -0.04, -0.02, 0.03),
        strict=True,
    )
)
ANCHORS = {"random": -580.0, "greedy": -520.0, "mobility": -400.0, "perfect": 70.0}


def measures(variant: str, seed: int, iterations: Sequence[int], budgets: Sequence[int] = (0, 96, 384)) -> pd.DataFrame:
    """Return the measures of one variant and seed: networks are good or bad in all bands together."""
    rng = np.random.default_rng([seed, list(WORTH).index(variant)])
    luck = rng.normal(0, 0.07)
    rows = []
    for iteration in [0] if variant == "uct" else iterations:
        costs = {name: iteration * rate for name, rate in zip(COSTS, _rates(variant), strict=True)}
        for particles in [budget for budget in budgets if budget > 0 or variant != "uct"]:
            top = ASYMPTOTES[particles]
            grown = top - (0 if variant == "uct" else (top - 0.43 - particles / 1600) * np.exp(-iteration / 7))
            logit = np.log(grown / (1 - grown)) + WORTH[variant] + luck + rng.normal(0, 0.05)
            kept = rng.binomial(POSITIONS, 1 / (1 + np.exp(-logit)))
            rows += [
                {"variant": variant, "seed": seed, "iteration": iteration, "particles": particles, "phase": phase,
                 "positions": count, "kept": won, **costs}
                for phase, count, won in zip(PHASES, POSITIONS, kept, strict=True)
            ]  # fmt: skip
    return pd.DataFrame(rows)


def _rates(variant: str) -> tuple[float, ...]:
    """Return what an iteration costs, in the order of COSTS."""
    if variant == "uct":
        return (0.0,) * len(COSTS)
    slow = 1.15 if variant in ("no-reuse", "no-dag") else 0.9 if variant.startswith("alphazero") else 1.0
    return (256, 4500, 180_000 * slow, 160_000 * slow, 285, 20_000, 90_000, 10.5 * slow, 14.0)


def ratings(seed: int, variants: Sequence[str]) -> pd.DataFrame:
    rng = np.random.default_rng([seed, 99])
    players = {name: 160 * WORTH[name] for name in variants} | ANCHORS
    rating = np.array(list(players.values())) + 580 + rng.normal(0, 20, len(players))
    error = np.full(len(players), 14.0)
    low, high = rating - 1.98 * error, rating + 1.98 * error
    return pd.DataFrame(
        {"seed": seed, "player": list(players), "rating": rating, "low": low, "high": high, "standard_error": error}
    )


def write_record(path: Path, names: Sequence[str] = (), **changes: object) -> Path:
    """Write the record of a study that has these variants alone."""
    chosen = {name: RECORD["variants"][name] for name in names}
    path.write_text(json.dumps({**RECORD, "variants": chosen, **changes}), encoding="utf-8")
    return path


def write(folder: Path, variants: Sequence[str], seeds: Sequence[int], iterations: Sequence[int]) -> list[str]:
    """Write all files and return the arguments that name them."""
    folder.mkdir(parents=True, exist_ok=True)
    record = write_record(folder / "config.json", variants)
    measure_files, rating_files = [], []
    for seed in seeds:
        for variant in variants:
            measure_files.append(folder / f"{variant}-{seed}.csv")
            measures(variant, seed, iterations).to_csv(measure_files[-1], index=False)
        rating_files.append(folder / f"ratings-{seed}.csv")
        ratings(seed, variants).to_csv(rating_files[-1], index=False)
    return ["--study", str(record), "--measures", *map(str, measure_files), "--ratings", *map(str, rating_files)]
