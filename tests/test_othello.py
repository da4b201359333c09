"""The engine follows the rules of Othello: against published counts and a slow square-by-square implementation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from slow_othello import SlowOthello

from probzero.errors import ProbZeroError
from probzero.games.bits import pack, popcount, signed, unpack
from probzero.games.othello import SIZES, othello, square_name

PERFT = {
    4: [4, 12, 44, 128, 424, 1256, 3624, 9116, 20044],
    5: [4, 12, 50, 186, 866, 3974, 19994, 98672, 511250],
    6: [4, 12, 56, 244, 1364, 7604, 47740, 308716, 2114912],
    8: [4, 12, 56, 244, 1396, 8200, 55092, 390216],
}


def perft(size: int, depth: int) -> list[int]:
    """Leaves at each depth; a pass is a ply and a finished game stays one leaf."""
    game = othello(size)
    own, opp = (np.array([side]) for side in game.start())
    finished, counts = 0, []
    for _ in range(depth):
        legal = game.legal(own, opp)
        over = ~legal.any(axis=1)
        finished += int(over.sum())
        row, action = np.nonzero(legal)
        own, opp = game.place(own[row], opp[row], action)
        counts.append(len(own) + finished)
    return counts


@pytest.mark.parametrize("size", SIZES)
def test_perft_matches_the_published_counts(size: int) -> None:
    assert perft(size, len(PERFT[size])) == PERFT[size]


def random_games(size: int, games: int, seed: int) -> list[tuple[int, int]]:
    """Positions met in random games played by the slow implementation."""
    rng = np.random.default_rng(seed)
    positions = []
    for _ in range(games):
        board = SlowOthello.start(size)
        while True:
            positions.append(board.bitboards())
            moves = board.legal_moves()
            if not moves:
                break
            board = board.after(moves[rng.integers(len(moves))])
    return positions


@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize("size", SIZES)
def test_every_rule_agrees_with_the_slow_implementation_on_random_games(size: int, kind: str) -> None:
    game = othello(size)
    positions = random_games(size, 40, seed=size)
    own = np.array([signed(position[0]) for position in positions])
    opp = np.array([signed(position[1]) for position in positions])
    convert = torch.from_numpy if kind == "torch" else np.asarray
    legal = np.asarray(game.legal(convert(own), convert(opp)))
    terminal = np.asarray(game.terminal(convert(own), convert(opp)))
    margin = np.asarray(game.margin(convert(own), convert(opp)))
    for index, position in enumerate(positions):
        slow = SlowOthello.from_bitboards(size, *position)
        moves = slow.legal_moves()
        assert list(np.flatnonzero(legal[index])) == moves
        assert bool(terminal[index]) == (not moves)
        assert margin[index] == slow.margin()
    row, action = np.nonzero(legal)
    next_own, next_opp = game.place(convert(own[row]), convert(opp[row]), convert(action))
    for index in range(len(row)):
        after = SlowOthello.from_bitboards(size, *positions[row[index]]).after(int(action[index]))
        expected = tuple(signed(side) for side in after.bitboards())
        assert (int(next_own[index]), int(next_opp[index])) == expected


@pytest.mark.parametrize("size", SIZES)
def test_rank_grows_along_every_move(size: int) -> None:
    game = othello(size)
    positions = np.array([[signed(side) for side in pair] for pair in random_games(size, 60, seed=100 + size)])
    own, opp = positions.T
    legal = game.legal(own, opp)
    row, action = np.nonzero(legal)
    after = game.place(own[row], opp[row], action)
    grown = game.rank(*after, game.legal(*after)) > game.rank(own, opp, legal)[row]
    assert (grown | game.terminal(*after)).all()
    assert (action == game.pass_action).any() or size == 8, "the sample should contain passes"


def test_passing_hands_the_same_discs_to_the_opponent() -> None:
    game = othello(5)
    own, opp = np.array([0b0110]), np.array([0b1001])
    assert game.place(own, opp, np.array([game.pass_action])) == (opp, own)


def test_no_run_wraps_round_an_edge() -> None:
    # Own disc on e1, opposing discs on a2 and b2 (row 1): a wrapped shift would join e1-a2-b2 and allow c2.
    game = othello(5)
    own, opp = np.array([1 << 4]), np.array([1 << 5 | 1 << 6])
    assert game.placements(own, opp)[0] == 0


def test_encoding_puts_own_discs_first_and_rows_downwards() -> None:
    game = othello(5)
    planes = game.encode(np.array([1 << 7]), np.array([1 << 24]))
    assert planes.shape == (1, 2, 5, 5) and planes.dtype == np.float32
    assert planes[0, 0, 1, 2] == 1 and planes[0, 1, 4, 4] == 1 and planes.sum() == 2


def test_result_has_the_sign_of_the_margin() -> None:
    game = othello(4)
    own, opp = np.array([0b111, 0b1, 0b1]), np.array([0b1000, 0b10, 0b110])
    assert list(game.result(own, opp)) == [1, 0, -1]


def test_bits_count_and_unpack_including_the_sign_bit() -> None:
    words = np.array([0, 1, -1, signed(1 << 63), signed(0xF0F0F0F0F0F0F0F0)])
    assert list(popcount(words)) == [0, 1, 64, 1, 32]
    assert np.array_equal(pack(unpack(words, 64)), words)
    assert torch.equal(pack(unpack(torch.from_numpy(words), 64)), torch.from_numpy(words))


@pytest.mark.parametrize("size", [3, 7, 10])
def test_other_board_sizes_are_refused(size: int) -> None:
    with pytest.raises(ProbZeroError, match=f"game.size: expected one of 4, 5, 6, 8, found {size}"):
        othello(size)


def test_squares_are_named_by_column_letter_and_row_number() -> None:
    assert [square_name(5, action) for action in (0, 13, 17, 25)] == ["a1", "d3", "c4", "pass"]
