"""What the variants of a study left behind, checked: shares of kept results, work, costs and ratings of every seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
import pandas as pd

from probzero import files
from probzero.errors import bad
from probzero.report.study import statistics
from probzero.report.tables import PHASES_PER_BAND, check_once
from probzero.report.truth_inputs import check_kept
from probzero.study import REFERENCE, ROLES, Description
from probzero.tables import TABLE, parse_table, refuse

MEASURED = "measures"  # the kind of a file
RAW = 0  # particles a move of the policy alone
WORK = ("games", "moves", "leaf_evaluations", "samples_seen")  # the same wherever it is done
COSTS = ("network_evaluations", "network_calls", "cache_hits", "selfplay_seconds", "training_seconds")
CHECKPOINT = ["variant", "particles", "iteration"]
SPENT = ["variant", "iteration", "seed"]
MEASURES: dict[str, type] = {
    "variant": str,
    **dict.fromkeys(("particles", "iteration", "seed", "phase"), int),
    **dict.fromkeys(("positions", "kept", *WORK), float),
    "outcomes": str,
}
COSTS_COLUMNS: dict[str, type] = {"variant": str, "iteration": int, "seed": int, **dict.fromkeys(COSTS, float)}
RATINGS: dict[str, type] = {"seed": int, "player": str, "rating": float, "standard_error": float}


@dataclass(frozen=True)
class Shares:
    """Shares of kept results of one variant at one checkpoint and budget."""

    scores: np.ndarray  # [seeds, strata]
    positions: np.ndarray  # [strata]

    @cached_property
    def totals(self) -> np.ndarray:
        """Σ kept / Σ positions [seeds]."""
        return statistics.overall(self.scores, self.positions)


@dataclass(frozen=True)
class Results:
    """Everything that was measured of a study."""

    described: dict[str, Description]  # the variants, in the order in which they are shown, the reference first
    seeds: tuple[int, ...]
    shares: dict[tuple[str, int, int], Shares]  # by variant, particles and iteration; a row for each of its seeds
    work: pd.DataFrame  # before each checkpoint; one row per variant, iteration and seed, ordered by them
    costs: pd.DataFrame  # the same of what depends on the machine and the cache, with `seconds`, the sum of both times
    ratings: pd.DataFrame  # one row per player and seed, players in order: variants, then anchors

    @property
    def reference(self) -> str:
        return next(iter(self.described))

    def label(self, player: str) -> str:
        """Return how a variant is called in figures; anchors keep their names."""
        return self.described[player].label if player in self.described else player

    def having(self, *roles: str) -> list[str]:
        """Return the variants that have one of these roles."""
        return [name for name, found in self.described.items() if found.role in roles]

    def budgets(self, variant: str) -> list[int]:
        """Return the particles a move that a variant was measured with, in rising order."""
        return sorted({particles for name, particles, _ in self.shares if name == variant})

    def checkpoints(self, variant: str, particles: int) -> list[int]:
        return sorted(number for name, budget, number in self.shares if (name, budget) == (variant, particles))

    def final(self, variant: str, particles: int) -> Shares | None:
        """Return the shares of the last checkpoint; None if the variant was not measured with these particles."""
        numbers = self.checkpoints(variant, particles)
        return self.shares[variant, particles, numbers[-1]] if numbers else None

    def learns(self, variant: str) -> bool:
        """Return whether there is a checkpoint after the first: anchors and plain search have none."""
        return bool((self.work.loc[self.work["variant"] == variant, "iteration"] > 0).any())

    @property
    def largest(self) -> int:
        return max(self.budgets(self.reference))

    @property
    def players(self) -> list[str]:
        return list(self.ratings["player"].unique())

    def rated(self, player: str) -> pd.DataFrame:
        return self.ratings[self.ratings["player"] == player]


def read_results(
    measures: Iterable[Path], costs: Iterable[Path], ratings: Iterable[Path], described: Mapping[str, Description]
) -> Results:
    """Read measures and costs of every variant and seed, ratings of every seed; refuse what does not fit together."""
    table = _read(MEASURED, measures, MEASURES, [*CHECKPOINT, "seed", "phase"])
    spent = _read(files.COSTS, costs, COSTS_COLUMNS, SPENT)
    rated = _read(TABLE, ratings, RATINGS, ["player", "seed"])
    variants, found = _ordered(table["variant"].unique().tolist(), described), sorted(table["seed"].unique())
    players = list(dict.fromkeys([*variants, *rated["player"]]))
    table = table[table["positions"] > 0]
    _check_positions(table, next(iter(variants)))
    measured = {str(name): sorted(part["seed"].unique()) for name, part in table.groupby("variant")}
    _check_ratings(rated, players, measured, found)
    work = _work(table)
    rank = rated["player"].map(players.index)
    return Results(
        described=variants,
        seeds=tuple(map(int, found)),
        shares=_shares(table),
        work=work,
        costs=_costs(spent, work),
        ratings=rated.assign(rank=rank).sort_values(["rank", "seed"], ignore_index=True).drop(columns="rank"),
    )


def at_checkpoint(spent: pd.DataFrame, variant: str, iteration: int) -> pd.DataFrame:
    """Return what was spent before a checkpoint, one row per seed."""
    return spent[(spent["variant"] == variant) & (spent["iteration"] == iteration)]


def _read(kind: str, paths: Iterable[Path], columns: Mapping[str, type], unique: list[str]) -> pd.DataFrame:
    """Read tables that must have these columns, the seed of their origin, and no row of `unique` twice."""
    parts = []
    for path in paths:
        data, made = files.read_sealed(path, kind)
        part = parse_table(data, path, columns, kind)[list(columns)]
        refuse(path, part, "seed", part["seed"] != made.seed, f"{made.seed}, as the seal says", kind)
        if kind == MEASURED:
            check_kept(path, part, kind)
        parts.append(part)
    joined = pd.concat(parts, ignore_index=True)
    check_once(joined, unique, kind)
    return joined


def _where(row: pd.Series, columns: Iterable[str]) -> str:
    return ", ".join(f"{name} {row[name]}" for name in columns)


def _ordered(measured: list[str], described: Mapping[str, Description]) -> dict[str, Description]:
    """Return the measured variants by role, the reference first, then by idea, otherwise as the record has them."""
    for name in measured:
        if name not in described:
            raise bad("measures", "variants", f"those of the study ({', '.join(described)})", name)
    if missing := [name for name, found in described.items() if found.role == REFERENCE and name not in measured]:
        raise bad("measures", "variants", f"{missing[0]}, the reference, among them", ", ".join(measured))
    ideas = list(dict.fromkeys(found.idea for found in described.values()))
    shown = sorted(described.items(), key=lambda item: (ROLES.index(item[1].role), ideas.index(item[1].idea)))
    return {name: found for name, found in shown if name in measured}


def _check_ratings(
    rated: pd.DataFrame, players: Iterable[str], measured: Mapping[str, list[int]], every: list[int]
) -> None:
    """Refuse ratings that are not of the seeds that a variant was measured with; others play with all."""
    for name in players:
        seen, seeds = sorted(rated.loc[rated["player"] == name, "seed"].unique()), measured.get(name, every)
        if seen != seeds:
            raise bad("ratings", name, f"seeds {', '.join(map(str, seeds))}", ", ".join(map(str, seen)) or "none")


def _check_positions(measures: pd.DataFrame, reference: str) -> None:
    """Refuse shares that are not of the same positions: all last checkpoints must have met the same, all others too."""
    budgets = measures["particles"].drop_duplicates()
    for particles in sorted(set(budgets) - set(measures.loc[measures["variant"] == reference, "particles"])):
        raise bad("measures", f"{reference}, particles {particles}", "measured, like other variants", "nothing")
    last = measures["iteration"] == measures.groupby("variant")["iteration"].transform("max")
    seeds = {name: part["seed"].unique() for name, part in measures.groupby("variant")}
    for _, rows in measures.groupby(last):
        met = {name: _met(part) for name, part in rows.groupby("variant")}
        wanted = met[reference if reference in met else next(iter(met))].max().groupby("phase").max()
        for name, found in met.items():
            expected = np.tile(wanted, len(seeds[name]))
            columns = pd.MultiIndex.from_product([sorted(seeds[name]), wanted.index], names=["seed", "phase"])
            whole = found.reindex(columns=columns, fill_value=0)
            for row, column in np.argwhere((whole != expected).to_numpy())[:1]:
                (seed, phase), number = whole.columns[column], expected[column]
                where = f"{_where(whole.index.to_frame().iloc[row], CHECKPOINT)}, seed {seed}"
                shown = f"{number:.0f} positions of phase {phase}, as of {reference}"
                raise bad("measures", where, shown, f"{whole.iloc[row, column]:.0f}")
    if budgets.max() == RAW:
        raise bad("measures", "particles", "a search budget too", "the raw policy alone")


def _met(measures: pd.DataFrame) -> pd.DataFrame:
    """Return how many positions each checkpoint and budget met, by seed and phase; 0 where none."""
    return measures.pivot_table("positions", CHECKPOINT, ["seed", "phase"], fill_value=0)


def _shares(measures: pd.DataFrame) -> dict[tuple[str, int, int], Shares]:
    """Return the shares of each variant, particles and iteration in bands of phases; every seed has met every band."""
    banded = measures.assign(band=measures["phase"] // PHASES_PER_BAND)
    sums = banded.groupby([*CHECKPOINT, "seed", "band"])[["kept", "positions"]].sum()
    shares: dict[tuple[str, int, int], Shares] = {}
    for name, rows in sums.groupby(level=CHECKPOINT):
        count = rows.index.get_level_values("seed").nunique()
        kept, positions = (rows[column].to_numpy().reshape(count, -1) for column in ("kept", "positions"))
        shares[cast(tuple[str, int, int], name)] = Shares(kept / positions, positions[0])
    return shares


def _work(measures: pd.DataFrame) -> pd.DataFrame:
    """Return what was done before each checkpoint of every seed; every budget and phase must say the same."""
    groups = measures.groupby(SPENT)[list(WORK)]
    table, highest = groups.min(), groups.max()
    differs = (table != highest).any(axis=1)
    if differs.any():
        row = table[differs].reset_index().iloc[0]
        raise bad("measures", _where(row, SPENT), "one amount of work", "several")
    return table.reset_index()


def _costs(costs: pd.DataFrame, work: pd.DataFrame) -> pd.DataFrame:
    """Return what each checkpoint of every seed had cost, in the order of `work`; none may be missing."""
    joined = work[SPENT].merge(costs, how="left")
    missing = joined[joined["selfplay_seconds"].isna()]
    if len(missing):
        raise bad("costs", _where(missing.iloc[0], SPENT), "one row", "none")
    return joined.assign(seconds=joined["selfplay_seconds"] + joined["training_seconds"])
