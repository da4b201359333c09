"""Strength against exact truth: evaluation sets, measures, the perfect player, blunders and the ceiling."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from oracles.slow_othello import SlowOthello
from probzero.games.bits import popcount

from probzero import wdl
from probzero.config import Network, Search, Training
from probzero.errors import ProbZeroError
from probzero.games.othello import move_names, othello
from probzero.games.random_play import play_randomly
from probzero.games.symmetry import canonical_bitboards, turn_bitboards
from probzero.network.inference import Evaluation
from probzero.search.build import SearchFactory
from probzero.truth.blunders import count_blunders, read_games
from probzero.truth.ceiling import exact_samples, train_ceiling, without
from probzero.truth.labels import keeps_result, label
from probzero.truth.measures import calibration_table, kept_table
from probzero.truth.perfect import PerfectPlayer, games_from_wins
from probzero.truth.positions import boards, from_random_play, labelled, move_masks, read_positions

RULES = othello(5)
SEARCH = Search(splitting="systematic", temperature=1.0, cache=True)


@cache
def minimax(board: SlowOthello) -> int:
    """The exact result for the player to move, by trying everything."""
    moves = board.legal_moves()
    if not moves:
        return (board.margin() > 0) - (board.margin() < 0)
    return max(-minimax(board.after(move)) for move in moves)


@pytest.fixture(scope="module")
def positions() -> pd.DataFrame:
    return labelled(RULES, *from_random_play(RULES, 6, seed=5), "random", threads=1)


class Oracle:
    """An evaluator that knows the truth: its prior and values come from the solver, turned round if `wrong`."""

    device = torch.device("cpu")

    def __init__(self, wrong: bool = False) -> None:
        self.wrong = wrong

    def __call__(self, own: torch.Tensor, opp: torch.Tensor, legal: torch.Tensor) -> Evaluation:
        labels = label(5, own.numpy(), opp.numpy(), margins=False, threads=1, progress=False)
        good = torch.from_numpy(keeps_result(labels)) & legal
        prior = torch.where(legal, torch.where(good ^ self.wrong, 1.0, 1e-3), 0.0)
        outcome = wdl.from_result(torch.from_numpy(labels.result.astype(np.int64)))
        return Evaluation(prior / prior.sum(1, keepdim=True), outcome, outcome)


def test_evaluation_sets_are_stratified_distinct_and_have_a_choice(positions: pd.DataFrame) -> None:
    own, opp = boards(positions)
    assert positions.groupby("discs").size().max() == 6 and positions.discs.nunique() > 15
    assert (popcount(own | opp) == positions.discs).all()
    assert (RULES.legal(own, opp).sum(1) > 1).all()
    turned = np.stack(canonical_bitboards(5, own, opp), axis=1)
    assert len(np.unique(turned, axis=0)) == len(positions)


def test_labels_of_late_positions_are_those_of_plain_minimax(positions: pd.DataFrame) -> None:
    late = positions[positions.discs >= 18]
    keeping, losing = move_masks(RULES, late.keeping), move_masks(RULES, late.losing)
    assert len(late) >= 20
    for row, position in enumerate(late.itertuples()):
        board = SlowOthello.from_bitboards(5, position.own, position.opp)
        exact = minimax(board)
        kept = {move for move in board.legal_moves() if -minimax(board.after(move)) == exact}
        assert position.result == exact
        assert set(np.flatnonzero(keeping[row])) == kept
        assert set(np.flatnonzero(losing[row])) == set(board.legal_moves()) - kept
        assert bool(position.decisive) == bool(losing[row].any())


def test_evaluation_sets_survive_the_round_trip_and_damage_is_refused(positions: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "positions.csv"
    positions.to_csv(path, index=False)
    pd.testing.assert_frame_equal(read_positions(path, RULES), positions.reset_index(drop=True), check_dtype=False)
    spoiled = positions.copy()
    spoiled.loc[3, "keeping"] = "a5"
    spoiled.to_csv(path, index=False)
    with pytest.raises(ProbZeroError, match=r"positions.csv, row 4: expected the legal moves"):
        read_positions(path, RULES)
    positions.drop(columns="result").to_csv(path, index=False)
    with pytest.raises(ProbZeroError, match="expected the columns"):
        read_positions(path, RULES)
    with pytest.raises(ProbZeroError, match="expected a CSV file, found nothing"):
        read_positions(tmp_path / "none.csv", RULES)


@pytest.mark.parametrize(("wrong", "raw"), [(False, 1.0), (True, 0.0)])
def test_an_oracle_keeps_every_result_and_its_opposite_none(positions: pd.DataFrame, wrong: bool, raw: float) -> None:
    table = kept_table(
        SearchFactory(RULES, Oracle(wrong), SEARCH, 200_000, "capacity"), Oracle(wrong), positions, 8, [2, 4], 0
    )
    shares = table.groupby("particles")[["kept", "positions"]].sum()
    assert list(shares.index) == [0, 16, 32]
    assert shares.loc[0, "kept"] / shares.loc[0, "positions"] == raw
    assert (shares.positions == positions.decisive.sum()).all()
    if not wrong:
        assert (shares.kept == shares.positions).all()


def test_calibration_of_a_constant_prediction_is_worked_out_by_hand(positions: pd.DataFrame) -> None:
    # Predicting (0.55, 0.15, 0.3) throughout: with shares w, d, l of the results the Brier score is
    # w(0.45² + 0.15² + 0.3²) + d(0.55² + 0.85² + 0.3²) + l(0.55² + 0.15² + 0.7²).
    class Constant(Oracle):
        def __call__(self, own: torch.Tensor, opp: torch.Tensor, legal: torch.Tensor) -> Evaluation:
            triple = torch.tensor([[0.55, 0.15, 0.3]]).repeat(len(own), 1)
            return Evaluation(legal / legal.sum(1, keepdim=True), triple, triple)

    table = calibration_table(Constant(), RULES, positions)
    count = len(positions)
    won, drawn, lost = ((positions.result == result).mean() for result in (1, 0, -1))
    value = table[table["head"] == "value"]
    assert value.brier.sum() / count == pytest.approx(won * 0.315 + drawn * 1.115 + lost * 0.815, rel=1e-5)
    expected = -(won * np.log(0.55) + drawn * np.log(0.15) + lost * np.log(0.3))
    assert value.log_loss.sum() / count == pytest.approx(expected, rel=1e-5)
    win = value[value.outcome == "win"]
    assert list(win.bin) == [5] and win.frequency.iloc[0] == pytest.approx(won)


def test_perfect_play_wins_every_won_position_against_itself() -> None:
    games = games_from_wins(RULES, PerfectPlayer(RULES), 12, 8, 2, seed=1)
    assert (games.result == 1).all()
    start = games[games.opening == -1]
    assert len(start) == 2 and (start.margin == 13).all() and (start.moves_first == 1).all()
    assert (games[games.opening >= 0].discs <= 12).all()


def test_blunders_are_counted_as_plain_minimax_counts_them() -> None:
    rules = othello(4)
    played = play_randomly(rules, 30, rules.longest_game, seed=9)
    rows = [row[row >= 0].tolist() for row in played.action.T]
    games = pd.DataFrame(
        {"opening_moves": [move_names(4, row[:2]) for row in rows], "moves": [move_names(4, row[2:]) for row in rows]}
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
    counts = count_blunders(rules, games, threads=1)
    assert counts["moves"] == len(lost) and counts["blunders"] == sum(drop > 0 for drop in lost) > 0
    assert counts["result_lost_per_game"] == pytest.approx(sum(lost) / 2 / 30)
    assert counts["games_without_blunder"] == clean


def test_games_without_an_opening_are_read_as_games_from_the_start(tmp_path: Path) -> None:
    path = tmp_path / "shard.csv"
    path.write_text("game,opening_moves,moves\n0,,d3\n1,d3,d2\n")
    assert read_games([path]).opening_moves.tolist() == ["", "d3"]
    assert count_blunders(RULES, read_games([path]), threads=1)["moves"] == 2
    path.write_text("game,moves\n0,d3\n")
    with pytest.raises(
        ProbZeroError, match=r"shard\.csv: expected the columns opening_moves and moves, found game, moves"
    ):
        read_games([path])
    with pytest.raises(ProbZeroError, match="expected a CSV file, found nothing"):
        read_games([tmp_path / "none.csv"])


def test_a_recorded_illegal_move_is_refused() -> None:
    with pytest.raises(ProbZeroError, match="game 0, ply 2: expected a legal move"):
        count_blunders(RULES, pd.DataFrame({"opening_moves": ["d3"], "moves": ["d3"]}), threads=1)


def test_the_ceiling_never_learns_from_held_out_positions_in_any_turn(positions: pd.DataFrame) -> None:
    own, opp = boards(positions)
    turned = [turn_bitboards(5, side, np.full(len(own), 5)) for side in (own, opp)]
    kept_own, _ = without(RULES, np.r_[turned[0], 1 << 3], np.r_[turned[1], 1 << 4], (own, opp))
    assert kept_own.tolist() == [1 << 3]


def test_the_ceiling_learns_exact_labels(positions: pd.DataFrame) -> None:
    settings = Training(
        iterations=1, batch_size=64, samples=0, learning_rate=3e-3, final_learning_rate=1e-3, weight_decay=0.0,
        gradient_clip=1.0, symmetries=True, replay_window=1, visit_exponent=0.5, device="cpu", threads=1,
    )  # fmt: skip
    samples = exact_samples(RULES, *boards(positions), threads=1)
    assert np.allclose(samples.policy.sum(1), 1) and (samples.policy[samples.mask == 0] == 0).all()
    _, metrics = train_ceiling(RULES, Network(blocks=1, channels=8), settings, boards(positions), 12, 4000, seed_key=3)
    assert metrics["samples"] == 4000 and metrics["policy_agreement"] > 0.3
