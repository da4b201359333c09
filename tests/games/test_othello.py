"""The engine follows the rules of Othello: against published counts and a slow square-by-square implementation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from oracles.slow_othello import SlowOthello
from perft import perft

from probzero import games
from probzero.bits import pack, popcount, signed, unpack
from probzero.errors import ProbZeroError

SIZES = (4, 5, 6, 8)
PERFT = {
    4: [4, 12, 44, 128, 424, 1256, 3624, 9116, 20044],
    5: [4, 12, 50, 186, 866, 3974, 19994, 98672, 511250],
    6: [4, 12, 56, 244, 1364, 7604, 47740, 308716, 2114912],
    8: [4, 12, 56, 244, 1396, 8200, 55092, 390216],
}


@pytest.mark.slow
def test_perft_matches_the_published_counts_to_ten_plies() -> None:
    assert perft(games.make("othello", size=8), 10)[8:] == [3005288, 24571284]


@pytest.mark.parametrize("size", SIZES)
def test_perft_matches_the_published_counts(size: int) -> None:
    assert perft(games.make("othello", size=size), len(PERFT[size])) == PERFT[size]


@pytest.mark.parametrize(
    ("size", "own", "opp"),
    [
        (4, "c2 b3", "b2 c3"),
        (5, "c2 b3", "b2 c3"),
        (6, "d3 c4", "c3 d4"),
        (8, "e4 d5", "d4 e5"),  # as on every real board, Black to move
    ],
)
def test_the_first_position_is_the_usual_one(size: int, own: str, opp: str) -> None:
    game = games.make("othello", size=size)
    expected = [sum(1 << square for square in game.parse_moves(names)) for names in (own, opp)]
    assert game.start().tolist() == expected


def random_games(size: int, count: int, seed: int) -> list[tuple[int, int]]:
    """Positions met in random games played by the slow implementation."""
    rng = np.random.default_rng(seed)
    positions = []
    for _ in range(count):
        board = SlowOthello.start(size)
        while True:
            positions.append(board.bitboards())
            moves = board.legal_moves()
            if not moves:
                break
            board = board.after(moves[rng.integers(len(moves))])
    return positions


def as_states(positions: list[tuple[int, int]]) -> np.ndarray:
    return np.array([[signed(side) for side in position] for position in positions])


@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize("size", SIZES)
def test_every_rule_agrees_with_the_slow_implementation_on_random_games(size: int, kind: str) -> None:
    game = games.make("othello", size=size)
    positions = random_games(size, 40, seed=size)
    states = as_states(positions)
    convert = torch.from_numpy if kind == "torch" else np.asarray
    legal = np.asarray(game.legal(convert(states)))
    finished = np.asarray(game.finished(convert(states)))
    margin = np.asarray(game.margin(convert(states)))
    outcome = np.asarray(game.outcome(convert(states)))
    for index, position in enumerate(positions):
        slow = SlowOthello.from_bitboards(size, *position)
        moves = slow.legal_moves()
        assert list(np.flatnonzero(legal[index])) == moves
        assert bool(finished[index]) == (not moves)
        assert margin[index] == slow.margin()
        assert outcome[index] == (slow.margin() > 0) - (slow.margin() < 0)
    row, action = np.nonzero(legal)
    after = game.play(convert(states[row]), convert(action))
    for index in range(len(row)):
        expected = SlowOthello.from_bitboards(size, *positions[row[index]]).after(int(action[index]))
        assert after[index].tolist() == [signed(side) for side in expected.bitboards()]


def test_random_games_on_8_by_8_use_the_sign_bit_on_both_sides() -> None:
    states = as_states(random_games(8, 40, seed=8))
    assert (states < 0).any(axis=0).all()


@pytest.mark.parametrize("size", SIZES)
def test_rank_grows_along_every_move(size: int) -> None:
    game = games.make("othello", size=size)
    states = as_states(random_games(size, 60, seed=100 + size))
    legal = game.legal(states)
    row, action = np.nonzero(legal)
    after = game.play(states[row], action)
    assert (game.rank(after, game.legal(after)) > game.rank(states, legal)[row]).all()
    assert (action == game.actions - 1).any() or size == 8, "the sample should contain passes"


@pytest.mark.parametrize("size", SIZES)
def test_the_other_player_sees_the_opposite_margin_and_outcome(size: int) -> None:
    game = games.make("othello", size=size)
    states = as_states(random_games(size, 10, seed=size))
    swapped = states[:, ::-1]
    np.testing.assert_array_equal(game.margin(swapped), -game.margin(states))
    np.testing.assert_array_equal(game.outcome(swapped), -game.outcome(states))


def test_passing_hands_the_same_discs_to_the_opponent() -> None:
    game = games.make("othello", size=5)
    passed = game.play(np.array([[0b0110, 0b1001]]), np.array(game.parse_moves("pass")))
    assert passed.tolist() == [[0b1001, 0b0110]]


def test_no_run_wraps_round_an_edge() -> None:
    # Own disc on e1, opposing discs on a2 and b2 (row 1): a wrapped shift would join e1-a2-b2 and allow c2.
    game = games.make("othello", size=5)
    assert not game.legal(np.array([[1 << 4, 1 << 5 | 1 << 6]])).any()


def test_a_run_may_end_on_bit_63_and_start_from_it() -> None:
    # Along row 8 of the 8×8 board: from f8 over g8 to the corner h8, and back.
    game = games.make("othello", size=8)
    f8, g8, h8 = game.parse_moves("f8 g8 h8")
    to_corner = np.array([[1 << f8, 1 << g8]])
    assert np.flatnonzero(game.legal(to_corner)).tolist() == [h8]
    assert game.play(to_corner, np.array([h8])).tolist() == [[0, signed(1 << f8 | 1 << g8 | 1 << h8)]]
    from_corner = np.array([[signed(1 << h8), 1 << g8]])
    assert np.flatnonzero(game.legal(from_corner)).tolist() == [f8]
    assert game.play(from_corner, np.array([f8])).tolist() == [[0, signed(1 << f8 | 1 << g8 | 1 << h8)]]


def test_encoding_puts_own_discs_first_and_rows_downwards() -> None:
    game = games.make("othello", size=5)
    planes = game.encode(np.array([[1 << 7, 1 << 24]]))
    assert planes.shape == (1, 2, 5, 5) and planes.dtype == np.float32
    assert planes[0, 0, 1, 2] == 1 and planes[0, 1, 4, 4] == 1 and planes.sum() == 2


def test_outcome_has_the_sign_of_the_margin() -> None:
    game = games.make("othello", size=4)
    states = np.array([[0b111, 0b1000], [0b1, 0b10], [0b1, 0b110]])
    assert list(game.outcome(states)) == [1, 0, -1]


def test_bits_count_and_unpack_including_the_sign_bit() -> None:
    words = np.array([0, 1, -1, signed(1 << 63), signed(0xF0F0F0F0F0F0F0F0)])
    assert list(popcount(words)) == [0, 1, 64, 1, 32]
    assert np.array_equal(pack(unpack(words, 64)), words)
    assert torch.equal(pack(unpack(torch.from_numpy(words), 64)), torch.from_numpy(words))


@pytest.mark.parametrize("size", [3, 7, 10, 5.0, True])
def test_other_board_sizes_are_refused(size: int) -> None:
    games.make("othello", size=5)  # 5.0, equal to 5, must not be taken for it
    with pytest.raises(ProbZeroError, match=f"game.size: expected one of 4, 5, 6, 8, found {size}"):
        games.make("othello", size=size)


def test_squares_are_named_by_column_letter_and_row_number() -> None:
    game = games.make("othello", size=5)
    assert game.move_names([0, 13, 17, 25]) == "a1 d3 c4 pass"
    assert game.parse_moves("a1 d3 c4 pass") == [0, 13, 17, 25]


def test_the_notation_has_a_row_per_part_and_x_to_move() -> None:
    game = games.make("othello", size=4)
    assert game.to_text(game.start()) == "..../.ox./.xo./...."
    for wrong in ("..../.ox./.xo.", "..../.ox./.xo./...", "..../.ox./.xo./...#", "..../.ox./.xo./....\n"):
        with pytest.raises(ProbZeroError, match="expected 4 rows of 4 characters x, o or"):
            game.from_text(wrong)


@pytest.mark.parametrize(
    ("state", "expected"), [([0b11, 0b10], "at most one disc per square"), ([1 << 16, 0], "discs on the 4×4 board")]
)
def test_states_that_are_no_positions_are_refused(state: list[int], expected: str) -> None:
    with pytest.raises(ProbZeroError, match=f"number 1: expected {expected}"):
        games.make("othello", size=4).check_states(np.array([[1, 2], state]))
