"""The rules of docs/protocol.md, from contrasts to verdicts: a row for every claim, whatever it says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from probzero.arena.names import iteration_of
from probzero.errors import bad
from probzero.report.evidence.contrasts import EQUIVALENT, LEVEL, PRIMARY, Contrast, contrast, holm
from probzero.report.evidence.outcomes import Outcomes

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be told"
COLUMNS = ("claim", "contrast", "estimate", "low", "high", "p_holm", "equivalent", "verdict")
SEARCHED = 96  # leaf evaluations a move of the primary measure
TRAININGS = ("default", "published")
NODES, VALUES, POLICIES = ("tree", "roots"), ("bootstrap", "outcome"), ("winner", "visits")
CLAIMED_PROGRESS = 359.0  # Elo of iteration 400 over 50, document 000
CLAIMED_BY_SEARCH = {"particles-8": 100.0, "particles-96": 250.0, "particles-1600": 400.0}  # over raw, document 004

Row = dict[str, Any]
Weights = dict[str, float]


def factorial_contrasts() -> dict[str, Weights]:
    """Return the weights of the factorial's contrasts: the idea less its absence, each pair of cells alike."""

    def effect(factor: int, within: Mapping[int, str], sign: float = 1.0) -> Weights:
        cells = [
            cell
            for cell in product(TRAININGS, NODES, VALUES, POLICIES)
            if all(cell[place] == wanted for place, wanted in within.items())
        ]
        idea = (TRAININGS, NODES, VALUES, POLICIES)[factor][0]
        share = sign * 2 / len(cells)
        return {f"factorial/{'-'.join(cell)}": share if cell[factor] == idea else -share for cell in cells}

    return {
        "tree / roots": effect(1, {}),
        "bootstrap / outcome": effect(2, {}),
        "winner_prob / visits, within tree": effect(3, {1: "tree"}),
        "winner_prob / visits, tree / roots": effect(3, {1: "tree"}) | effect(3, {1: "roots"}, -1.0),
        **{f"tree / roots, {training} training": effect(1, {0: training}) for training in TRAININGS},
        **{f"bootstrap / outcome, {training} training": effect(2, {0: training}) for training in TRAININGS},
        **{
            f"winner_prob / visits, within tree, {training} training": effect(3, {0: training, 1: "tree"})
            for training in TRAININGS
        },
    }


def error_rows(found: Outcomes, rival: str) -> list[Row]:
    """Return the rows of claims 1, 2, 3 and 7: four primary contrasts, adjusted together, then the others."""
    chosen = factorial_contrasts()
    primary = {
        "1": ("tree / roots", chosen.pop("tree / roots")),
        "2": ("bootstrap / outcome", chosen.pop("bootstrap / outcome")),
        "3": ("winner_prob / visits, within tree", chosen.pop("winner_prob / visits, within tree")),
        "7": (f"probzero / {rival}", {"rivals/probzero": 1.0, f"rivals/{rival}": -1.0}),
    }
    measured = {claim: contrast(found, weights, SEARCHED) for claim, (_, weights) in primary.items()}
    adjusted = dict(zip(measured, holm([part.p for part in measured.values()]), strict=True))
    rows = [_error_row(claim, primary[claim][0], measured[claim], adjusted[claim]) for claim in primary]
    for claim, (name, weights) in primary.items():
        raw = contrast(found, weights, 0)
        rows.append(_error_row(claim, f"{name}, raw policy", raw, np.nan))
    at_scale = {f"default-scale/{name}": sign for name, sign in (("probzero", 1.0), (rival, -1.0))}
    if set(at_scale) <= set(found.arms):
        for budget, told in ((SEARCHED, ""), (0, ", raw policy")):
            name = f"probzero / {rival}, at the default's scale{told}"
            rows.append(_error_row("7", name, contrast(found, at_scale, budget), np.nan))
    for name, weights in chosen.items():
        claim = "1" if name.startswith("tree") else "2" if name.startswith("bootstrap") else "3"
        rows.append(_error_row(claim, name, contrast(found, weights, SEARCHED), np.nan))
    return rows


def _error_row(claim: str, name: str, found: Contrast, p_holm: float) -> Row:
    """Return a row; only a primary contrast, which has an adjusted p-value, has a verdict."""
    low, high = found.interval()
    verdict = "" if np.isnan(p_holm) else of_ratio(found, p_holm)
    return _row(claim, name, found.ratio, low, high, verdict, p_holm, found.equivalent)


def of_ratio(found: Contrast, p_holm: float) -> str:
    """An idea that lowers the error holds; one that raises it, or leaves it as it was, does not."""
    if p_holm < LEVEL:
        return HOLDS if found.theta < 0 else FAILS
    return FAILS if found.equivalent else OPEN


def filling_rows(costs: pd.DataFrame, found: Outcomes, rivals: Iterable[str]) -> list[Row]:
    """Return the rows of claim 4: evaluations a network call, ProbZero's over a rival's, paired by seed.

    It holds against a rival if the interval lies above 1 and ProbZero's error is at most a quarter more, and does not
    hold if the interval lies below 1."""
    calls = costs.assign(filled=costs["network_evaluations"] / costs["network_calls"])
    filled = calls.pivot_table("filled", "seed", "variant")
    rows = []
    for rival in rivals:
        logs = np.log((filled["probzero"] / filled[rival]).dropna().to_numpy())
        margin = stats.t.ppf(1 - LEVEL / 2, len(logs) - 1) * stats.sem(logs)
        low, high = np.exp([logs.mean() - margin, logs.mean() + margin])
        strength = contrast(found, {"rivals/probzero": 1.0, f"rivals/{rival}": -1.0}, SEARCHED)
        as_strong = strength.interval()[1] <= EQUIVALENT[1]
        verdict = HOLDS if low > 1 and as_strong else FAILS if high < 1 else OPEN
        name = f"evaluations a network call, probzero / {rival}"
        rows.append(_row("4", name, np.exp(logs.mean()), low, high, verdict, equivalent=strength.equivalent))
    return rows


def progress_rows(differences: pd.DataFrame, whose: str) -> list[Row]:
    """Return the rows of claim 5 from a tournament's differences: 400 − 50, the slope, later ones that are worse."""
    table = differences.assign(
        later=differences["player"].map(iteration_of), earlier=differences["opponent"].map(iteration_of)
    ).dropna(subset=["later", "earlier"])
    pairs = table[(table["later"] == table["later"].max()) & (table["earlier"] == table["earlier"].min())]
    ends = _first(pairs, f"last and first checkpoint of {whose}")
    first, last = int(ends["earlier"]), int(ends["later"])
    name = f"{whose}, Elo of iteration {last} − {first}"
    grown, holding = ends["low"] > 0, ends["low"] <= CLAIMED_PROGRESS <= ends["high"]
    verdict = HOLDS if grown and holding else FAILS if ends["high"] < CLAIMED_PROGRESS else OPEN
    rows = [_row("5", name, ends["difference"], ends["low"], ends["high"], verdict)]
    if len(table) > 1:
        slope, error = slope_of(table)
        low, high = slope - 1.96 * error, slope + 1.96 * error
        verdict = HOLDS if low > 0 else FAILS if high < 0 else OPEN
        rows.append(_row("5", f"{whose}, Elo by 100 iterations", slope, low, high, verdict))
        worse = table[table["superiority"] < LEVEL / 2 / len(table)]
        count = float(len(worse))
        name = f"{whose}, pairs in which the later checkpoint is worse, of {len(table)}"
        rows.append(_row("5", name, count, np.nan, np.nan, FAILS if count else HOLDS))
    return rows


def slope_of(differences: pd.DataFrame) -> tuple[float, float]:
    """Return the least-squares slope of ratings, Elo by 100 iterations, and its standard error.

    With x the iterations less their mean and c = x / Σ x², Σ c_i = 0, differences of ratings R tell all of it:

        slope = Σ_i c_i (R_i − R_first)          variance = −½ Σ_ij c_i c_j Var(R_i − R_j)
    """
    numbers = sorted({*differences["later"], *differences["earlier"]})
    at = {number: place for place, number in enumerate(numbers)}
    x = (np.array(numbers) - np.mean(numbers)) / 100
    c = x / (x @ x)
    rating, variance = np.zeros(len(x)), np.zeros((len(x), len(x)))
    for row in differences.to_dict("records"):
        i, j = at[row["later"]], at[row["earlier"]]
        variance[i, j] = variance[j, i] = row["standard_error"] ** 2
        if j == 0:
            rating[i] = row["difference"]
    return float(c @ rating), float(np.sqrt(-c @ variance @ c / 2))


def budget_rows(differences: pd.DataFrame) -> list[Row]:
    """Return the rows of claim 6: Elo of searching over the raw policy beside what was claimed.

    It holds where the interval holds the number, and does not where it lies apart from it."""
    rows = []
    for player, claimed in CLAIMED_BY_SEARCH.items():
        pairs = differences[(differences["player"] == player) & (differences["opponent"] == "raw")]
        found = _first(pairs, f"{player} and raw")
        verdict = HOLDS if found["low"] <= claimed <= found["high"] else FAILS
        name = f"Elo of {player} − raw, claimed {claimed:+.0f}"
        rows.append(_row("6", name, found["difference"], found["low"], found["high"], verdict))
    return rows


def _first(pairs: pd.DataFrame, who: str) -> pd.Series:
    if pairs.empty:
        raise bad("verdicts", "differences", f"one of {who}", "none")
    return pairs.iloc[0]


def verdict_table(rows: Iterable[Row]) -> pd.DataFrame:
    """Return the table: the rows by claim, and one for each claim of which nothing is known."""
    found = list(rows)
    missing = {str(claim) for claim in range(1, 8)} - {row["claim"] for row in found}
    found += [_row(claim, "not measured", np.nan, np.nan, np.nan, OPEN) for claim in missing]
    return pd.DataFrame(found, columns=list(COLUMNS)).sort_values("claim", kind="stable", ignore_index=True)


def _row(
    claim: str,
    name: str,
    estimate: float,
    low: float,
    high: float,
    verdict: str,
    p_holm: float = np.nan,
    equivalent: bool | None = None,
) -> Row:
    told = "" if equivalent is None else "yes" if equivalent else "no"
    return dict(zip(COLUMNS, (claim, name, estimate, low, high, p_holm, told, verdict), strict=True))


assert PRIMARY == 4  # claims 1, 2, 3 and 7
