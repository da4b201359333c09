"""The engine follows the rules of Connect Four: against known counts, positions by hand and a slow implementation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from oracles.slow_connect_four import SlowConnectFour
from perft import perft

from probzero import games
from probzero.errors import ProbZeroError
from probzero.games.base import Game

SHAPES = ((7, 6), (4, 4), (5, 4), (1, 6), (7, 1), (6, 5), (3, 6), (1, 1))
PERFT = [7, 49, 343, 2401, 16807, 117649, 823536, 5686266]


def connect_four(width: int = 7, height: int = 6) -> Game:
    return games.make("connect_four", width=width, height=height)


def board(text: str) -> tuple[Game, np.ndarray]:
    """The game of a board's size and its state [1, 2]; rows from the lowest, x to move."""
    rows = text.split("/")
    game = connect_four(len(rows[0]), len(rows))
    return game, game.from_text(text)[None]


def played(game: Game, columns: str) -> np.ndarray:
    """The state [1, 2] after moves into these columns, numbered from 1, all of which must be legal."""
    states = game.start()[None]
    for action in game.parse_moves(" ".join(columns)):
        assert game.legal(states)[0, action]
        states = game.play(states, np.array([action]))
    return states


def compiled_moves(game: Game, state: np.ndarray) -> list[int]:
    moves = np.zeros(game.most_moves, dtype=np.int64)
    return moves[: game.rules.legal(state, moves)].tolist()


def test_perft_matches_the_known_counts() -> None:
    assert perft(connect_four(), len(PERFT)) == PERFT


@pytest.mark.parametrize(
    "columns",
    [
        "1122334",  # along the lowest row, from its beginning
        "4455667",  # and to its end
        "1212121",  # up the first column
        "7676767",  # up the last
        "12233434474",  # rising to the right, from the corner
        "76655454414",  # rising to the left, from the corner
        "71212121",  # the second player, up the first column
    ],
)
def test_each_kind_of_line_wins_for_who_has_just_moved(columns: str) -> None:
    game = connect_four()
    assert not game.finished(played(game, columns[:-1]))[0]
    won = played(game, columns)
    assert game.finished(won)[0] and game.outcome(won)[0] == -1
    assert compiled_moves(game, won[0]) == [] and game.rules.outcome(won[0]) == -1


@pytest.mark.parametrize(
    "text",
    [
        "....ooo/o......",  # along a row and on to the next
        ".....oo/oo.....",
        ".....o/....../o...../.o..../..o...",  # rising to the right, over the right edge
        ".o..../o....o/....o.",  # rising to the left, over the left edge
        "o../.o./..o/o..",  # a board on which no diagonal has four squares
        "ooo.ooo",  # a gap
    ],
)
def test_lines_neither_wrap_round_edges_nor_have_gaps(text: str) -> None:
    game, states = board(text)
    assert game.legal(states).any() and game.outcome(states)[0] == 0
    assert compiled_moves(game, states[0]) and game.rules.outcome(states[0]) == 0


def test_a_full_board_without_a_line_is_a_draw() -> None:
    game, states = board("xxoo/ooxx/xxoo/ooxx")
    assert game.finished(states)[0] and game.outcome(states)[0] == 0


def test_the_last_square_can_win() -> None:
    game, states = board("ooxo/oxoo/ooxx/xxx.")
    assert np.flatnonzero(game.legal(states)).tolist() == [3]
    full = game.play(states, np.array([3]))
    assert game.to_text(full[0]) == "xxox/xoxx/xxoo/oooo"
    assert game.finished(full)[0] and game.outcome(full)[0] == -1


def test_a_full_column_takes_no_further_disc() -> None:
    game = connect_four()
    states = played(game, "444444")
    assert game.to_text(states[0]) == "...x.../...o.../...x.../...o.../...x.../...o..."
    assert np.flatnonzero(game.legal(states)).tolist() == [0, 1, 2, 4, 5, 6]


def random_games(width: int, height: int, count: int) -> list[SlowConnectFour]:
    """Positions met in random games played by the slow implementation."""
    rng = np.random.default_rng(10 * width + height)
    positions = []
    for _ in range(count):
        board = SlowConnectFour.start(width, height)
        while True:
            positions.append(board)
            moves = board.legal_moves()
            if not moves:
                break
            board = board.after(moves[rng.integers(len(moves))])
    return positions


@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize(("width", "height"), SHAPES)
def test_every_rule_agrees_with_the_slow_implementation_on_random_games(width: int, height: int, kind: str) -> None:
    game = connect_four(width, height)
    positions = random_games(width, height, 25)
    states = np.stack([game.from_text(position.text()) for position in positions])
    convert = torch.from_numpy if kind == "torch" else np.asarray
    legal, outcome = np.asarray(game.legal(convert(states))), np.asarray(game.outcome(convert(states)))
    for index, position in enumerate(positions):
        assert np.flatnonzero(legal[index]).tolist() == position.legal_moves()
        assert position.legal_moves() or outcome[index] == position.outcome()
    row, action = np.nonzero(legal)
    after = np.asarray(game.play(convert(states[row]), convert(action)))
    for index in range(len(row)):
        assert game.to_text(after[index]) == positions[row[index]].after(int(action[index])).text()


def test_random_games_on_7_by_6_are_won_by_both_and_on_a_narrow_board_drawn() -> None:
    ends = [position for position in random_games(7, 6, 25) if not position.legal_moves()]
    assert {sum(map(len, end.columns)) % 2 for end in ends if end.outcome()} == {0, 1}
    assert all(end.outcome() == 0 for end in random_games(1, 6, 25))


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"width": 8, "height": 6}, "game.width: expected one of 1, 2, 3, 4, 5, 6, 7, found 8"),
        ({"width": 7, "height": 7}, "game.height: expected one of 1, 2, 3, 4, 5, 6, found 7"),
        ({"width": True, "height": 1}, "game.width: expected one of 1, 2, 3, 4, 5, 6, 7, found True"),
        ({"width": 7}, "game.height: expected an option that connect_four needs, found nothing"),
        ({"width": 7, "height": 6, "size": 5}, "game.size: expected no option of connect_four but width, height"),
    ],
)
def test_other_boards_are_refused(options: dict[str, int], found: str) -> None:
    connect_four(1, 1)  # True, equal to 1, must not be taken for it
    with pytest.raises(ProbZeroError, match=found):
        games.make("connect_four", **options)


def test_moves_are_named_by_their_columns_from_1() -> None:
    game = connect_four()
    assert game.move_names([0, 6]) == "1 7"
    with pytest.raises(ProbZeroError, match="expected names of moves of connect_four-height6-width7, found 8"):
        game.parse_moves("1 8")


def test_left_and_right_are_alike_and_up_and_down_are_not() -> None:
    game, states = board("xo../x...")
    assert [game.to_text(game.turn(states, np.array([k]))[0]) for k in (0, 1)] == ["xo../x...", "..ox/...x"]
    assert game.symmetries.actions.tolist() == [[0, 1, 2, 3], [3, 2, 1, 0]]
