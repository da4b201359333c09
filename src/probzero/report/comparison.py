"""Tables of a comparison of variants over seeds.

Columns that end in `_low`, `_high` bound 95 % by the stratified bootstrap, `_t_low`, `_t_high` by Student's t (Welch's,
for a difference) over seeds. `report/seeds.py` says what each of them is worth: with few seeds believe the t interval.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from probzero.arena.elo import Estimate
from probzero.report import seeds
from probzero.report.comparison_inputs import COSTS, IDEAS, MAIN, RAW, SETTING, Comparison, Shares
from probzero.report.efficiency import ROUNDING, THRESHOLDS

EQUAL = ("games", "leaf_evaluations_per_move", "samples_seen")  # what variants should have spent alike

Row = dict[str, object]


def comparison_tables(found: Comparison) -> dict[str, pd.DataFrame]:
    """Return all tables by name."""
    return {
        "curves": curves_table(found),
        "final": final_table(found),
        "elo": elo_table(found),
        "ablations": ablations_table(found),
        "accounting": accounting_table(found),
        "efficiency": efficiency_table(found),
    }


def curves_table(found: Comparison) -> pd.DataFrame:
    """Return the mean share of kept results of each variant, particles a move and checkpoint, beside what it cost."""
    rows: list[Row] = []
    for variant, particles in _measured(found):
        for iteration in found.checkpoints(variant, particles):
            cost = found.cost(variant, iteration)
            shares = found.shares[variant, particles, iteration]
            rng = seeds.generator("curves", variant, particles, iteration)
            rows.append(
                {
                    "variant": variant,
                    "iteration": iteration,
                    "particles": particles,
                    "leaf_evaluations": cost["leaf_evaluations"].mean(),
                    "seconds": cost["seconds"].mean(),
                    "mean": float(shares.totals.mean()),
                    **_bounds("", seeds.bootstrap_mean(rng, shares.scores, shares.positions)),
                    **_bounds("t_", _within(seeds.mean_interval(shares.totals))),
                    "seeds": len(found.seeds),
                }
            )
    return pd.DataFrame(rows)


def final_table(found: Comparison) -> pd.DataFrame:
    """Return shares of the last checkpoints, the reference's lead over each variant, and where shares spread.

    `probability` is that of the reference being better in a band of discs, of two seeds drawn at random.
    """
    rows = [_final_row(found, variant, particles) for variant, particles in _measured(found)]
    return pd.DataFrame(rows)


def _final_row(found: Comparison, variant: str, particles: int) -> Row:
    mine, reference = found.final(variant, particles), found.final(found.reference, particles)
    assert mine is not None and reference is not None  # the reference was measured with every budget
    rng = seeds.generator("final", variant, particles)
    share = seeds.bootstrap_mean(rng, mine.scores, mine.positions)
    lead = seeds.bootstrap_difference(rng, reference.scores, mine.scores, mine.positions)
    better = seeds.bootstrap_improvement(rng, reference.scores, mine.scores)
    spread = seeds.share_spread(mine.scores, mine.positions)
    return {
        "variant": variant,
        "particles": particles,
        **_estimate("share", share),
        **_bounds("share_t_", _within(seeds.mean_interval(mine.totals))),
        **_against(found, variant, "lead", lead, seeds.welch(reference.totals, mine.totals), better),
        "seed_sd": spread.seeds,
        "position_sd": spread.sampling,
        "seeds": len(found.seeds),
    }


def elo_table(found: Comparison) -> pd.DataFrame:
    """Return the mean rating of each player, anchors too, relative to the reference's, and how it spreads."""
    reference = found.rated(found.reference)["rating"].to_numpy()
    rows: list[Row] = []
    for player in found.players:
        rated = found.rated(player)
        rating, rng = rated["rating"].to_numpy(), seeds.generator("elo", player)
        x, y = rating[:, None], reference[:, None]
        difference = seeds.bootstrap_difference(rng, x, y, np.ones(1))
        better = seeds.bootstrap_improvement(rng, y, x)
        spread = seeds.rating_spread(rating, rated["standard_error"].to_numpy())
        rows.append(
            {
                "variant": player,
                "learns": found.learns(player),
                **_against(found, player, "rating", difference, seeds.welch(rating, reference), better),
                "seed_sd": spread.seeds,
                "game_sd": spread.sampling,
                "seeds": len(found.seeds),
            }
        )
    return pd.DataFrame(rows)


def ablations_table(found: Comparison) -> pd.DataFrame:
    """Return what each ablation costs: reference less ablation on raw share, searched share and Elo, with Welch's t."""
    rows: list[Row] = []
    for variant in (name for name in found.variants if name not in (found.reference, *MAIN)):
        effects = {
            "raw": _effect(found.final(found.reference, RAW), found.final(variant, RAW)),
            "searched": _effect(found.final(found.reference, found.largest), found.final(variant, found.largest)),
            "elo": seeds.welch(*(found.rated(name)["rating"].to_numpy() for name in (found.reference, variant))),
        }
        row: Row = {"idea": IDEAS.get(variant, SETTING), "variant": variant, "particles": found.largest}
        for name, effect in effects.items():
            row |= {f"{name}_effect": effect.value, **_bounds(f"{name}_t_", effect)}
        rows.append(row)
    bounds = [f"{kind}_{end}" for kind in ("raw", "searched", "elo") for end in ("effect", "t_low", "t_high")]
    return pd.DataFrame(rows, columns=["idea", "variant", "particles", *bounds])


def accounting_table(found: Comparison) -> pd.DataFrame:
    """Return what each variant spent until its last checkpoint, mean over seeds, and ratios to the reference."""
    last = found.costs[found.costs["iteration"] == found.costs.groupby("variant")["iteration"].transform("max")]
    table = last.groupby("variant")[list(COSTS)].mean().loc[list(found.variants)]
    table.insert(3, "leaf_evaluations_per_move", table["leaf_evaluations"] / table["moves"].replace(0, np.nan))
    for name in EQUAL:
        table[f"{name}_ratio"] = table[name] / table[name].iloc[0]  # the reference comes first
    return table.reset_index()


def efficiency_table(found: Comparison) -> pd.DataFrame:
    """Return what the first checkpoint that reaches a share had cost, mean over the seeds that reach it."""
    rows: list[Row] = []
    for variant in found.variants:
        numbers = found.checkpoints(variant, found.largest)
        for threshold in THRESHOLDS if numbers else ():
            shares = np.array([found.shares[variant, found.largest, number].totals for number in numbers])
            reached = shares >= threshold - ROUNDING  # [checkpoints, seeds]
            row: Row = {"variant": variant, "threshold": threshold, "particles": found.largest}
            for name in ("leaf_evaluations", "seconds"):
                costs = np.array([found.cost(variant, number)[name] for number in numbers])  # [checkpoints, seeds]
                first = np.take_along_axis(costs, reached.argmax(0)[None], axis=0)[0, reached.any(0)]
                row[name] = float(first.mean()) if len(first) else np.nan
            rows.append({**row, "seeds_reaching": int(reached.any(0).sum()), "seeds": len(found.seeds)})
    return pd.DataFrame(rows)


def _measured(found: Comparison) -> Iterator[tuple[str, int]]:
    return ((variant, particles) for variant in found.variants for particles in found.budgets(variant))


def _effect(reference: Shares | None, mine: Shares | None) -> Estimate:
    if reference is None or mine is None:
        return Estimate(np.nan, *seeds.UNKNOWN)
    return seeds.welch(reference.totals, mine.totals)


def _against(
    found: Comparison, name: str, what: str, difference: Estimate, welch: Estimate, better: Estimate
) -> dict[str, float]:
    """Return a player's difference to the reference and the probability; the reference itself has only the 0."""
    row = {**_estimate(what, difference), **_bounds(f"{what}_t_", welch), **_estimate("probability", better)}
    return {key: 0.0 if key == what else np.nan for key in row} if name == found.reference else row


def _within(share: Estimate) -> Estimate:
    """Return the interval of a share cut off at 0 and 1."""
    return Estimate(share.value, *np.clip([share.low, share.high], 0, 1).tolist())


def _estimate(name: str, found: Estimate) -> dict[str, float]:
    return {name: found.value, **_bounds(f"{name}_", found)}


def _bounds(prefix: str, found: Estimate) -> dict[str, float]:
    return {f"{prefix}low": found.low, f"{prefix}high": found.high}
