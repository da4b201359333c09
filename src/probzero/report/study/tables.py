"""Tables of a study. An estimate over seeds has its 95 % interval in the columns that end in `_low` and `_high`:
Student's for a mean, Welch's for a difference. Those whose names begin with `costs` alone tell of machine and cache.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from probzero.arena.elo import Estimate
from probzero.report.study import statistics
from probzero.report.study.inputs import COSTS, RAW, WORK, Results, Shares, at_checkpoint
from probzero.report.truth import ROUNDING, THRESHOLDS
from probzero.study import ABLATION

EQUAL = ("games", "leaf_evaluations_per_move", "samples_seen")  # what variants should have spent alike
EFFECTS = ("raw_effect", "searched_effect", "elo_effect")

Row = dict[str, object]


def study_tables(found: Results) -> dict[str, pd.DataFrame]:
    """Return all tables by name."""
    return {
        "curves": curves_table(found),
        "final": final_table(found),
        "elo": elo_table(found),
        "ablations": ablations_table(found),
        "accounting": accounting_table(found),
        "efficiency": efficiency_table(found),
        "costs": costs_table(found),
        "costs_to_reach": costs_to_reach_table(found),
    }


def curves_table(found: Results) -> pd.DataFrame:
    """Return the mean share of kept results of each variant, particles a move and checkpoint."""
    rows: list[Row] = []
    for variant, particles in _measured(found):
        for iteration in found.checkpoints(variant, particles):
            work = at_checkpoint(found.work, variant, iteration)
            rows.append(
                {
                    "variant": variant,
                    "iteration": iteration,
                    "particles": particles,
                    "leaf_evaluations": work["leaf_evaluations"].mean(),
                    **_share(found.shares[variant, particles, iteration]),
                    "seeds": len(work),
                }
            )
    return pd.DataFrame(rows)


def final_table(found: Results) -> pd.DataFrame:
    """Return shares of the last checkpoints, the reference's lead over each variant, and where shares spread."""
    rows: list[Row] = []
    for variant, particles in _measured(found):
        mine, reference = found.final(variant, particles), found.final(found.reference, particles)
        assert mine is not None and reference is not None  # the reference was measured with every budget
        between_seeds, by_positions = statistics.share_spread(mine.scores, mine.positions)
        rows.append(
            {
                "variant": variant,
                "particles": particles,
                **_share(mine),
                **_against(found, variant, "lead", statistics.difference(reference.totals, mine.totals)),
                "seed_sd": between_seeds,
                "position_sd": by_positions,
                "seeds": len(mine.totals),
            }
        )
    return pd.DataFrame(rows)


def elo_table(found: Results) -> pd.DataFrame:
    """Return the mean rating of each player, anchors too, relative to the reference's, and how it spreads."""
    reference = found.rated(found.reference)["rating"].to_numpy()
    rows: list[Row] = []
    for player in found.players:
        rated = found.rated(player)
        rating = rated["rating"].to_numpy()
        between_seeds, by_games = statistics.rating_spread(rating, rated["standard_error"].to_numpy())
        rows.append(
            {
                "variant": player,
                "learns": found.learns(player),
                **_against(found, player, "rating", statistics.difference(rating, reference)),
                "seed_sd": between_seeds,
                "game_sd": by_games,
                "seeds": len(rating),
            }
        )
    return pd.DataFrame(rows)


def ablations_table(found: Results) -> pd.DataFrame:
    """Return what each ablation costs: reference less ablation on raw share, searched share and Elo."""
    rows: list[Row] = []
    for variant in found.having(ABLATION):
        ratings = (found.rated(name)["rating"].to_numpy() for name in (found.reference, variant))
        effects = (
            _effect(found, variant, RAW),
            _effect(found, variant, found.largest),
            statistics.difference(*ratings),
        )
        row: Row = {"idea": found.described[variant].idea, "variant": variant, "particles": found.largest}
        for name, effect in zip(EFFECTS, effects, strict=True):
            row |= _estimate(name, effect)
        rows.append(row)
    columns = [f"{name}{end}" for name in EFFECTS for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=["idea", "variant", "particles", *columns])


def accounting_table(found: Results) -> pd.DataFrame:
    """Return what each variant did until its last checkpoint, mean over seeds, and ratios to the reference."""
    last = found.work[found.work["iteration"] == found.work.groupby("variant")["iteration"].transform("max")]
    table = last.groupby("variant")[list(WORK)].mean().loc[list(found.described)]
    table.insert(3, "leaf_evaluations_per_move", table["leaf_evaluations"] / table["moves"].replace(0, np.nan))
    for name in EQUAL:
        table[f"{name}_ratio"] = table[name] / table[name].iloc[0]  # the reference comes first
    return table.reset_index()


def efficiency_table(found: Results) -> pd.DataFrame:
    """Return the leaf evaluations before the first checkpoint that reaches a share, mean over the seeds that do."""
    return _reaching(found, found.work, "leaf_evaluations")


def costs_table(found: Results) -> pd.DataFrame:
    """Return what each checkpoint of a variant had cost, mean over seeds."""
    groups = found.costs.groupby(["variant", "iteration"])
    means = groups[[*COSTS, "seconds"]].mean().assign(seeds=groups.size())
    return means.loc[list(found.described)].reset_index()


def costs_to_reach_table(found: Results) -> pd.DataFrame:
    """Return the seconds of play and training until a checkpoint reaches a share, mean over the seeds that do."""
    return _reaching(found, found.costs, "seconds")


def _reaching(found: Results, spent: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return a row per variant and threshold: what the first checkpoint that reaches it had spent of `name`."""
    rows: list[Row] = []
    for variant in found.described:
        numbers = found.checkpoints(variant, found.largest)
        for threshold in THRESHOLDS if numbers else ():
            shares = np.array([found.shares[variant, found.largest, number].totals for number in numbers])
            reached = shares >= threshold - ROUNDING  # [checkpoints, seeds]
            amounts = np.array([at_checkpoint(spent, variant, number)[name] for number in numbers])
            first = np.take_along_axis(amounts, reached.argmax(0)[None], axis=0)[0, reached.any(0)]
            rows.append(
                {
                    "variant": variant,
                    "threshold": threshold,
                    "particles": found.largest,
                    name: float(first.mean()) if len(first) else np.nan,
                    "seeds_reaching": len(first),
                    "seeds": reached.shape[1],
                }
            )
    return pd.DataFrame(rows)


def _measured(found: Results) -> Iterator[tuple[str, int]]:
    return ((variant, particles) for variant in found.described for particles in found.budgets(variant))


def _effect(found: Results, variant: str, particles: int) -> Estimate:
    reference, mine = found.final(found.reference, particles), found.final(variant, particles)
    if reference is None or mine is None:
        return Estimate(np.nan, *statistics.UNKNOWN)
    return statistics.difference(reference.totals, mine.totals)


def _against(found: Results, name: str, what: str, difference: Estimate) -> dict[str, float]:
    """Return a player's difference to the reference; the reference itself has only the 0."""
    return _estimate(what, Estimate(0.0, *statistics.UNKNOWN) if name == found.reference else difference)


def _share(shares: Shares) -> dict[str, float]:
    """Return the mean share of seeds, its interval cut off at 0 and 1."""
    share = statistics.mean(shares.totals)
    return _estimate("share", Estimate(share.value, *np.clip([share.low, share.high], 0, 1).tolist()))


def _estimate(name: str, found: Estimate) -> dict[str, float]:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
