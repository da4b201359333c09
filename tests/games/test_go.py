"""The engine follows the rules of Go: published counts, cases worked by hand and a slow implementation."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import torch
from oracles.slow_go import SlowGo

from probzero import games
from probzero.errors import ProbZeroError
from probzero.games.base import Game
from probzero.games.go import LONGEST_WAY
from probzero.games.names import named, short_name
from probzero.truth.labels import Solver, best_moves

LONGEST = 60


def go(size: int = 5, komi: float = 0, longest: int = LONGEST) -> Game:
    return games.make("go", size=size, komi=komi, longest=longest)


def position(text: str) -> tuple[Game, np.ndarray]:
    """The game of a board's size and its state [1, 4]; rows from the lowest, x to move, then ko, ply and passes."""
    game = go(len(text.split("/")[0]))
    states = game.from_text(text)[None]
    game.check_states(states)
    return game, states


def played(game: Game, states: np.ndarray, names: str) -> np.ndarray:
    """The state [1, 4] after these moves, all of which must be legal, in both forms."""
    states, moves = states.copy(), np.zeros(game.actions, dtype=np.int64)
    for action in game.parse_moves(names):
        assert game.legal(states)[0, action]
        assert action in moves[: game.rules.legal(states[0], moves)]
        after = game.play(states, np.array([action]))
        game.rules.play(states[0], action, states[0])
        assert np.array_equal(states, after)
    return states


def legal_names(game: Game, states: np.ndarray) -> set[str]:
    moves = np.zeros(game.actions, dtype=np.int64)
    listed = moves[: game.rules.legal(states[0], moves)].tolist()
    assert listed == np.flatnonzero(game.legal(states)[0]).tolist()
    return set(game.move_names(listed).split())


# Counts.


def arrangements(size: int, first: int, last: int) -> np.ndarray:
    """Boards number first … last − 1 of all 3^(N²), as states [n, 4]."""
    digits = np.arange(first, last)[:, None] // 3 ** np.arange(size * size) % 3
    own, opp = ((digits == kind) << np.arange(size * size) for kind in (1, 2))
    return np.stack([own.sum(1), opp.sum(1), own[:, 0] * 0, own[:, 0] * 0], axis=1)


@pytest.mark.parametrize(("size", "expected"), [(2, 57), (3, 12_675)])
def test_as_many_boards_can_stand_as_the_literature_counts(size: int, expected: int) -> None:
    assert go(size).can_stand(arrangements(size, 0, 3 ** (size * size))).sum() == expected


@pytest.mark.slow
def test_as_many_boards_of_4_by_4_can_stand_as_the_literature_counts() -> None:
    step = 3**12
    parts = range(0, 3**16, step)
    assert sum(go(4).can_stand(arrangements(4, first, first + step)).sum() for first in parts) == 24_318_165


def test_perft_without_passes_matches_the_known_counts() -> None:
    game, counts = go(), []
    states = game.start()[None]
    for _ in range(4):
        row, action = np.nonzero(game.legal(states)[:, : game.shape.squares])
        states = game.play(states[row], action)
        counts.append(len(states))
    assert counts == [25, 600, 13_800, 303_424]


# Cases worked by hand; rows of boards from the lowest, x to move.


@pytest.mark.parametrize(
    ("before", "names", "after"),
    [
        (  # three groups of four stones have their last liberty in the centre
            "..x../.xox./xo.ox/.xxox/...x. - 20 0",
            "c3",
            "..o../.o.o./o.o.o/.oo.o/...o. - 21 0",
        ),
        (  # snapback: a stone thrown in is taken, and what took it is taken there at once
            "..ox./ooox./xxx../...../..... - 10 0",
            "b1 a1 b1",
            ".o.o./...o./ooo../...../..... - 13 0",
        ),
        (  # in the corner: the last liberty of the taken stones is the first of the stone
            ".ox../ox.../x..../...../..... - 8 0",
            "a1",
            "o.o../.o.../o..../...../..... - 9 0",
        ),
        (  # a stone without a liberty of its own joins a group that has one
            "o.x../.x.../...../...../..... - 4 0",
            "b1",
            "xoo../.o.../...../...../..... - 5 0",
        ),
        ("...../...../...../...../..... - 0 0", "pass c3 pass pass", "...../...../..o../...../..... - 4 2"),
    ],
    ids=["three groups", "snapback", "corner", "joining", "passing"],
)
def test_stones_are_placed_and_taken_as_by_hand(before: str, names: str, after: str) -> None:
    game, states = position(before)
    assert game.to_text(played(game, states, names)[0]) == after


KO = ".xo../xo.o./.xo../...../..... - 10 0"


def test_a_single_stone_may_not_be_retaken_at_once_but_later() -> None:
    game, states = position(KO)
    taken = played(game, states, "c2")
    assert game.to_text(taken[0]) == ".ox../o.ox./.ox../...../..... b2 11 0"
    assert "b2" not in legal_names(game, taken)
    for between in ("a5 e5", "a5 pass"):
        assert "b2" in legal_names(game, played(game, states, f"c2 {between}"))
    again = played(game, states, "c2 a5 e5 b2")
    assert game.to_text(again[0]) == ".xo../xo.o./.xo../...../o...x c2 14 0"
    assert "c2" not in legal_names(game, again)


def test_suicide_is_illegal_for_one_stone_and_for_many_unless_it_takes() -> None:
    game, states = position(".o.../o..../...../...../..... - 4 0")
    assert legal_names(game, states) == set(game.move_names(range(26)).split()) - {"a1", "b1", "a2"}
    assert "b1" not in legal_names(*position("x.o../oo.../...../...../..... - 6 0"))
    game, states = position("x.ox./oox../x..../...../..... - 8 0")
    assert "b1" in legal_names(game, states)
    assert game.to_text(played(game, states, "b1")[0]) == "oo.o./xxo../o..../...../..... - 9 0"


SEKI = ".ox.ox./oox.oxx/.oxxox./ooooxxx/...ox../...ox../...ox.. - 40 0"


def test_in_a_seki_who_moves_first_loses_the_group_and_its_liberties_count_for_nobody() -> None:
    game, states = position(SEKI)
    assert game.margin(states)[0] == (14 + 2 + 6) - (14 + 2 + 9) == game.rules.value(states[0])
    lost = played(game, states, "d1 d2")
    assert game.to_text(lost[0]).split()[0] == ".o..ox./oo.ooxx/.o..ox./ooooxxx/...ox../...ox../...ox.."
    won = played(game, states, "pass d1 d2")
    assert game.to_text(won[0]).split()[0] == ".xo..o./xxoo.oo/.xoo.o./xxxxooo/...xo../...xo../...xo.."


@pytest.mark.parametrize(
    ("text", "komi", "margin"),
    [
        ("...../...../...../...../..... - 0 0", 0, 0),
        ("...../...../..o../...../..... - 1 0", 0, -25),
        ("...../.o.../..x../...../..... - 2 0", 0, 0),  # all empty squares reach both
        ("xx.../..x../xxxoo/ooooo/..... - 20 0", 0, (6 + 2) - (7 + 5)),
        ("...../...../...../...../..... - 0 0", 0.5, -1),  # half a point counts as one
        ("...../...../...../...../..... - 1 0", 0.5, 1),
        ("...../...../..o../...../..... - 1 0", 2.5, -23),
        ("...../...../..o../...../..... - 1 0", 25, 0),
        ("...../...../..o../...../..... - 1 0", 25.5, 1),
        ("...../...../..o../...../..... - 1 0", 49, 24),
    ],
)
def test_areas_are_counted_as_by_hand_and_komi_is_the_second_players(text: str, komi: float, margin: int) -> None:
    game = go(5, komi)
    states = game.from_text(text)[None]
    assert game.margin(states)[0] == margin and game.outcome(states)[0] == np.sign(margin)
    if komi in (0, 2.5):  # each komi is compiled anew
        assert game.rules.value(states[0]) == margin and game.rules.outcome(states[0]) == np.sign(margin)


def test_two_passes_in_a_row_or_the_longest_game_end_it() -> None:
    game = go(longest=6)
    start = game.start()[None]
    assert not game.finished(played(game, start, "pass a1 pass b1"))[0]
    for names in ("a1 pass pass", "pass pass", "a1 b1 c1 d1 e1 a2"):
        states = played(game, start, names)
        assert game.finished(states)[0] and legal_names(game, states) == set()


# The slow implementation.


@cache
def random_games(size: int, count: int) -> list[SlowGo]:
    """Positions met in random games played by the slow implementation, with few passes so that boards fill up."""
    rng, positions = np.random.default_rng(size), []
    for _ in range(count):
        board = SlowGo.start(size)
        while moves := board.legal_moves(LONGEST):
            positions.append(board)
            placements = moves[:-1] if rng.random() < 0.95 else []
            board = board.after(rng.choice(placements) if placements else moves[-1])
        positions.append(board)
    return positions


@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize(("size", "count"), [(2, 20), (3, 15), (5, 7), (7, 2)])
def test_every_rule_agrees_with_the_slow_implementation_on_random_games(size: int, count: int, kind: str) -> None:
    game, positions = go(size), random_games(size, count)
    states = np.stack([game.from_text(position.text()) for position in positions])
    game.check_states(states)
    convert = torch.from_numpy if kind == "torch" else np.asarray
    legal, margin = np.asarray(game.legal(convert(states))), np.asarray(game.margin(convert(states)))
    for index, position in enumerate(positions):
        assert np.flatnonzero(legal[index]).tolist() == position.legal_moves(LONGEST)
        assert margin[index] == position.black_points() * (1 if position.ply % 2 == 0 else -1)
    row, action = np.nonzero(legal)
    after = np.asarray(game.play(convert(states[row]), convert(action)))
    for index in range(0, len(row), 1 if size < 5 else 5):
        assert game.to_text(after[index]) == positions[row[index]].after(int(action[index])).text()


@pytest.mark.parametrize(("size", "count"), [(3, 15), (5, 7)])
def test_random_games_take_stones_meet_ko_and_end_both_ways(size: int, count: int) -> None:
    positions = random_games(size, count)
    pairs = [(one, two) for one, two in pairwise(positions) if two.ply]
    assert any(two.board.count(".") > one.board.count(".") for one, two in pairs)
    assert any(position.ko() for position in positions)
    assert {position.ply == LONGEST for position in positions if not position.legal_moves(LONGEST)} == {True, False}


# Play.


def test_on_3_by_3_black_takes_the_whole_board_from_the_centre_alone() -> None:
    game = go(3, longest=14)
    labels = Solver(game, threads=1).label(game.start()[None])
    assert labels.margin.tolist() == [9]
    assert game.move_names(np.flatnonzero(best_moves(labels)[0])) == "b2"


# What is refused.


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"size": 8}, "game.size: expected one of 2, 3, 4, 5, 6, 7, found 8"),
        ({"size": 1}, "game.size: expected one of 2, 3, 4, 5, 6, 7, found 1"),
        ({"komi": -0.5}, r"game.komi: expected one of 0, 0.5, 1, … 49, found -0.5"),
        ({"komi": 0.25}, r"game.komi: expected one of 0, 0.5, 1, … 49, found 0.25"),
        ({"komi": 1.0}, r"game.komi: expected one of 0, 0.5, 1, … 49, found 1.0"),  # 1 has one spelling
        ({"komi": float("nan")}, "game.komi: expected one of 0, 0.5, 1, … 49, found nan"),
        ({"longest": 1}, "game.longest: expected one of 2, 3, 4, … 1000, found 1"),
        ({"longest": 1001}, "game.longest: expected one of 2, 3, 4, … 1000, found 1001"),
    ],
)
def test_sizes_komi_and_lengths_out_of_range_are_refused(options: dict[str, float], found: str) -> None:
    with pytest.raises(ProbZeroError, match=found):
        games.make("go", **{"size": 5, "komi": 0, "longest": 60} | options)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x.../..../..../.... - 5 0", "5 rows of 5 characters"),
        ("...../...../...../...../..... - 0", "rows, ko or -, ply and passes"),
        ("...../...../...../...../..... - 01 0", "rows, ko or -, ply and passes"),
        ("...../...../...../...../..... - 3 3", "rows, ko or -, ply and passes"),
        ("...../...../...../...../..... g5 3 0", "names of moves"),
        ("...../...../...../...../..... pass 3 0", "rows, ko or -, ply and passes"),
        ("...../...../...../...../..... - 61 0", "a ply and passes that can be"),
        ("...../...../...../...../..... - 1 2", "a ply and passes that can be"),
        ("xo.../o..../...../...../..... - 4 0", "a liberty for every group"),
        ("x..../...../...../...../..... - 1 0", "a ply for every stone"),
        ("oo.../...../...../...../..... - 2 0", "a ply for every stone"),
        (".x.../...../...../...../..... a1 4 0", "a ko on one empty square"),
        (".o.../o..../...../...../..... b1 6 0", "a ko on one empty square"),
        (".o.../o..../...../...../..... a1 6 1", "a ko on one empty square"),
    ],
)
def test_positions_that_cannot_be_are_refused(text: str, expected: str) -> None:
    with pytest.raises(ProbZeroError, match=f"expected {expected}"):
        go().check_states(go().from_text(text)[None])


def test_a_ko_among_opposing_stones_is_a_position() -> None:
    position(".o.../o..../...../...../..... a1 6 0")


def test_short_names_tell_the_size_and_what_is_not_usual() -> None:
    assert named("go-5") is go() and short_name(go()) == "go-5"
    assert named("go-5-komi2.5") is go(komi=2.5) is named(go(komi=2.5).identity)
    assert short_name(go(4, 2, 30)) == "go-4-komi2-longest30"
    with pytest.raises(ProbZeroError, match=r"game\.komi: expected one of"):
        named("go-5-komi2.25")


def test_people_see_the_highest_row_first() -> None:
    game, states = position("x..../.o.../...../...../..... - 2 0")
    seen = game.view(states[0])
    assert seen.owner[4, 0] == 1 and seen.owner[3, 1] == -1 and seen.rows == ("5", "4", "3", "2", "1")
    assert seen.target[game.parse_moves("b1")[0]] == (4, 1) and len(seen.target) == 23


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_the_longest_way_is_the_longest_path_without_a_short_cut(size: int) -> None:
    """By trying all: a path no two squares of which touch but neighbours along it."""
    squares = [(row, column) for row in range(size) for column in range(size)]

    def beside(square: tuple[int, int]) -> set[tuple[int, int]]:
        row, column = square
        return {(row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)} & set(squares)

    def longest(path: list[tuple[int, int]]) -> int:
        free = [step for step in beside(path[-1]) if len(beside(step) & set(path)) == 1 and step not in path]
        return max([len(path) - 1, *(longest([*path, step]) for step in free)])

    assert max(longest([square]) for square in squares) == LONGEST_WAY[size]
