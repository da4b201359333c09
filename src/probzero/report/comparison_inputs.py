"""What the variants of a comparison left behind, checked: shares of kept results, costs and ratings of every seed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
import pandas as pd

from probzero.errors import bad
from probzero.report import seeds
from probzero.report.tables import read_table
from probzero.report.truth import DISCS_PER_BAND

RAW = 0  # particles a move of the policy alone
COSTS = (
    "games", "moves", "leaf_evaluations", "network_evaluations", "network_calls", "cache_hits", "samples_seen",
    "selfplay_seconds", "training_seconds",
)  # fmt: skip
CHECKPOINT = ["variant", "particles", "iteration"]
POINTS = (*CHECKPOINT, "seed", "discs", "positions", "kept", *COSTS)
RATINGS = ("seed", "player", "rating", "standard_error")
NAMES = ("variant", "player")
MAIN = ("probzero", "alphazero", "alphazero-alike", "alphazero-minmax", "uct")
IDEAS = {
    "root-only": "whole-tree targets",
    "visit-policy": "winner_prob policy targets",
    "no-bootstrap": "reward bootstrap",
    "no-reward": "reward bootstrap",
    "plain-training": "training for the policy",
    "multinomial": "engineering",
    "no-reuse": "engineering",
    "no-dag": "engineering",
}  # of each ablation, what it takes away
SETTING = "settings"  # what any other variant changes


@dataclass(frozen=True)
class Shares:
    """Shares of kept results of one variant at one checkpoint and budget."""

    scores: np.ndarray  # [seeds, strata]
    positions: np.ndarray  # [strata]

    @cached_property
    def totals(self) -> np.ndarray:
        """Σ kept / Σ positions [seeds]."""
        return seeds.overall(self.scores, self.positions)


@dataclass(frozen=True)
class Comparison:
    """Everything that was measured; variants in the order in which they are shown, the reference first."""

    reference: str
    variants: tuple[str, ...]
    seeds: tuple[int, ...]
    shares: dict[tuple[str, int, int], Shares]  # by variant, particles and iteration
    costs: pd.DataFrame  # one row per variant, iteration and seed, ordered by them
    ratings: pd.DataFrame  # one row per player and seed, players in order: variants, then anchors

    def budgets(self, variant: str) -> list[int]:
        """Return the particles a move that a variant was measured with, in rising order."""
        return sorted({particles for name, particles, _ in self.shares if name == variant})

    def checkpoints(self, variant: str, particles: int) -> list[int]:
        return sorted(number for name, budget, number in self.shares if (name, budget) == (variant, particles))

    def final(self, variant: str, particles: int) -> Shares | None:
        """Return the shares of the last checkpoint; None if the variant was not measured with these particles."""
        numbers = self.checkpoints(variant, particles)
        return self.shares[variant, particles, numbers[-1]] if numbers else None

    def cost(self, variant: str, iteration: int) -> pd.DataFrame:
        """Return what a checkpoint had cost, one row per seed."""
        return self.costs[(self.costs["variant"] == variant) & (self.costs["iteration"] == iteration)]

    def learns(self, variant: str) -> bool:
        """Return whether there is a checkpoint after the first: anchors and plain search have none."""
        return bool((self.costs.loc[self.costs["variant"] == variant, "iteration"] > 0).any())

    @property
    def largest(self) -> int:
        return max(self.budgets(self.reference))

    @property
    def players(self) -> list[str]:
        return list(self.ratings["player"].unique())

    def rated(self, player: str) -> pd.DataFrame:
        return self.ratings[self.ratings["player"] == player]


def read_comparison(points: Iterable[Path], ratings: Iterable[Path], reference: str) -> Comparison:
    """Read the points of every variant and seed and the ratings of every seed; refuse what does not fit together."""
    table = _read("points", points, POINTS, [*CHECKPOINT, "seed", "discs"])
    rated = _read("ratings", ratings, RATINGS, ["player", "seed"])
    if reference not in set(table["variant"]):
        raise bad("points", "variants", f"{reference}, the reference, among them", ", ".join(table["variant"].unique()))
    variants, found = _ordered(table["variant"].unique(), reference), sorted(table["seed"].unique())
    players = list(dict.fromkeys([*variants, *rated["player"]]))
    _check_seeds("points", table["variant"], table["seed"], variants, found)
    _check_seeds("ratings", rated["player"], rated["seed"], players, found)
    table = table[table["positions"] > 0]
    _check_positions(table, reference, len(found))
    rank = rated["player"].map(players.index)
    return Comparison(
        reference=reference,
        variants=tuple(variants),
        seeds=tuple(map(int, found)),
        shares=_shares(table, len(found)),
        costs=_costs(table),
        ratings=rated.assign(rank=rank).sort_values(["rank", "seed"], ignore_index=True).drop(columns="rank"),
    )


def _read(what: str, paths: Iterable[Path], columns: Sequence[str], unique: list[str]) -> pd.DataFrame:
    """Read tables that must have these columns with every cell filled, and no row of `unique` twice."""
    joined = pd.concat([_read_one(what, path, columns, unique) for path in paths], ignore_index=True)
    if joined.empty:
        raise bad(what, "rows", "one or more", "none")
    twice = joined.duplicated(unique)
    if twice.any():
        raise bad(what, _where(joined[twice].iloc[0], unique), "once", "more than once")
    return joined


def _read_one(what: str, path: Path, columns: Sequence[str], unique: list[str]) -> pd.DataFrame:
    try:
        table = read_table(path, columns)[list(columns)]
    except (TypeError, ValueError) as error:
        raise bad(what, path, "numbers", error) from None
    for column in columns:
        cells = table[column]
        if column in NAMES:
            wrong, expected = cells.isna().to_numpy(), "a name"
            table[column] = cells.astype(str)
        else:
            numbers = pd.to_numeric(cells, errors="coerce").to_numpy(float, na_value=np.nan)
            wrong, expected = ~np.isfinite(numbers), "a number"
            if column in unique:
                wrong, expected = wrong | (numbers % 1 != 0), "a whole number"
            table[column] = numbers
        if wrong.any():
            line = int(np.argmax(wrong))
            raise bad(what, f"{path}: line {line + 2}: column {column}", expected, cells.iloc[line])
    return table.astype({column: int for column in unique if column not in NAMES})


def _where(row: pd.Series, columns: Iterable[str]) -> str:
    return ", ".join(f"{name} {row[name]}" for name in columns)


def _ordered(names: Iterable[str], reference: str) -> list[str]:
    """Return the reference, then the main variants, then ablations by idea, then others as they come."""
    known = list(dict.fromkeys([reference, *MAIN, *IDEAS]))
    found = list(names)
    return [name for name in known if name in found] + [name for name in found if name not in known]


def _check_seeds(what: str, names: pd.Series, seeds: pd.Series, wanted: Iterable[str], expected: list[int]) -> None:
    for name in wanted:
        seen = sorted(seeds[names == name].unique())
        if seen != expected:
            raise bad(what, name, f"seeds {', '.join(map(str, expected))}", ", ".join(map(str, seen)) or "none")


def _check_positions(points: pd.DataFrame, reference: str, count: int) -> None:
    """Refuse points that are not shares of the same positions: every variant, checkpoint and seed must have met all."""
    wrong = points[(points["kept"] < 0) | (points["kept"] > points["positions"])]
    if len(wrong):
        row = wrong.iloc[0]
        where = _where(row, [*CHECKPOINT, "seed", "discs"])
        raise bad("points", where, f"0 to {row['positions']:.0f} kept", f"{row['kept']:.0f}")
    met = points.pivot_table("positions", [*CHECKPOINT, "seed"], "discs", fill_value=0)
    for particles, rows in met.groupby(level="particles"):
        own = rows.index.get_level_values("variant") == reference
        if not own.any():
            raise bad("points", f"{reference}, particles {particles}", "measured, like other variants", "nothing")
        other = rows != rows[own].iloc[0]
        if other.any(axis=None):
            row, column = np.argwhere(other.to_numpy())[0]
            where = _where(rows.iloc[[row]].reset_index().iloc[0], [*CHECKPOINT, "seed"])
            expected = f"{rows[own].iloc[0, column]:.0f} positions of {rows.columns[column]} discs, as of {reference}"
            raise bad("points", where, expected, f"{rows.iloc[row, column]:.0f}")
    if met.index.get_level_values("particles").max() == RAW:
        raise bad("points", "particles", "a search budget too", "the raw policy alone")
    seen = met.groupby(level=CHECKPOINT).size()
    if (seen < count).any():
        where = _where(seen[seen < count].reset_index().iloc[0], CHECKPOINT)
        raise bad("points", where, f"{count} seeds", seen[seen < count].iloc[0])


def _shares(points: pd.DataFrame, count: int) -> dict[tuple[str, int, int], Shares]:
    """Return the shares of each variant, particles and iteration in bands of discs; every seed has met every band."""
    banded = points.assign(band=points["discs"] // DISCS_PER_BAND)
    sums = banded.groupby([*CHECKPOINT, "seed", "band"])[["kept", "positions"]].sum()
    shares: dict[tuple[str, int, int], Shares] = {}
    for name, rows in sums.groupby(level=CHECKPOINT):
        kept, positions = (rows[column].to_numpy().reshape(count, -1) for column in ("kept", "positions"))
        shares[cast(tuple[str, int, int], name)] = Shares(kept / positions, positions[0])
    return shares


def _costs(points: pd.DataFrame) -> pd.DataFrame:
    """Return what each variant, iteration and seed had cost; every budget and disc count must say the same."""
    groups = points.groupby(["variant", "iteration", "seed"])[list(COSTS)]
    table, highest = groups.min(), groups.max()
    differs = (table != highest).any(axis=1)
    if differs.any():
        row = table[differs].reset_index().iloc[0]
        raise bad("points", _where(row, ["variant", "iteration", "seed"]), "one cost", "several")
    return table.assign(seconds=table["selfplay_seconds"] + table["training_seconds"]).reset_index()
