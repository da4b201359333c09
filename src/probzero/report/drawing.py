"""Which figures a run, a study and a tournament have, and from what they are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from probzero.origin import Origin
from probzero.report import figures, truth_figures
from probzero.report.evidence.figures import of_errors, plot_verdicts
from probzero.report.study import curves
from probzero.report.study import figures as study_figures
from probzero.report.study.inputs import Results
from probzero.tournament import Player

OF_ONE_TABLE = {
    "elo": ("ratings", figures.plot_elo),
    "training": ("training", figures.plot_training),
    "selfplay": ("selfplay", figures.plot_selfplay),
    "costs": ("costs", figures.plot_costs),
    "reliability": ("reliability", truth_figures.plot_reliability),
    "blunders": ("blunders", truth_figures.plot_blunders),
}


def draw_run(
    tables: Mapping[str, pd.DataFrame], players: Sequence[str], phase: str, folder: Path, made: Origin
) -> None:
    """Draw the figures of a seed from those of its tables that are there."""
    for name, (table, plot) in OF_ONE_TABLE.items():
        if table in tables:
            plot(tables[table], folder / name, made)
    figures.plot_win_rates(tables["pairings"], players, folder / "win_rates", made)
    if "truth" not in tables:
        return
    looks = truth_figures.looks_of([tables[name] for name in ("truth", "certificates") if name in tables])
    truth_figures.plot_truth(tables["truth"], looks, folder / "truth", made)
    truth_figures.plot_errors(tables["errors"], looks, folder / "errors", made, phase)
    if "certificates" in tables:
        truth_figures.plot_certificates(tables["certificates"], looks, folder / "certificates", made)


def draw_study(found: Results, ablations: pd.DataFrame, elo: pd.DataFrame, folder: Path, made: Origin) -> None:
    """Draw the figures of a study from what was measured and two of its tables."""
    curves.plot_truth(found, folder / "study_truth", made)
    curves.plot_variants(found, folder / "study_variants", made)
    curves.plot_costs(found, folder / "study_costs", made)
    curves.plot_variants_costs(found, folder / "study_costs_variants", made)
    study_figures.plot_ablations(found, ablations, folder / "study_ablations", made)
    study_figures.plot_elo(found, elo, folder / "study_elo", made)


def draw_tournament(ratings: pd.DataFrame, players: Mapping[str, Player], path: Path, made: Origin) -> None:
    """Draw the ratings of a tournament of given networks: by iteration, or by search budget."""
    budgets = {name: player.budget for name, player in players.items() if player.network}
    if ratings["iteration"].notna().any() or not any(budgets.values()):
        figures.plot_elo(ratings, path, made)
    else:
        figures.plot_budgets(ratings, budgets, path, made)


def draw_verdicts(verdicts: pd.DataFrame, path: Path, made: Origin) -> bool:
    """Draw the verdicts that are ratios of errors; return whether there are any yet."""
    if of_errors(verdicts).empty:
        return False
    plot_verdicts(verdicts, path, made)
    return True
