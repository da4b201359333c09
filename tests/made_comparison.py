"""Inputs of a comparison as the workflow leaves them, made up with plausible numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from probzero.report.comparison_inputs import COSTS, IDEAS, MAIN

DISCS = np.arange(4, 24)
POSITIONS = np.array([2, 2, 6, 26, 30, 34, 36, 38, 40, 40, 40, 40, 38, 36, 36, 34, 32, 30, 30, 26])
ASYMPTOTES = {0: 0.86, 96: 0.955, 384: 0.985}
WORTH = dict(
    zip(
        (*MAIN, *IDEAS),
        (0, -0.35, -0.28, -0.25, -1.1, -0.3, -0.22, -0.12, -0.18, -0.15, -0.04, -0.02, 0.03),
        strict=True,
    )
)
ANCHORS = {"random": -580.0, "greedy": -520.0, "mobility": -400.0, "perfect": 70.0}


def points(variant: str, seed: int, iterations: Sequence[int], budgets: Sequence[int] = (0, 96, 384)) -> pd.DataFrame:
    """Return the points of one variant and seed: networks are good or bad in all bands together."""
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
                {"variant": variant, "seed": seed, "iteration": iteration, "particles": particles, "discs": discs,
                 "positions": count, "kept": won, **costs}
                for discs, count, won in zip(DISCS, POSITIONS, kept, strict=True)
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


def write(folder: Path, variants: Sequence[str], seeds: Sequence[int], iterations: Sequence[int]) -> list[str]:
    """Write all files and return the arguments that name them."""
    folder.mkdir(parents=True, exist_ok=True)
    point_files, rating_files = [], []
    for seed in seeds:
        for variant in variants:
            point_files.append(folder / f"{variant}-{seed}.csv")
            points(variant, seed, iterations).to_csv(point_files[-1], index=False)
        rating_files.append(folder / f"ratings-{seed}.csv")
        ratings(seed, variants).to_csv(rating_files[-1], index=False)
    return ["--points", *map(str, point_files), "--ratings", *map(str, rating_files)]
