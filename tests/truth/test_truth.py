"""Strength against exact truth: evaluation sets, measures, the perfect player, blunders and the ceiling."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from oracles.slow_connect_four import SlowConnectFour
from oracles.slow_othello import SlowOthello
from sealed import MADE

from probzero import config, wdl
from probzero.bits import popcount
from probzero.config import Search
from probzero.errors import ProbZeroError
from probzero.games import make
from probzero.games.random_play import play_by_seed
from probzero.network.inference import Evaluation
from probzero.search.build import SearchFactory
from probzero.tables import write_csv
from probzero.truth.blunders import count_blunders
from probzero.truth.ceiling import exact_samples, train_ceiling, without
from probzero.truth.labels import Solver, keeps_result
from probzero.truth.measures import calibration_table, kept_by_orientation, kept_table
from probzero.truth.perfect import PerfectPlayer, games_from_wins
from probzero.truth.positions import KIND, from_random_play, labelled, move_masks, read_positions, states_of

GAME = make("othello", size=5)
CONNECT_FOUR = make("connect_four", width=4, height=4)
SMOKE = config.load(Path(__file__).parents[2] / "config" / "smoke.yaml")
SEARCH = Search(splitting="systematic", temperature=1.0, cache=True)


@cache
def minimax(board: SlowOthello | SlowConnectFour) -> int:
    """The exact result for the player to move, by trying everything."""
    moves = board.legal_moves()
    if not moves and isinstance(board, SlowConnectFour):
        return board.outcome()
    if not moves:
        return (board.margin() > 0) - (board.margin() < 0)
    return max(-minimax(board.after(move)) for move in moves)


@pytest.fixture(scope="module")
def positions() -> pd.DataFrame:
    return labelled(GAME, from_random_play(GAME, 6, seed=5), "random", threads=1)


class Oracle:
    """An evaluator that knows the truth: its prior and values come from the solver, turned round if `wrong`."""

    device = torch.device("cpu")

    def __init__(self, wrong: bool = False) -> None:
        self.wrong = wrong

    def __call__(self, states: np.ndarray, moves: np.ndarray) -> Evaluation:
        labels = Solver(GAME, threads=1).label(states, margins=False)
        good = np.take_along_axis(keeps_result(labels), moves, axis=1)
        real = np.arange(moves.shape[1]) < GAME.legal(states).sum(1, keepdims=True)
        prior = np.where(real, np.where(good ^ self.wrong, 1.0, 1e-3), 0.0).astype(np.float32)
        outcome = wdl.from_result(labels.result.astype(np.int64))
        return Evaluation(prior / prior.sum(1, keepdims=True), outcome, outcome)


class FirstMove(Oracle):
    """An evaluator that likes the legal move with the lowest number: another one, when the board is turned."""

    def __call__(self, states: np.ndarray, moves: np.ndarray) -> Evaluation:
        prior = np.zeros(moves.shape, np.float32)
        prior[:, 0] = 1
        return Evaluation(prior, prior[:, :3], prior[:, :3])


def test_turned_positions_are_judged_by_the_moves_that_keep_the_result_there(positions: pd.DataFrame) -> None:
    some = positions[positions.decisive == 1].iloc[::4]
    right, wrong = (kept_by_orientation(Oracle(turned), GAME, some) for turned in (False, True))
    assert right.symmetry.tolist() == list(range(8))
    assert (right.kept == len(some)).all() and (right.positions == len(some)).all() and (wrong.kept == 0).all()
    # Symmetry 3 turns the board half round: its first move is the last square there was. Passes are never a choice.
    keeping = move_masks(GAME, some.keeping)
    last = [max(np.flatnonzero(GAME.legal(state[None])[0])) for state in states_of(GAME, some)]
    first = [min(np.flatnonzero(GAME.legal(state[None])[0])) for state in states_of(GAME, some)]
    found = kept_by_orientation(FirstMove(), GAME, some).kept
    rows = range(len(some))
    assert (found[0], found[3]) == (keeping[rows, first].sum(), keeping[rows, last].sum())


def test_evaluation_sets_are_stratified_distinct_and_have_a_choice(positions: pd.DataFrame) -> None:
    states = states_of(GAME, positions)
    assert positions.groupby("phase").size().max() == 6 and positions.phase.nunique() > 15
    assert (popcount(states[:, 0] | states[:, 1]) == positions.phase).all()
    assert (GAME.legal(states).sum(1) > 1).all()
    assert len(np.unique(GAME.canonical(states), axis=0)) == len(positions)


def test_labels_of_late_positions_are_those_of_plain_minimax(positions: pd.DataFrame) -> None:
    late = positions[positions.phase >= 18]
    keeping, losing = move_masks(GAME, late.keeping), move_masks(GAME, late.losing)
    assert len(late) >= 20
    for row, position in enumerate(late.itertuples()):
        board = SlowOthello(5, tuple(position.position.replace("/", "")))
        exact = minimax(board)
        kept = {move for move in board.legal_moves() if -minimax(board.after(move)) == exact}
        assert position.result == exact
        assert set(np.flatnonzero(keeping[row])) == kept
        assert set(np.flatnonzero(losing[row])) == set(board.legal_moves()) - kept
        assert bool(position.decisive) == bool(losing[row].any())


def test_evaluation_sets_survive_the_round_trip_and_damage_is_refused(positions: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "positions.csv"
    write_csv(path, positions, KIND, MADE)
    pd.testing.assert_frame_equal(read_positions(path, GAME), positions.reset_index(drop=True), check_dtype=False)
    write_csv(path, positions.drop(columns="result"), KIND, MADE)
    with pytest.raises(ProbZeroError, match=r"evaluation set: .*positions\.csv: column result: expected present"):
        read_positions(path, GAME)
    with pytest.raises(ProbZeroError, match="expected a file, found nothing"):
        read_positions(tmp_path / "none.csv", GAME)


DECISIVE = "line {}: column result: expected 1 or 0 where a move loses the result, found -1"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda table: {"keeping": "a5"}, "line 2: column keeping: expected with losing, the legal moves"),
        (lambda table: {"keeping": table.losing, "losing": table.keeping}, "column keeping: expected with losing"),
        (lambda table: {"phase": table.phase + 1}, "column phase: expected the phase of the position"),
        (lambda table: {"result": 2}, "column result: expected 1, 0 or -1, found 2"),
        (lambda table: {"result": -1}, DECISIVE),
        (lambda table: {"result": -table.result}, DECISIVE),
        (lambda table: {"decisive": 1 - table.decisive}, "column decisive: expected 1 if a move loses the result"),
        (lambda table: {"losing": ""}, "line 2: column keeping: expected with losing, the legal moves"),
    ],
)
def test_evaluation_sets_that_contradict_themselves_are_refused(
    spoil: Callable[[pd.DataFrame], dict[str, Any]], message: str, positions: pd.DataFrame, tmp_path: Path
) -> None:
    """A move can only lose a result that is not lost yet: with all results turned round, decisive rows give it away."""
    path = tmp_path / "positions.csv"
    write_csv(path, positions.assign(**spoil(positions)), KIND, MADE)
    first = int(((positions.result == 1) & (positions.decisive == 1)).argmax()) + 2
    with pytest.raises(ProbZeroError) as refusal:
        read_positions(path, GAME)
    assert f"{path}: line " in str(refusal.value) and message.format(first) in str(refusal.value)


@pytest.mark.parametrize(("wrong", "raw"), [(False, 1.0), (True, 0.0)])
def test_an_oracle_keeps_every_result_and_its_opposite_none(positions: pd.DataFrame, wrong: bool, raw: float) -> None:
    truth = SMOKE.changed(truth={"particles": 8, "batches": (2, 4)}).truth
    factory = SearchFactory(GAME, Oracle(wrong), SEARCH, 200_000, "capacity")
    table = kept_table(factory, Oracle(wrong), positions, truth, 0)
    shares = table.groupby("particles")[["kept", "positions"]].sum()
    assert list(shares.index) == [0, 16, 32]
    assert shares.loc[0, "kept"] / shares.loc[0, "positions"] == raw
    assert (shares.positions == positions.decisive.sum()).all()
    if not wrong:
        assert (shares.kept == shares.positions).all()


def test_outcomes_are_those_of_the_decisive_positions_one_by_one(positions: pd.DataFrame) -> None:
    class First(Oracle):
        """Prefers the first legal move."""

        def __call__(self, states: np.ndarray, moves: np.ndarray) -> Evaluation:
            found = super().__call__(states, moves)
            prior = np.zeros(moves.shape, np.float32)
            prior[:, 0] = 1.0
            return Evaluation(prior, found.value, found.reward)

    mixed = positions.assign(source=["random", "selfplay"] * (len(positions) // 2) + ["random"] * (len(positions) % 2))
    truth = SMOKE.changed(truth={"particles": 2, "batches": (1,)}).truth
    table = kept_table(SearchFactory(GAME, First(), SEARCH, 200_000, "capacity"), First(), mixed, truth, 0)
    raw = table[table.particles == 0].set_index(["source", "phase"])
    expected: dict[tuple[str, int], str] = {}
    for row in mixed[mixed.decisive == 1].itertuples():
        legal = sorted(np.concatenate([GAME.parse_moves(row.keeping), GAME.parse_moves(row.losing)]))
        group = (row.source, row.phase)
        expected[group] = expected.get(group, "") + str(int(legal[0] in GAME.parse_moves(row.keeping)))
    assert raw.outcomes.to_dict() == expected and {"0", "1"} == set("".join(expected.values()))
    assert (table.outcomes.str.len() == table.positions).all()
    assert (table.outcomes.str.count("1") == table.kept).all()


def test_calibration_of_a_constant_prediction_is_worked_out_by_hand(positions: pd.DataFrame) -> None:
    # Predicting (0.55, 0.15, 0.3) throughout: with shares w, d, l of the results the Brier score is
    # w(0.45² + 0.15² + 0.3²) + d(0.55² + 0.85² + 0.3²) + l(0.55² + 0.15² + 0.7²).
    class Constant(Oracle):
        def __call__(self, states: np.ndarray, moves: np.ndarray) -> Evaluation:
            triple = np.tile(np.array([0.55, 0.15, 0.3], np.float32), (len(states), 1))
            return Evaluation(np.ones(moves.shape, np.float32) / moves.shape[1], triple, triple)

    table = calibration_table(Constant(), GAME, positions)
    count = len(positions)
    won, drawn, lost = ((positions.result == result).mean() for result in (1, 0, -1))
    value = table[table["head"] == "value"]
    assert value.brier.sum() / count == pytest.approx(won * 0.315 + drawn * 1.115 + lost * 0.815, rel=1e-5)
    expected = -(won * np.log(0.55) + drawn * np.log(0.15) + lost * np.log(0.3))
    assert value.log_loss.sum() / count == pytest.approx(expected, rel=1e-5)
    win = value[value.outcome == "win"]
    assert list(win.bin) == [5] and win.frequency.iloc[0] == pytest.approx(won)


def test_perfect_play_wins_every_won_position_against_itself() -> None:
    games = games_from_wins(GAME, PerfectPlayer(GAME), 12, 8, 2, seed=1)
    assert (games.result == 1).all()
    start = games[games.opening == -1]
    assert len(start) == 2 and (start.margin == 13).all() and (start.moves_first == 1).all()
    assert (games[games.opening >= 0].phase <= 12).all()


def test_perfect_play_wins_every_won_position_of_connect_four_against_itself() -> None:
    game = make("connect_four", width=5, height=4)
    games = games_from_wins(game, PerfectPlayer(game), 30, 6, 2, seed=1)
    assert "margin" not in games.columns
    assert len(games) > 5 and (games.opening >= 0).all(), "some openings are decided, the start is a draw"
    assert (games.result == 1).all() and (games.phase == 6).all()
    assert set(games.moves_first) == {0, 1}


def test_what_needs_the_solver_refuses_a_game_too_large_for_it() -> None:
    large = make("othello", size=8)
    start, games = large.start()[None], pd.DataFrame({"opening_moves": [""], "moves": ["d3"]})
    for use in (
        lambda: PerfectPlayer(large),
        lambda: labelled(large, start, "random", threads=1),
        lambda: count_blunders(large, games, threads=1),
        lambda: exact_samples(large, start, threads=1),
    ):
        with pytest.raises(ProbZeroError, match="othello-size8: expected a game that can be solved"):
            use()


def test_labels_of_connect_four_are_those_of_plain_minimax(tmp_path: Path) -> None:
    table = labelled(CONNECT_FOUR, from_random_play(CONNECT_FOUR, 15, seed=2), "random", threads=1)
    write_csv(tmp_path / "positions.csv", table, KIND, MADE)  # names of moves are digits
    pd.testing.assert_frame_equal(read_positions(tmp_path / "positions.csv", CONNECT_FOUR), table, check_dtype=False)
    late = table[table.phase >= 7]
    assert len(late) > 50 and late.decisive.any()
    keeping, losing = move_masks(CONNECT_FOUR, late.keeping), move_masks(CONNECT_FOUR, late.losing)
    for row, position in enumerate(late.itertuples()):
        columns = ("".join(column).rstrip(".") for column in zip(*position.position.split("/"), strict=True))
        board = SlowConnectFour(4, 4, tuple(map(tuple, columns)))
        kept = {move for move in board.legal_moves() if -minimax(board.after(move)) == minimax(board)}
        assert position.result == minimax(board)
        assert set(np.flatnonzero(keeping[row])) == kept
        assert set(np.flatnonzero(losing[row])) == set(board.legal_moves()) - kept


def test_blunders_are_counted_as_plain_minimax_counts_them() -> None:
    game = make("othello", size=4)
    played = play_by_seed(game, 30, game.longest_game, seed=9)
    rows = [row[row >= 0].tolist() for row in played.action.T]
    games = pd.DataFrame(
        {
            "opening_moves": [game.move_names(row[:2]) for row in rows],
            "moves": [game.move_names(row[2:]) for row in rows],
        }
    )
    lost, clean = [], 0
    for row in rows:
        board, spoiled = SlowOthello.start(4).after(row[0]).after(row[1]), False
        for move in row[2:]:
            drop = minimax(board) + minimax(board.after(move))
            lost.append(drop)
            spoiled |= drop > 0
            board = board.after(move)
        clean += not spoiled
    counts = count_blunders(game, games, threads=1)
    assert counts["moves"] == len(lost) and counts["blunders"] == sum(drop > 0 for drop in lost) > 0
    assert counts["result_lost_per_game"] == pytest.approx(sum(lost) / 2 / 30)
    assert counts["games_without_blunder"] == clean


def test_games_without_an_opening_count_every_move() -> None:
    games = pd.DataFrame({"opening_moves": ["", "d3"], "moves": ["d3", "d2"]})
    assert count_blunders(GAME, games, threads=1)["moves"] == 2


def test_a_recorded_illegal_move_is_refused() -> None:
    with pytest.raises(ProbZeroError, match="game 0, ply 2: expected a legal move"):
        count_blunders(GAME, pd.DataFrame({"opening_moves": ["d3"], "moves": ["d3"]}), threads=1)


def test_the_ceiling_never_learns_from_held_out_positions_in_any_turn(positions: pd.DataFrame) -> None:
    states = states_of(GAME, positions)
    turned = GAME.turn(states, np.full(len(states), 5))
    fresh = np.array([[1 << 3, 1 << 4]])
    assert without(GAME, np.concatenate([turned, fresh]), states).tolist() == fresh.tolist()


def test_the_ceiling_learns_exact_labels(positions: pd.DataFrame) -> None:
    samples = exact_samples(GAME, states_of(GAME, positions), threads=1)
    assert np.allclose(samples.policy.sum(1), 1) and (samples.policy[samples.mask == 0] == 0).all()
    settings = SMOKE.changed(
        network={"blocks": 1, "channels": 8}, truth={"ceiling_per_stratum": 12, "ceiling_samples": 4000},
        training={"batch_size": 64, "learning_rate": 3e-3, "final_learning_rate": 1e-3, "weight_decay": 0.0},
    )  # fmt: skip
    _, metrics = train_ceiling(GAME, settings, states_of(GAME, positions), seed_key=3)
    assert metrics["samples"] == 4000 and metrics["policy_agreement"] > 0.3
