"""How far two draws of one experiment lie apart by chance, measured: between seeds, and between processors.

Runs of one seed that were made as on several processors are *twins*: training differs in the last bits, and with it,
soon, all that follows. Draws come in groups, the seeds on one processor or the twins of one seed, and of groups of n

    s² = Σ_groups Σ (x − mean of the group)² / Σ_groups (n − 1)

with as many degrees of freedom as the divisor says. Two further draws differ by more than

    t(0.995; degrees of freedom) · √2 · s

in one case of a hundred.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import f, t

from probzero.errors import bad
from probzero.report.tables import read_written

FOLDER = "twins"  # beside the references: NAME.csv has draws with the settings of the reference NAME
COLUMNS = {"processor": str, "seed": int, "quantity": str, "value": float}
LEAST_SEEDS = 3  # fewer tell nothing of a spread
CERTAINTY = 0.99  # of two draws of one experiment, this share is within the tolerance

Groups = Sequence[Sequence[float]]  # values of one quantity: those of the seeds by processor, or of twins by seed


@dataclass(frozen=True)
class Spread:
    """A standard deviation and its degrees of freedom."""

    deviation: float
    freedom: int

    @property
    def width(self) -> float:
        return float(t.ppf((1 + CERTAINTY) / 2, self.freedom)) * sqrt(2) * self.deviation


def within(groups: Groups) -> Spread:
    """Return the spread of values around the mean of their group."""
    freedom = sum(len(group) - 1 for group in groups)
    squares = sum(float(np.square(np.subtract(group, np.mean(group))).sum()) for group in groups)
    return Spread(sqrt(squares / freedom), freedom)


def allowed(seeds: Groups, twins: Groups = ()) -> float | None:
    """Return how far two draws lie apart by chance: what seeds say, or what twins say if that is more.

    None if there are too few seeds."""
    if max(map(len, seeds), default=0) < LEAST_SEEDS:
        return None
    return max(within(groups).width for groups in (seeds, twins) if groups)


@dataclass(frozen=True)
class Draws:
    """Runs of one configuration by quantity: seeds grouped by processor, twins by seed."""

    seeds: Mapping[str, Groups]
    twins: Mapping[str, Groups]


def draws_of(reference: Path, settings: Mapping[str, str]) -> Draws:
    """Return the draws that are known of a reference with these settings, beside its own seeds."""
    path = reference.parent / FOLDER / f"{reference.name}.csv"
    return read_draws(path, settings=settings) if path.is_file() else Draws({}, {})


def read_draws(path: Path, **wanted: Any) -> Draws:
    """Read what `twins_table` holds. `wanted` is what its origin must be."""
    table = read_written(path, COLUMNS, **wanted)
    if table.duplicated(["processor", "seed", "quantity"]).any():
        raise bad("twins", path, "every quantity of a run once", "one more than once")
    found = Draws(*(_grouped(table, by) for by in ("processor", "seed")))
    for label in found.seeds:
        if max(map(len, found.seeds[label])) < LEAST_SEEDS or max(map(len, found.twins[label])) < 2:
            raise bad("twins", f"{path}: {label}", f"{LEAST_SEEDS} seeds and the twin of one", "fewer")
    return found


def _grouped(table: pd.DataFrame, by: str) -> dict[str, Groups]:
    return {
        str(label): [group["value"].tolist() for _, group in rows.groupby(by, sort=False)]
        for label, rows in table.groupby("quantity", sort=False)
    }


def twins_table(runs: Iterable[tuple[str, int, Mapping[str, float]]]) -> pd.DataFrame:
    """Return the table of runs, each with its processor, its seed and its quantities."""
    rows = [(name, seed, label, value) for name, seed, found in runs for label, value in found.items()]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def spread_table(draws: Draws) -> pd.DataFrame:
    """Return for each quantity how far seeds and how far twins lie apart, as standard deviations.

    `chance` is how often the twins' would come out so much larger if both were the same and told by runs apart
    (F-test). That the same runs tell both draws the ratio nearer to 1."""
    rows = []
    for label, seeds in draws.seeds.items():
        of_seeds, of_twins = within(seeds), within(draws.twins[label])
        ratio = of_twins.deviation / of_seeds.deviation if of_seeds.deviation else inf if of_twins.deviation else nan
        rows.append(
            {
                "quantity": label,
                "runs": sum(map(len, seeds)),
                "deviation_of_seeds": of_seeds.deviation,
                "freedom_of_seeds": of_seeds.freedom,
                "deviation_of_twins": of_twins.deviation,
                "freedom_of_twins": of_twins.freedom,
                "ratio": ratio,
                "chance": float(f.sf(ratio**2, of_twins.freedom, of_seeds.freedom)),
            }
        )
    return pd.DataFrame(rows)
