"""Openings, players and matches."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from oracles.slow_othello import SlowOthello

from probzero.arena.match import play_match
from probzero.arena.openings import random_openings
from probzero.arena.simple_players import SCORES, OnePlyPlayer
from probzero.errors import ProbZeroError
from probzero.games.othello import othello, square_name
from probzero.games.symmetry import canonical_bitboards

RULES = othello(5)


def player(name: str) -> tuple[str, OnePlyPlayer]:
    return name, OnePlyPlayer(RULES, SCORES[name])


def replay(row: pd.Series) -> SlowOthello:
    board = SlowOthello.start(5)
    names = {square_name(5, action): action for action in range(26)}
    for move in f"{row.opening_moves} {row.moves}".split():
        assert names[move] in board.legal_moves()
        board = board.after(names[move])
    return board


def test_openings_are_distinct_up_to_symmetry_and_reached_by_their_moves() -> None:
    openings = random_openings(RULES, 40, 5, seed=3)
    turned = set(zip(*(side.tolist() for side in canonical_bitboards(5, openings.own, openings.opp)), strict=True))
    assert len(turned) == len(openings) == 40
    for index in range(40):
        board = SlowOthello.start(5)
        for action in openings.moves[index]:
            board = board.after(int(action))
        assert board.bitboards() == (openings.own[index], openings.opp[index])
    again = random_openings(RULES, 40, 5, seed=3)
    assert np.array_equal(openings.moves, again.moves)


def test_asking_for_more_openings_than_there_are_is_refused() -> None:
    with pytest.raises(ProbZeroError, match=r"arena.openings: expected at most \d+ after 1 plies, found 50"):
        random_openings(RULES, 50, 1, seed=0)


@pytest.mark.parametrize("plies", [3, 4])
def test_match_rows_replay_to_the_recorded_margin_and_result(plies: int) -> None:
    openings = random_openings(RULES, 10, plies, seed=1)
    table = play_match(RULES, openings, player("random"), player("greedy"), ("test", 0))
    assert len(table) == 20
    for _, row in table.iterrows():
        board = replay(row)
        assert not board.legal_moves()
        margin = board.margin() if row.plies % 2 == 0 else -board.margin()
        assert (row.margin, row.result) == (margin, np.sign(margin))
        assert row.plies == len(row.moves.split()) + plies


def test_each_opening_is_played_once_with_each_colour() -> None:
    openings = random_openings(RULES, 6, 4, seed=2)
    table = play_match(RULES, openings, player("mobility"), player("random"), ("test", 0))
    for _, pair in table.groupby("opening"):
        assert sorted(pair.black) == ["mobility", "random"]
        assert pair.opening_moves.nunique() == 1


def test_a_player_moves_by_its_own_rule() -> None:
    # Greedy's moves in the record must each turn the most discs that were to be had.
    openings = random_openings(RULES, 5, 4, seed=4)
    table = play_match(RULES, openings, player("greedy"), player("random"), ("test", 0))
    names = {square_name(5, action): action for action in range(26)}
    seen = 0
    for _, row in table.iterrows():
        board, mover = SlowOthello.start(5), "black"
        for index, move in enumerate(f"{row.opening_moves} {row.moves}".split()):
            if index >= 4 and row[mover] == "greedy" and move != "pass":
                turned = {m: len(board.turned_by(m)) for m in board.placements()}
                assert turned[names[move]] == max(turned.values())
                seen += 1
            board, mover = board.after(names[move]), "white" if mover == "black" else "black"
    assert seen > 50


def test_ties_are_decided_by_the_key_of_the_game() -> None:
    moves = []
    for base in (0, 0, 100):
        chooser = OnePlyPlayer(RULES, SCORES["random"])
        black, white = RULES.start()
        chooser.begin(torch.full((50,), black), torch.full((50,), white), torch.arange(50) + base)
        moves.append(chooser.choose(torch.arange(50), 0).tolist())
    assert moves[0] == moves[1] != moves[2]
    assert len(set(moves[0])) == 4
