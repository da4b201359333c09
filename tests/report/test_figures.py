"""Figures of a run: legible, named with units, the same bytes each time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_metrics import training
from matplotlib.text import Text
from sealed import MADE
from simulated_games import simulate, tournament

from probzero.arena import elo
from probzero.files import SEALS
from probzero.report import figures, style, tables
from probzero.report.tournament import pairings_table, ratings_table
from probzero.tables import read_table


def test_the_score_matrix_is_antisymmetric_about_one_half():
    _, pairings, players = tournament()
    scores = figures.score_matrix(pairings, players)
    off = ~np.eye(len(players), dtype=bool)
    assert (scores + scores.T)[off] == pytest.approx(1)
    assert np.isnan(scores.diagonal()).all()
    first = pairings.iloc[0]
    assert scores[players.index(first["player"]), players.index(first["opponent"])] == first["score"]


def test_every_whisker_of_elo_is_the_interval_of_the_difference_from_the_anchor(tmp_path, drawn):
    """So that two players' whiskers mean the same, whether they learn or not."""
    ratings, _, players = tournament()
    figures.plot_elo(ratings, tmp_path / "elo", MADE)
    found = [ends for axes in drawn[0].axes for bars in axes.containers for ends in whiskers(bars)]
    shown = ratings.sort_values(["iteration", "rating"])
    assert len(found) == len(players)
    assert np.array(found) == pytest.approx(shown[["low", "high"]].to_numpy())


def whiskers(bars: Any) -> list[tuple[float, float]]:
    """The ends of vertical error bars, from left to right."""
    return [(segment[0][1], segment[1][1]) for segment in bars[2][0].get_segments()]


def rated(**players: float) -> pd.DataFrame:
    names = [name.replace("_", "-") for name in players]
    spread = np.array([0.0, *[10.0] * (len(names) - 1)])  # the first is 0 by definition
    rating = np.array(list(players.values()))
    return pd.DataFrame({
        "player": names, "iteration": pd.array([pd.NA] * len(names), dtype="Int64"), "rating": rating,
        "low": rating - spread, "high": rating + 2 * spread, "standard_error": spread,
        "bounded": [name != "puct-96" for name in names],
    })  # fmt: skip


def test_elo_by_budget_begins_with_the_raw_policy_and_has_a_line_for_every_search(tmp_path, drawn):
    ratings = rated(raw=0, particles_8=50, particles_96=200, puct_8=40, puct_96=180, perfect=300)
    budgets = {"raw": 0, "particles-8": 8, "particles-96": 96, "puct-8": 8, "puct-96": 96}
    figures.plot_budgets(ratings, budgets, tmp_path / "elo", MADE)
    (axes,) = drawn[0].axes
    lines = {bars.get_label(): bars for bars in axes.containers}
    assert [axes.get_xscale(), *lines][:3] == ["log", "particles", "puct"]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["raw", "8", "96"]
    assert lines["particles"][0].get_ydata().tolist() == [50, 200]
    assert lines["particles"][0].get_xdata() == pytest.approx([8, 96], rel=0.1)
    assert whiskers(lines["puct"]) == [(30, 60), (170, 200)]
    ticks = axes.get_xticks()
    dotted = [line for line in axes.lines if line.get_linestyle() == ":"]
    assert {(line.get_xdata()[0], line.get_ydata()[0]) for line in dotted} == {(ticks[0], 0)}  # the raw policy, once
    assert sorted(line.get_ydata()[1] for line in dotted) == [40, 50]
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white" and len(line.get_ydata())]
    assert [line.get_ydata().tolist() for line in hollow] == [[180]]
    assert [text.get_text() for text in axes.texts] == ["perfect"]


def metric_tables() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    iteration = np.arange(1, 13)
    learned = pd.DataFrame([training(int(number), policy_loss=1 / number) for number in iteration])
    played = pd.DataFrame({
        "iteration": iteration, "games": 16, "moves": 300, "first_wins": 4 + iteration % 4, "draws": 1,
        "second_wins": 11 - iteration % 4, "distinct_games": 16, "exhausted_roots": 100,
    })  # fmt: skip
    spent = pd.DataFrame({
        "iteration": iteration, "leaf_evaluations_per_second": 9000.0 + iteration,
        "network_evaluations_per_second": 7000.0, "network_share": 0.6, "cache_hit_share": 0.2,
    })  # fmt: skip
    return learned, played, spent


def draw_all(folder: Path, ratings: pd.DataFrame, pairings: pd.DataFrame, players: list[str]) -> None:
    learned, played, spent = metric_tables()
    figures.plot_elo(ratings, folder / "elo", MADE)
    figures.plot_win_rates(pairings, players, folder / "win", MADE)
    figures.plot_training(learned, folder / "training", MADE)
    figures.plot_selfplay(played, folder / "selfplay", MADE)
    figures.plot_costs(spent, folder / "costs", MADE)


def draw_from_tables(folder: Path, into: str) -> None:
    ratings, pairings = (read_table(folder / f"{name}.csv", {}) for name in ("ratings", "pairings"))
    draw_all(folder / into, ratings, pairings, ratings["player"].tolist())


def test_figures_are_the_same_bytes_each_time_and_in_another_process(tmp_path):
    for name, table in zip(("ratings", "pairings"), tournament(), strict=False):
        tables.write_table(table, tmp_path / f"{name}.csv", MADE)
    draw_from_tables(tmp_path, "a")
    code = f"from pathlib import Path; import test_figures; test_figures.draw_from_tables(Path({str(tmp_path)!r}), 'b')"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})
    made = sorted(path.name for path in (tmp_path / "a").iterdir() if path.name != SEALS)
    names = ("elo", "win", "training", "selfplay", "costs")
    assert made == sorted(f"{name}.{kind}" for name in names for kind in ("png", "pdf"))
    for name in made:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
        assert b"CreationDate" not in (tmp_path / "a" / name).read_bytes()


def test_no_text_of_a_figure_is_smaller_than_eight_points(tmp_path, drawn):
    draw_all(tmp_path, *tournament())
    assert len(drawn) == 5
    for figure in drawn:
        assert figure.get_figwidth() <= style.DOUBLE
        sizes = [text.get_fontsize() for text in figure.findobj(Text) if text.get_text()]
        assert min(sizes) >= 8


def test_axes_carry_names_with_units(tmp_path, drawn):
    draw_all(tmp_path, *tournament())
    names = [axes.get_ylabel() for figure in drawn for axes in figure.axes if axes.get_ylabel()]
    assert names == [
        "Elo relative to iteration 0", "Player (iteration)", "Score of the row's player (%)", "Cross-entropy (nats)",
        "Agreement with the target (%)", "Games of self-play (%)", "Share (%)", "Evaluations (thousand/s)", "Share (%)",
    ]  # fmt: skip


def test_a_tournament_of_two_checkpoints_and_one_iteration_can_be_drawn(tmp_path):
    games, names = simulate(np.random.default_rng(0), [0, 2000], 20, 0.2, 2)
    ratings = ratings_table(elo.fit(games, names, names[0]))
    draw_all(tmp_path, ratings, pairings_table(games, names), names)
    learned, played, spent = metric_tables()
    figures.plot_training(learned.head(1), tmp_path / "one", MADE)
    figures.plot_selfplay(played.head(1), tmp_path / "two", MADE)
    figures.plot_costs(spent.head(1), tmp_path / "three", MADE)
    assert all((tmp_path / f"{name}.pdf").stat().st_size > 1000 for name in ("one", "two", "three"))


def test_games_of_self_play_are_shown_in_percent(tmp_path, drawn):
    figures.plot_selfplay(metric_tables()[1].head(1), tmp_path / "selfplay", MADE)
    shown = {str(line.get_label()): float(line.get_ydata()[0]) for axes in drawn[0].axes for line in axes.lines}
    assert shown == pytest.approx({
        "First wins": 100 * 5 / 16, "Draws": 100 / 16, "Second wins": 100 * 10 / 16, "Different games": 100,
        "Moves solved by search": 100 / 3,
    })  # fmt: skip


def test_a_figure_that_fails_leaves_the_old_file_alone(tmp_path, monkeypatch):
    target = tmp_path / "elo.png"
    target.write_text("old")

    def fail(*_, **__):
        raise RuntimeError("no room")

    with style.figure(style.SINGLE, 2) as (figure, _):
        monkeypatch.setattr(figure, "savefig", fail)
        with pytest.raises(RuntimeError):
            style.save(figure, tmp_path / "elo", MADE)
    assert [path.name for path in tmp_path.iterdir()] == ["elo.png"]
    assert target.read_text() == "old"
