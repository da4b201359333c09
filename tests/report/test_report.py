"""Tables and figures: sums by hand, damaged files refused, figures that are legible and repeat their bytes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from simulated_games import simulate

from probzero.arena import elo
from probzero.errors import ProbZeroError
from probzero.report import figures, style, tables
from probzero.report.tournament import pairings_table, ratings_table
from probzero.tables import read_table


def shard(iteration: int, number: int, **changes: float) -> dict:
    metrics: dict = dict.fromkeys(tables.SHARD_SUMS, 10) | {
        "iteration": iteration, "shard": number, "mean_plies": 20.0, "leaf_evaluations": 1000,
    }  # fmt: skip
    return metrics | changes


def training(iteration: int, **changes: float) -> dict:
    metrics: dict = dict.fromkeys(tables.TRAINING, 0.5) | {"iteration": iteration, "samples": 4096, "steps": 8}
    return metrics | changes


def write_json(folder: Path, *contents: object) -> list[Path]:
    paths = [folder / f"{number}.json" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_text(json.dumps(content))
    return paths


def write_games(folder: Path, games: pd.DataFrame, player: str) -> Path:
    """Write a match file as the tournament does, with margins and plies that fit the results."""
    opening = games["opening_moves"].str.removeprefix("o").astype(int)
    full = games.assign(opening=opening, plies=20, margin=3 * games["result"])
    path = folder / f"{player}.csv"
    full[["first", "second", "opening", "opening_moves", "moves", "plies", "margin", "result"]].to_csv(
        path, index=False
    )
    return path


@pytest.fixture
def match_file(tmp_path):
    games, names = simulate(np.random.default_rng(0), [0, 200], 20, 0.2, 4)
    return write_games(tmp_path, games, names[1])


@pytest.fixture(scope="module")
def tournament():
    games, names = simulate(np.random.default_rng(0), [0, 250, 400, 450], 20, 0.2, 12)
    renamed = {names[3]: "perfect"}
    games = games.replace({"first": renamed, "second": renamed})
    players = [*names[:3], "perfect"]
    return ratings_table(elo.fit(games, players, names[0])), pairings_table(games, players), players


def test_training_metrics_are_ordered_by_iteration(tmp_path):
    table = tables.collect_training(write_json(tmp_path, training(2, value_loss=0.25), training(1)))
    assert table["iteration"].tolist() == [1, 2]
    assert table["value_loss"].tolist() == [0.5, 0.25]
    assert tuple(table.columns) == tables.TRAINING


def test_shards_are_summed_and_means_recomputed(tmp_path):
    second = shard(1, 1, games=30, mean_plies=24.0, leaf_evaluations=3000)
    row = tables.collect_selfplay(write_json(tmp_path, shard(1, 0), second)).iloc[0]
    assert (row["shards"], row["games"], row["leaf_evaluations"]) == (2, 40, 4000)
    assert row["mean_plies"] == pytest.approx((10 * 20 + 30 * 24) / 40)


def test_no_table_but_that_of_costs_tells_of_time_or_of_the_cache(tmp_path):
    made = [
        tables.collect_selfplay(write_json(tmp_path, shard(1, 0))),
        tables.collect_training(write_json(tmp_path, training(1))),
    ]
    for table in made:
        assert not [name for name in table.columns if re.search("second(?!_wins)|cache|network|time", name)]


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ([{"iteration": 1}], r"0\.json: learning_rate: expected a number of at least 0, found nothing"),
        ([training(1, value_loss=float("nan"))], r"0\.json: value_loss: .*found nan"),
        ([training(1) | {"steps": "many"}], r"0\.json: steps: .*found many"),
        ([[1, 2]], r"0\.json: expected an object, found list"),
        ([training(3), training(3)], "iteration 3: expected once"),
    ],
)
def test_damaged_training_metrics_are_refused(tmp_path, contents, message):
    with pytest.raises(ProbZeroError, match=message):
        tables.collect_training(write_json(tmp_path, *contents))


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ([shard(1, 0), shard(1, 1), shard(2, 0)], "iteration 2: expected 2 shards, found 1"),
        ([shard(1, 0), shard(1, 0)], "iteration 1, shard 0: expected once"),
        ([shard(1, 0, leaf_evaluations=0)], "iteration 1: expected leaf_evaluations above 0"),
    ],
)
def test_incomplete_selfplay_metrics_are_refused(tmp_path, contents, message):
    with pytest.raises(ProbZeroError, match=message):
        tables.collect_selfplay(write_json(tmp_path, *contents))


def test_matches_are_read_back_as_written(match_file):
    games = tables.read_matches([match_file])
    assert len(games) == 8
    assert games["result"].dtype == np.int64
    assert elo.fit(games, ["iteration-0000", "iteration-0001"], "iteration-0000").openings == 4


def test_games_without_an_opening_are_read(tmp_path):
    games, names = simulate(np.random.default_rng(0), [0, 200], 20, 0.2, 1)
    path = write_games(tmp_path, games, names[1])
    path.write_text(path.read_text().replace(",o0,", ",,"))
    assert tables.read_matches([path])["opening_moves"].tolist() == ["", ""]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (",result", "", r"iteration-0001\.csv: column result: expected present"),
        (",plies,", ",length,", r"iteration-0001\.csv: column plies: expected present"),
        (",3,1\n", ",3,win\n", r"iteration-0001\.csv: line \d+: column result: expected a whole number, found 'win'"),
        (",3,1\n", ",3,2\n", r"iteration-0001\.csv: line \d+: column result: expected 1, 0 or -1, found"),
        (",3,1\n", ",-3,1\n", r"iteration-0001\.csv: line \d+: column margin: expected the sign of result"),
        (",3,1\n", ",3\n", r"iteration-0001\.csv: line \d+: column margin: expected the last of 8, found 7"),
        ("iteration-0001,iteration-0000", "iteration-0001,iteration-0001", "column first: expected two different"),
        ("iteration-0001,iteration-0000,0,", "iteration-0000,iteration-0001,0,", "opening 0: expected two games with"),
    ],
)
def test_damaged_matches_are_refused_with_file_and_column(match_file, old, new, message):
    text = match_file.read_text()
    assert old in text
    match_file.write_text(text.replace(old, new, 1))
    with pytest.raises(ProbZeroError, match=message):
        tables.read_matches([match_file])


def test_a_match_file_that_lost_its_last_game_is_refused(match_file):
    match_file.write_text("".join(match_file.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(ProbZeroError, match=r"opening \d: expected two games with sides swapped, found 1"):
        tables.read_matches([match_file])


def test_a_file_cut_in_the_middle_of_a_number_is_refused(match_file):
    match_file.write_text(match_file.read_text().rstrip("\n"))
    with pytest.raises(ProbZeroError, match=r"line 9: expected an end of line"):
        tables.read_matches([match_file])


def test_a_pairing_with_fewer_openings_than_the_others_is_refused(tmp_path):
    games, names = simulate(np.random.default_rng(0), [0, 100, 200], 20, 0.2, 3)
    mine = games[(games["first"] == names[2]) | (games["second"] == names[2])]
    against_first = (mine["first"] == names[0]) | (mine["second"] == names[0])
    path = write_games(tmp_path, mine[~(against_first & (mine["opening_moves"] == "o2"))], names[2])
    with pytest.raises(ProbZeroError, match="against iteration-0000: expected 3 openings, found 2"):
        tables.read_matches([path])


def test_a_match_file_of_another_player_is_refused(match_file):
    moved = match_file.rename(match_file.with_name("iteration-0007.csv"))
    with pytest.raises(ProbZeroError, match="expected a game of iteration-0007"):
        tables.read_matches([moved])


def test_a_missing_or_repeated_match_file_is_refused(match_file, tmp_path):
    with pytest.raises(ProbZeroError, match=r"none\.csv: expected a CSV file, found nothing"):
        tables.read_matches([tmp_path / "none.csv"])
    with pytest.raises(ProbZeroError, match="expected once, found more than once"):
        tables.read_matches([match_file, match_file])


def test_tables_are_written_as_csv_and_markdown(tmp_path, tournament):
    ratings, _, players = tournament
    tables.write_table(ratings, tmp_path / "t" / "ratings.csv")
    back = read_table(tmp_path / "t" / "ratings.csv", {"player": str, "rating": float})
    assert back["player"].tolist() == players
    assert back["rating"].to_numpy() == pytest.approx(ratings["rating"].to_numpy(), rel=1e-5)
    assert back["iteration"].isna().tolist() == [False, False, False, True]
    lines = (tmp_path / "t" / "ratings.md").read_text().splitlines()
    assert lines[0].startswith("| player") and "standard error" in lines[0]
    assert len(lines) == 2 + len(players)


def test_markdown_rounds_by_the_kind_of_number():
    table = pd.DataFrame({
        "rating": [-0.3, 612.4], "score": [0.12345, 1.0], "policy_loss": [0.123456, 1.0],
        "learning_rate": [1e-3, 1.23456e-4], "superiority": [0.99999, 0.5], "games": [1200, 7],
        "bounded": [True, False],
    })  # fmt: skip
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in tables.markdown(table).splitlines()[2:]]
    assert rows[0] == ["0", "0.123", "0.1235", "0.001", "> 0.999", "1200", "yes"]
    assert rows[1] == ["612", "1.000", "1.0000", "0.0001235", "0.500", "7", "no"]


def test_the_score_matrix_is_antisymmetric_about_one_half(tournament):
    _, pairings, players = tournament
    scores = figures.score_matrix(pairings, players)
    off = ~np.eye(len(players), dtype=bool)
    assert (scores + scores.T)[off] == pytest.approx(1)
    assert np.isnan(scores.diagonal()).all()
    first = pairings.iloc[0]
    assert scores[players.index(first["player"]), players.index(first["opponent"])] == first["score"]


def test_labels_are_spread_apart_and_isolated_ones_stay():
    moved = figures.spread(np.array([0.0, 1.0, 2.0, 50.0]), 4)
    assert (np.diff(moved) >= 4 - 1e-9).all()
    assert moved[-1] == 50
    assert moved[1] == 1


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
    figures.plot_elo(ratings, folder / "elo")
    figures.plot_win_rates(pairings, players, folder / "win")
    figures.plot_training(learned, folder / "training")
    figures.plot_selfplay(played, folder / "selfplay")
    figures.plot_costs(spent, folder / "costs")


def draw_from_tables(folder: Path, into: str) -> None:
    ratings, pairings = (read_table(folder / f"{name}.csv", {}) for name in ("ratings", "pairings"))
    draw_all(folder / into, ratings, pairings, ratings["player"].tolist())


def test_figures_are_the_same_bytes_each_time_and_in_another_process(tmp_path, tournament):
    for name, table in zip(("ratings", "pairings"), tournament, strict=False):
        tables.write_table(table, tmp_path / f"{name}.csv")
    draw_from_tables(tmp_path, "a")
    code = f"from pathlib import Path; import test_report; test_report.draw_from_tables(Path({str(tmp_path)!r}), 'b')"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})
    made = sorted(path.name for path in (tmp_path / "a").iterdir())
    names = ("elo", "win", "training", "selfplay", "costs")
    assert made == sorted(f"{name}.{kind}" for name in names for kind in ("png", "pdf"))
    for name in made:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
        assert b"CreationDate" not in (tmp_path / "a" / name).read_bytes()


def test_no_text_of_a_figure_is_smaller_than_eight_points(tmp_path, tournament, monkeypatch):
    drawn: list[Figure] = []
    monkeypatch.setattr(style, "save", lambda figure, *_: drawn.append(figure))
    draw_all(tmp_path, *tournament)
    assert len(drawn) == 5
    for figure in drawn:
        assert figure.get_figwidth() <= style.DOUBLE
        sizes = [text.get_fontsize() for text in figure.findobj(Text) if text.get_text()]
        assert min(sizes) >= 8


def test_axes_carry_names_with_units(tmp_path, tournament, monkeypatch):
    drawn: list[Figure] = []
    monkeypatch.setattr(style, "save", lambda figure, *_: drawn.append(figure))
    draw_all(tmp_path, *tournament)
    names = [axes.get_ylabel() for figure in drawn for axes in figure.axes]
    assert names == [
        "Elo relative to iteration 0", "Player (iteration)", "Score of the row's player (%)", "Cross-entropy (nats)",
        "Agreement with the target (%)", "Games of self-play (%)", "Share (%)", "Evaluations (thousand/s)", "Share (%)",
    ]  # fmt: skip


def test_a_tournament_of_two_checkpoints_and_one_iteration_can_be_drawn(tmp_path):
    games, names = simulate(np.random.default_rng(0), [0, 2000], 20, 0.2, 2)
    ratings = ratings_table(elo.fit(games, names, names[0]))
    draw_all(tmp_path, ratings, pairings_table(games, names), names)
    learned, played, spent = metric_tables()
    figures.plot_training(learned.head(1), tmp_path / "one")
    figures.plot_selfplay(played.head(1), tmp_path / "two")
    figures.plot_costs(spent.head(1), tmp_path / "three")
    assert all((tmp_path / f"{name}.pdf").stat().st_size > 1000 for name in ("one", "two", "three"))


def test_games_of_self_play_are_shown_in_percent(tmp_path, monkeypatch):
    drawn: list[Figure] = []
    monkeypatch.setattr(style, "save", lambda figure, *_: drawn.append(figure))
    figures.plot_selfplay(metric_tables()[1].head(1), tmp_path / "selfplay")
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
            style.save(figure, tmp_path / "elo")
    assert [path.name for path in tmp_path.iterdir()] == ["elo.png"]
    assert target.read_text() == "old"
