"""Openings, players and matches."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from oracles.slow_connect_four import SlowConnectFour
from oracles.slow_othello import SlowOthello

from probzero.arena.match import play_match
from probzero.arena.openings import random_openings
from probzero.arena.players import PolicyPlayer
from probzero.arena.simple_players import SCORES, OnePlyPlayer
from probzero.errors import ProbZeroError
from probzero.games import make
from probzero.games.base import Game
from probzero.network.inference import Evaluation

GAME = make("othello", size=5)
CONNECT_FOUR = make("connect_four", width=5, height=4)


def player(name: str, game: Game = GAME) -> tuple[str, OnePlyPlayer]:
    return name, OnePlyPlayer(game, SCORES[name])


def replay(row: pd.Series) -> SlowOthello:
    board = SlowOthello.start(5)
    for move in GAME.parse_moves(f"{row.opening_moves} {row.moves}"):
        assert move in board.legal_moves()
        board = board.after(move)
    return board


def test_openings_are_distinct_up_to_symmetry_and_reached_by_their_moves() -> None:
    openings = random_openings(GAME, 40, 5, seed=3)
    turned = np.unique(GAME.canonical(openings.states), axis=0)
    assert len(turned) == len(openings) == 40
    for index in range(40):
        board = SlowOthello.start(5)
        for action in openings.moves[index]:
            board = board.after(int(action))
        assert board.bitboards() == tuple(openings.states[index])
    again = random_openings(GAME, 40, 5, seed=3)
    assert np.array_equal(openings.moves, again.moves)


def test_asking_for_more_openings_than_there_are_is_refused() -> None:
    with pytest.raises(ProbZeroError, match=r"arena.openings: expected at most \d+ after 1 plies, found 50"):
        random_openings(GAME, 50, 1, seed=0)


@pytest.mark.parametrize("plies", [3, 4])
def test_match_rows_replay_to_the_recorded_margin_and_result(plies: int) -> None:
    openings = random_openings(GAME, 10, plies, seed=1)
    table = play_match(GAME, openings, player("random"), player("greedy"), ("test", 0))
    assert len(table) == 20
    for _, row in table.iterrows():
        board = replay(row)
        assert not board.legal_moves()
        margin = board.margin() if row.plies % 2 == 0 else -board.margin()
        assert (row.margin, row.result) == (margin, np.sign(margin))
        assert row.plies == len(row.moves.split()) + plies


def test_each_opening_is_played_once_with_each_side_first() -> None:
    openings = random_openings(GAME, 6, 4, seed=2)
    table = play_match(GAME, openings, player("mobility"), player("random"), ("test", 0))
    for _, pair in table.groupby("opening"):
        assert sorted(pair["first"]) == ["mobility", "random"]
        assert pair.opening_moves.nunique() == 1


class HighestNumber:
    """A policy that likes moves the more, the higher their number."""

    device = "cpu"

    def __call__(self, states: np.ndarray, moves: np.ndarray) -> Evaluation:
        return Evaluation((moves + 1.0) / 100, moves[:, :3], moves[:, :3])


def test_a_policy_without_search_plays_its_largest_prior_in_every_game_it_follows() -> None:
    openings = random_openings(GAME, 4, 5, seed=7)
    table = play_match(GAME, openings, ("policy", PolicyPlayer(HighestNumber(), GAME)), player("random"), ("test", 0))
    for _, row in table.iterrows():
        board = SlowOthello.start(5)
        for ply, move in enumerate(GAME.parse_moves(f"{row.opening_moves} {row.moves}")):
            if ply >= 5 and (row["first"] if ply % 2 == 0 else row["second"]) == "policy":
                assert move == max(board.legal_moves())
            board = board.after(move)


def test_a_player_moves_by_its_own_rule() -> None:
    # Greedy's moves in the record must each turn the most discs that were to be had.
    openings = random_openings(GAME, 5, 4, seed=4)
    table = play_match(GAME, openings, player("greedy"), player("random"), ("test", 0))
    seen = 0
    for _, row in table.iterrows():
        board, mover = SlowOthello.start(5), "first"
        for index, move in enumerate(GAME.parse_moves(f"{row.opening_moves} {row.moves}")):
            if index >= 4 and row[mover] == "greedy" and move != 25:
                turned = {m: len(board.turned_by(m)) for m in board.placements()}
                assert turned[move] == max(turned.values())
                seen += 1
            board, mover = board.after(move), "second" if mover == "first" else "first"
    assert seen > 50


def test_ties_are_decided_by_the_key_of_the_game() -> None:
    moves = []
    for base in (0, 0, 100):
        chooser = OnePlyPlayer(GAME, SCORES["random"])
        chooser.begin(torch.from_numpy(GAME.start()).repeat(50, 1), torch.arange(50) + base)
        moves.append(chooser.choose(torch.arange(50), 0).tolist())
    assert moves[0] == moves[1] != moves[2]
    assert len(set(moves[0])) == 4


@pytest.mark.parametrize("plies", [2, 3])
def test_a_game_without_margins_is_recorded_by_its_outcome(plies: int) -> None:
    openings = random_openings(CONNECT_FOUR, 8, plies, seed=1)
    table = play_match(
        CONNECT_FOUR, openings, player("random", CONNECT_FOUR), player("mobility", CONNECT_FOUR), ("c4",)
    )
    assert "margin" not in table.columns
    for row in table.itertuples():
        board = SlowConnectFour.start(5, 4)
        moves = CONNECT_FOUR.parse_moves(f"{row.opening_moves} {row.moves}")
        for move in moves:
            assert move in board.legal_moves()
            board = board.after(move)
        assert not board.legal_moves() and row.plies == len(moves)
        assert row.result == (board.outcome() if len(moves) % 2 == 0 else -board.outcome())
    assert {-1, 1} <= set(table.result)


def test_greedy_needs_a_game_with_margins() -> None:
    with pytest.raises(ProbZeroError, match="connect_four-height4-width5: expected one that is won by a margin"):
        player("greedy", CONNECT_FOUR)


def test_mobility_leaves_the_fewest_replies() -> None:
    # From this opening on 5×4, column 1 is one disc short of full: filling it leaves four replies, others five.
    state = torch.from_numpy(CONNECT_FOUR.from_text("x..../o..../x..../....."))
    chooser = OnePlyPlayer(CONNECT_FOUR, SCORES["mobility"])
    chooser.begin(state[None], torch.tensor([3]))
    assert chooser.choose(torch.tensor([0]), 0).tolist() == [0]
