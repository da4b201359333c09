"""Inputs of a study as the workflow leaves them, made up with plausible numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sealed import made

from probzero import config, files
from probzero.report.study.inputs import MEASURED, WORK
from probzero.tables import TABLE, write_csv

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
    for iteration in checkpoints(variant, iterations):
        work = dict(
            zip(WORK, (iteration * rate for rate in (256, 4500, 180_000 * _pace(variant), 90_000)), strict=True)
        )
        for particles in [budget for budget in budgets if budget > 0 or variant != "uct"]:
            top = ASYMPTOTES[particles]
            grown = top - (0 if variant == "uct" else (top - 0.43 - particles / 1600) * np.exp(-iteration / 7))
            logit = np.log(grown / (1 - grown)) + WORTH[variant] + luck + rng.normal(0, 0.05)
            kept = rng.binomial(POSITIONS, 1 / (1 + np.exp(-logit)))
            rows += [
                {"variant": variant, "seed": seed, "iteration": iteration, "particles": particles, "phase": phase,
                 "positions": count, "kept": won, "outcomes": won * "1" + (count - won) * "0", **work}
                for phase, count, won in zip(PHASES, POSITIONS, kept, strict=True)
            ]  # fmt: skip
    return pd.DataFrame(rows)


def costs(variant: str, seed: int, iterations: Sequence[int], slower: float = 1) -> pd.DataFrame:
    """Return what its checkpoints cost on a machine that is `slower`."""
    pace = _pace(variant)
    rates = {
        "network_evaluations": 160_000 * pace, "network_calls": 285, "cache_hits": 20_000 * pace,
        "selfplay_seconds": 10.5 * pace * slower, "training_seconds": 14.0 * slower,
    }  # fmt: skip
    spent = [
        {"variant": variant, "seed": seed, "iteration": iteration}
        | {name: iteration * rate for name, rate in rates.items()}
        for iteration in checkpoints(variant, iterations)
    ]
    return pd.DataFrame(spent)


def checkpoints(variant: str, iterations: Sequence[int]) -> Sequence[int]:
    return [0] if variant == "uct" else iterations


def _pace(variant: str) -> float:
    """Return how much more work and time an iteration takes than one of the reference."""
    return 1.15 if variant in ("no-reuse", "no-dag") else 0.9 if variant.startswith("alphazero") else 1.0


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
    """Write the record of a study that has these variants alone, in their order."""
    chosen = {name: RECORD["variants"][name] for name in names}
    data = json.dumps({**RECORD, "variants": chosen, **changes}, indent=2).encode()
    files.write(path, data, config.KIND, made())
    return path


def write_by_seed(folder: Path, name: str, table: pd.DataFrame, kind: str) -> list[Path]:
    """Write the rows of each seed into a file of their own, sealed as of that seed; one file if there is no row."""
    parts = list(table.groupby("seed")) or [(0, table)]
    paths = [folder / f"{name}-{seed}.csv" for seed, _ in parts]
    for path, (seed, rows) in zip(paths, parts, strict=True):
        write_csv(path, rows, kind, made(seed=int(seed)))
    return paths


def write_inputs(
    folder: Path,
    variants: Sequence[str],
    seeds: Sequence[int],
    iterations: Sequence[int],
    budgets: Sequence[int] = (0, 96, 384),
    slower: float = 1,
) -> tuple[list[Path], list[Path], list[Path]]:
    """Write measures and costs of every variant and seed and ratings of every seed; return the files of each."""
    measured, spent, rated = [], [], []
    for seed in seeds:
        for name in variants:
            measured += write_by_seed(folder / name, "measures", measures(name, seed, iterations, budgets), MEASURED)
            spent += write_by_seed(folder / name, "costs", costs(name, seed, iterations, slower), files.COSTS)
        rated += write_by_seed(folder, "ratings", ratings(seed, variants), TABLE)
    return measured, spent, rated


def write(
    folder: Path, variants: Sequence[str], seeds: Sequence[int], iterations: Sequence[int], slower: float = 1
) -> list[str]:
    """Write all files and return the arguments that name them."""
    record = write_record(folder / "config.json", variants)
    parts = write_inputs(folder, variants, seeds, iterations, slower=slower)
    return ["--study", str(record), *named(*parts)]


def named(*parts: Sequence[Path]) -> list[str]:
    """Return arguments that name measures, costs and ratings."""
    options = ("--measures", "--costs", "--ratings")
    return [word for option, paths in zip(options, parts, strict=True) for word in (option, *map(str, paths))]
