"""Drawn positions of small boards in which some move loses, found by the slow rules alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from oracles.connect_four_search import ConnectFourBoard
from oracles.slow_connect_four import SlowConnectFour
from oracles.slow_othello import SlowOthello

from probzero import games
from probzero.games.base import Game

Board = SlowOthello | SlowConnectFour
BOARDS = {
    "othello 4": games.make("othello", size=4),
    "connect four 4x4": games.make("connect_four", width=4, height=4),
}
ROW = games.make("connect_four", width=4, height=1)  # one row of four squares: every game is a draw


@dataclass(frozen=True)
class Drawn:
    """A position whose exact result is a draw, though not by every move."""

    state: tuple[int, ...]
    keeping: frozenset[int]
    losing: frozenset[int]


@cache
def minimax(board: Board) -> int:
    """The exact result for the player to move, by trying everything."""
    moves = board.legal_moves()
    if moves:
        return max(-minimax(board.after(move)) for move in moves)
    if isinstance(board, SlowConnectFour):
        return board.outcome()
    return int(np.sign(board.margin()))


def state_of(board: Board) -> tuple[int, ...]:
    return (ConnectFourBoard(board) if isinstance(board, SlowConnectFour) else board).bitboards()


def _start(game: Game) -> Board:
    if game.name == "othello":
        return SlowOthello.start(game.shape.width)
    return SlowConnectFour.start(game.shape.width, game.shape.height)


@cache
def drawn_positions(name: str, count: int = 12, discs: int = 10) -> tuple[Drawn, ...]:
    """Positions of random games with so many discs at least that are drawn and can be lost; all are different."""
    draws, found = np.random.default_rng(1), dict[tuple[int, ...], Drawn]()
    while len(found) < count:
        board = _start(BOARDS[name])
        while moves := board.legal_moves():
            own, opp = state_of(board)
            if (own | opp).bit_count() >= discs and minimax(board) == 0:
                losing = frozenset(move for move in moves if minimax(board.after(move)) > 0)
                if losing:
                    found[own, opp] = Drawn((own, opp), frozenset(moves) - losing, losing)
            board = board.after(int(draws.choice(moves)))
    return tuple(found.values())[:count]


def states_of(positions: tuple[Drawn, ...]) -> np.ndarray:
    """The states [n, words]."""
    return np.array([position.state for position in positions], dtype=np.int64)
