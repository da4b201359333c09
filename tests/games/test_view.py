"""Boards as people see them: rows from the top, where each move lands."""

from __future__ import annotations

import numpy as np

from probzero import games


def test_the_start_of_othello() -> None:
    """5×5: Black on c2 and b3, White on b2 and c3; Black may play b1, a2, d3 and c4 (DESIGN)."""
    game = games.make("othello", size=5)
    view = game.view(game.start())
    names = {(row, column): view.columns[column] + view.rows[row] for row in range(5) for column in range(5)}
    assert {names[place] for place in zip(*np.nonzero(view.owner == 1), strict=True)} == {"c2", "b3"}
    assert {names[place] for place in zip(*np.nonzero(view.owner == -1), strict=True)} == {"b2", "c3"}
    assert {game.move_name(action): names[place] for action, place in view.target.items()} == {
        name: name for name in ("b1", "a2", "d3", "c4")
    }


def test_a_pass_lands_nowhere() -> None:
    """One square is free, and only o, who is not to move, can turn a disc from there."""
    game = games.make("othello", size=4)
    passing = game.from_text("oooo/oooo/oooo/oox.")
    assert game.move_names(np.flatnonzero(game.legal(passing[None])[0])) == "pass"
    assert game.view(passing).target == {}


def test_discs_of_connect_four_fall_to_the_bottom() -> None:
    game = games.make("connect_four", width=4, height=4)
    state = game.start()
    for column in (1, 1, 2):
        state = game.play(state[None], np.array([column]))[0]
    view = game.view(state)
    assert view.owner.tolist() == [[0] * 4, [0] * 4, [0, 1, 0, 0], [0, -1, -1, 0]]
    assert view.target == {0: (3, 0), 1: (1, 1), 2: (2, 2), 3: (3, 3)}
    assert view.columns == ("1", "2", "3", "4")


def test_chess_is_seen_with_the_highest_row_first_and_a_letter_for_each_piece() -> None:
    game = games.make("chess")
    view = game.view(game.start())
    assert (view.rows, view.columns) == (tuple("87654321"), tuple("abcdefgh"))
    assert view.owner.tolist() == [[-1] * 8] * 2 + [[0] * 8] * 4 + [[1] * 8] * 2
    assert view.sign[0] == view.sign[7] == tuple("RNBQKBNR") and view.sign[3] == ("",) * 8
    landing = {game.move_name(action): place for action, place in view.target.items()}
    assert landing["e2e4"] == (4, 4) and landing["g1f3"] == (5, 5) and len(landing) == 20
