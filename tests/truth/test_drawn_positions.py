"""Draws against exact truth: labels, measures, exact samples, perfect play and blunders where a draw is at stake."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from drawn import BOARDS, Drawn, drawn_positions, minimax, states_of
from oracles.slow_connect_four import SlowConnectFour
from sealed import wide

from probzero import config, games
from probzero.arena.match import final_score, play_match, play_out
from probzero.arena.openings import Openings
from probzero.arena.simple_players import SCORES, OnePlyPlayer
from probzero.config import Search
from probzero.games.base import Game
from probzero.games.random_play import play_by_seed
from probzero.network.inference import Evaluation
from probzero.search.build import SearchFactory
from probzero.truth.blunders import count_blunders
from probzero.truth.ceiling import exact_samples
from probzero.truth.labels import Solver, best_moves, decisive, keeps_result
from probzero.truth.measures import calibration_table, kept_table
from probzero.truth.perfect import PerfectPlayer
from probzero.truth.positions import labelled

pytestmark = pytest.mark.usefixtures("one_thread")

SMOKE = config.load(Path(__file__).parents[2] / "config" / "smoke.yaml")
SEARCH = Search(splitting="systematic", temperature=1.0, cache=True)
DRAW = [0.0, 1.0, 0.0]

every_board = pytest.mark.parametrize("board", BOARDS)


class Preferring:
    """An evaluator that gives nearly all prior to the moves that keep the draw, or to those that lose it."""

    device = torch.device("cpu")

    def __init__(self, positions: tuple[Drawn, ...], losing: bool) -> None:
        self.liked = {drawn.state: drawn.losing if losing else drawn.keeping for drawn in positions}
        self.triple = torch.tensor([[0.55, 0.15, 0.3]])

    def __call__(self, states: torch.Tensor, moves: torch.Tensor) -> Evaluation:
        prior = torch.full(moves.shape, 1e-3)
        for row, state in enumerate(states.tolist()):
            for slot, move in enumerate(moves[row].tolist()):
                if move in self.liked.get(tuple(state), ()) and move not in moves[row, :slot]:
                    prior[row, slot] = 1.0
        triple = self.triple.repeat(len(states), 1)
        return Evaluation(prior / prior.sum(1, keepdim=True), triple, triple)


@every_board
def test_drawn_positions_are_labelled_as_such_with_the_moves_that_keep_the_draw(board: str) -> None:
    game, positions = BOARDS[board], drawn_positions(board)
    states = states_of(positions)
    for margins in {False, game.has_margin}:
        labels = Solver(game, threads=1).label(states, margins=margins)
        assert not labels.result.any() and decisive(labels).all()
        for row, drawn in enumerate(positions):
            assert set(np.flatnonzero(keeps_result(labels)[row])) == drawn.keeping
            assert set(np.flatnonzero(labels.action_result[row] == -1)) == drawn.losing
            assert set(np.flatnonzero(best_moves(labels)[row])) == drawn.keeping  # a margin of 0 is a draw and no other
    table = labelled(game, states, "drawn", threads=1)
    assert (table.result == 0).all() and (table.decisive == 1).all()
    assert table.keeping.tolist() == [game.move_names(sorted(drawn.keeping)) for drawn in positions]
    assert table.losing.tolist() == [game.move_names(sorted(drawn.losing)) for drawn in positions]


@every_board
@pytest.mark.parametrize("losing", [False, True], ids=["keeping", "losing"])
def test_a_draw_that_is_kept_counts_as_kept_and_one_that_is_lost_does_not(board: str, losing: bool) -> None:
    game, positions = BOARDS[board], drawn_positions(board)
    network = Preferring(positions, losing)
    factory = SearchFactory(game, network, SEARCH, 40_000, "capacity")  # type: ignore[arg-type]
    truth = SMOKE.changed(truth={"particles": 8, "batches": (200,)}).truth
    table = kept_table(factory, network, labelled(game, states_of(positions), "drawn", 1), truth, 0)  # type: ignore[arg-type]
    counted = table.groupby("particles")[["positions", "kept"]].sum()
    assert counted.positions.tolist() == [12, 12]
    # The raw policy does what it likes; a search to the end of every game knows better.
    assert counted.kept.tolist() == [0 if losing else 12, 12]


@every_board
def test_calibration_where_all_is_drawn_by_hand(board: str) -> None:
    # (0.55, 0.15, 0.3) for a draw: 0.55² + 0.85² + 0.3² = 1.115, and −ln 0.15.
    game, positions = BOARDS[board], drawn_positions(board)
    network = Preferring(positions, False)
    table = calibration_table(network, game, labelled(game, states_of(positions), "drawn", 1))  # type: ignore[arg-type]
    for _, scores in table.groupby("head"):
        assert scores.brier.sum() / 12 == pytest.approx(1.115, rel=1e-5)
        assert scores.log_loss.sum() / 12 == pytest.approx(-np.log(0.15), rel=1e-5)
        assert dict(zip(scores.outcome, scores.frequency, strict=True)) == {"win": 0, "draw": 1, "loss": 0}


@every_board
def test_exact_samples_of_drawn_positions_say_so(board: str) -> None:
    positions = drawn_positions(board)
    samples = exact_samples(BOARDS[board], states_of(positions), threads=1)
    policy, _ = wide(samples, BOARDS[board])
    assert samples.value.tolist() == samples.reward.tolist() == [DRAW] * 12
    for row, drawn in enumerate(positions):
        share = {move: 1 / len(drawn.keeping) for move in drawn.keeping}
        assert {move: policy[row, move] for move in np.flatnonzero(policy[row])} == pytest.approx(share)


def results(game: Game, states: np.ndarray, turn: int, other: OnePlyPlayer | PerfectPlayer) -> list[int]:
    """Results for the perfect player against another from states [n, W]; it moves first if `turn` is 0."""
    turns = np.full(len(states), turn)
    ended, moves = play_out(game, states, turns, (PerfectPlayer(game), other), np.arange(len(states)))
    to_move = (turns + (moves >= 0).sum(1)) % 2
    return final_score(game, ended, 1 - 2 * to_move)["result"]


@every_board
def test_perfect_players_hold_a_draw_against_anybody_and_each_other(board: str) -> None:
    game = BOARDS[board]
    states = states_of(drawn_positions(board))
    chance = OnePlyPlayer(game, SCORES["random"])
    for turn in (0, 1):
        assert set(results(game, states, turn, PerfectPlayer(game))) == {0}
        assert set(results(game, states, turn, chance)) <= {0, 1}
    assert 1 in results(game, states, 1, chance), "somebody who plays at random loses a draw"


def test_a_drawn_match_is_one_for_both_sides() -> None:
    game = BOARDS["connect four 4x4"]  # a draw from the start
    openings = Openings(np.stack([game.start()] * 3), np.zeros((3, 0), dtype=np.int64))
    table = play_match(game, openings, ("one", PerfectPlayer(game)), ("other", PerfectPlayer(game)), ("draws",))
    assert table.result.tolist() == [0] * 6 and table["first"].tolist() == ["one", "other"] * 3


def test_half_a_result_is_lost_with_a_draw_as_plain_minimax_counts_it() -> None:
    game = games.make("connect_four", width=4, height=3)
    played = play_by_seed(game, 40, game.longest_game, seed=3)
    rows = [row[row >= 0].tolist() for row in played.action.T]
    lost = {(0, 1): 0, (1, 1): 0, (1, 2): 0}  # from draw to loss, from win to draw, from win to loss
    for row in rows:
        board = SlowConnectFour.start(4, 3)
        for move in row:
            drop = minimax(board) + minimax(board.after(move))
            if drop:
                lost[minimax(board), drop] += 1
            board = board.after(move)
    counts = count_blunders(
        game, pd.DataFrame({"opening_moves": "", "moves": [game.move_names(row) for row in rows]}), threads=1
    )
    assert lost[0, 1] > 0 and lost[1, 1] > 0
    assert counts["blunders"] == sum(lost.values())
    assert counts["result_lost_per_game"] == pytest.approx((lost[0, 1] + lost[1, 1] + 2 * lost[1, 2]) / 2 / 40)
