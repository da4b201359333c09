"""Chess beside published counts of lines and beside python-chess, which shares no code with it."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from probzero import games
from probzero.errors import ProbZeroError
from probzero.games.checks import check_game

GAME = games.make("chess")
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
# The start, Kiwipete and the other usual positions, with their published numbers of lines of 1, 2, … plies.
LINES = {
    START: (20, 400, 8902, 197_281, 4_865_609),
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1": (48, 2039, 97_862, 4_085_603),
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1": (14, 191, 2812, 43_238, 674_624),
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1": (6, 264, 9467, 422_333),
    "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1": (6, 264, 9467, 422_333),
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": (44, 1486, 62_379, 2_103_487),
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10": (46, 2079, 89_890, 3_894_594),
}


@pytest.mark.parametrize(("fen", "lines"), LINES.items(), ids=[fen.split()[0] for fen in LINES])
def test_lines_of_play_are_as_many_as_published(fen: str, lines: tuple[int, ...]) -> None:
    state = GAME.from_text(fen)
    assert tuple(GAME.rows.perft(state, depth) for depth in range(1, len(lines) + 1)) == lines


def test_the_game_keeps_its_promises() -> None:
    check_game(GAME, count=1)


def seen(board: chess.Board) -> chess.Board:
    """The board as the player to move sees it."""
    return board if board.turn == chess.WHITE else board.mirror()


def name_of(move: chess.Move, board: chess.Board) -> str:
    """Our name of a move: as the mover sees it, a queen understood."""
    if board.turn == chess.BLACK:
        source, target = chess.square_mirror(move.from_square), chess.square_mirror(move.to_square)
        move = chess.Move(source, target, move.promotion)
    return move.uci().removesuffix("q")


def ends(board: chess.Board) -> bool:
    return not any(board.legal_moves) or board.halfmove_clock >= 100 or board.is_insufficient_material()


@pytest.mark.parametrize("fen", [START, *list(LINES)[1:5], "8/8/8/3k4/8/3K4/3R4/8 w - - 60 1"])
def test_random_games_are_those_of_python_chess_move_for_move(fen: str) -> None:
    rng = np.random.default_rng(len(fen))
    for _ in range(2):
        board = chess.Board(fen)
        state = GAME.from_text(fen)
        for _ in range(250):
            legal = np.flatnonzero(GAME.legal(state[None])[0])
            if ends(board):
                assert not len(legal)
                assert GAME.outcome(state[None])[0] == (-1 if board.is_checkmate() else 0)
                break
            names = GAME.move_names(legal).split()
            by_name = {name_of(move, board): move for move in board.legal_moves}
            assert sorted(names) == sorted(by_name)
            chosen = int(rng.integers(len(legal)))
            board.push(by_name[names[chosen]])
            state = GAME.play(state[None], legal[chosen : chosen + 1])[0]
            ours, theirs = chess.Board(GAME.to_text(state)), seen(board)
            assert ours.board_fen() == theirs.board_fen()
            assert (ours.castling_rights, ours.halfmove_clock) == (theirs.castling_rights, theirs.halfmove_clock)
            assert (state == GAME.from_text(board.fen(en_passant="fen"))).all()


@pytest.mark.parametrize(
    ("fen", "ended", "outcome"),
    [
        ("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", True, -1),  # fool's mate
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", True, 0),  # stalemate
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 100 80", True, -1),  # mate with the last ply of fifty moves counts
        ("7k/8/5QK1/8/8/8/8/8 b - - 100 80", True, 0),  # fifty moves
        ("7k/8/5QK1/8/8/8/8/8 b - - 99 80", False, None),
        ("8/8/3k4/8/8/3KB3/8/8 w - - 0 1", True, 0),  # a bishop alone
        ("8/8/3k4/8/8/3KN3/8/8 w - - 0 1", True, 0),  # a knight alone
        ("8/8/3kb3/8/8/3K4/4B3/8 w - - 0 1", True, 0),  # bishops on squares of one colour
        ("8/8/3k1b2/8/8/3K4/4B3/8 w - - 0 1", False, None),  # on squares of both
        ("8/8/3kn3/8/8/3KN3/8/8 w - - 0 1", False, None),  # mate is possible, if the other helps
        ("8/8/3k4/8/8/3KNN2/8/8 w - - 0 1", False, None),
        ("8/8/3k4/8/8/3KP3/8/8 w - - 0 1", False, None),
    ],
)
def test_a_game_ends_when_it_should(fen: str, ended: bool, outcome: int | None) -> None:
    state = GAME.from_text(fen)[None]
    assert GAME.finished(state)[0] == ended
    if ended:
        assert GAME.outcome(state)[0] == outcome


def test_a_pawn_taken_in_passing_may_not_open_its_row_to_the_king() -> None:
    pinned = GAME.from_text("8/8/8/K2pP2r/8/8/8/7k w - d6 0 2")  # both pawns leave the row of king and rook
    free = GAME.from_text("8/8/7r/K2pP3/8/8/8/7k w - d6 0 2")
    names = [GAME.move_names(np.flatnonzero(GAME.legal(state[None])[0])).split() for state in (pinned, free)]
    assert ["e5d6" in found for found in names] == [False, True]


@pytest.mark.parametrize(
    ("fen", "expected"),
    [
        ("8/8/8/8/8/8/8/8 w - - 0 1", "one king on each side"),
        ("k7/8/8/8/8/8/8/K6P w - - 0 1", "no pawn on the first or the last row"),
        ("k7/8/8/8/8/8/8/R5K1 w Q - 0 1", "king and rook at home"),
        ("7K/8/8/QQQQQ3/QQQQQ3/8/5k2/8 w - - 0 1", "pieces that a side may have"),
        ("7K/8/P7/QQQQQ3/QQQQ4/8/5k2/8 w - - 0 1", "pieces that a side may have"),
        ("7k/8/8/8/b1b1b3/8/ppppppp1/6K1 b - - 0 1", "pieces that a side may have"),
        ("k7/8/8/8/8/8/8/R5K1 w - - 101 1", "at most 100 plies"),
        ("k6R/8/8/8/8/8/8/6K1 w - - 0 1", "a king that cannot be taken"),
        ("k7/8/8/8/8/8/8/6K1 w - - 0", "a FEN of six fields"),
        ("k7/8/8/8/8/8/9/6K1 w - - 0 1", "eight rows of eight squares"),
        ("k7/8/8/8/8/8/6K1 w - - 0 1", "eight rows of eight squares"),
        ("k7/8/8/8/8/8/7x/6K1 w - - 0 1", "eight rows of eight squares"),
        ("k7/8/8/8/8/8/8/6K1 x - - 0 1", "w or b"),
        ("k7/8/8/8/8/8/8/6K1 w KK - 0 1", "w or b"),
        ("k7/8/8/8/8/8/8/6K1 w - e3 0 1", "a square of row 6"),
        ("k7/8/8/8/8/8/8/6K1 w - e6 0 1", "a pawn that made a double step"),
    ],
)
def test_a_position_that_cannot_be_is_refused(fen: str, expected: str) -> None:
    with pytest.raises(ProbZeroError, match=expected):
        GAME.from_text(fen)


def test_the_most_moves_that_a_position_has_find_room() -> None:
    """218, in a position that Nenad Petrović composed in 1964; with any piece more there might be more moves."""
    fen = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"
    assert len(list(chess.Board(fen).legal_moves)) == GAME.most_moves
    assert GAME.legal(GAME.from_text(fen)[None]).sum() == GAME.most_moves


def test_names_of_moves_are_those_of_the_mover() -> None:
    names = {GAME.move_name(action) for action in range(GAME.actions)}
    assert {"e2e4", "g1f3", "a7a8", "a7b8n", "e1g1", "h7g8r"} <= names
    assert len(names) == GAME.actions
