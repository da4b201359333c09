"""A chessboard as the Universal Chess Interface sees it: with White and Black, of whom the rules know nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from probzero.errors import bad
from probzero.games.base import Game
from probzero.games.chess import FEN

STARTPOS = "startpos"
PAWNS = 2  # the word of a state in which pawns stand
RANKS = str.maketrans("12345678", "87654321")


@dataclass(frozen=True)
class Board:
    """A position, and whether Black is to move: then all is seen upside down by the rules."""

    game: Game
    state: np.ndarray  # [words]
    black: bool = False

    @classmethod
    def of(cls, game: Game, fen: str) -> Board:
        """Return the position of a FEN, or refuse it."""
        words = fen.split()
        return cls(game, game.from_text(" ".join(words)), words[1:2] == ["b"])

    @classmethod
    def after(cls, game: Game, begin: str, moves: Sequence[str]) -> Board:
        """Return the position after moves from a FEN or `startpos`, or refuse the first move that is not legal."""
        board = cls.of(game, FEN if begin == STARTPOS else begin)
        for number, name in enumerate(moves, 1):
            known = board.legal()
            if name not in known:
                expected = f"one of {' '.join(known)}" if known else "none, as the game is over"
                raise bad("illegal move", f"number {number}", expected, name)
            board = board.play(known[name])
        return board

    def legal(self) -> dict[str, int]:
        """Return the legal actions by their names."""
        legal = np.flatnonzero(self.game.legal(self.state[None])[0]).tolist()
        return {self.name(action): action for action in legal}

    @property
    def lost(self) -> bool:
        """Return whether the player to move is mated, in a finished game."""
        return int(self.game.outcome(self.state[None])[0]) < 0

    def play(self, action: int) -> Board:
        state = self.game.play(self.state[None], np.array([action]))[0]
        return Board(self.game, state, not self.black)

    def name(self, action: int) -> str:
        """Return the squares from and to as in e7e5, and what a pawn becomes as in a2a1q."""
        name = self.game.move_name(action)
        column, row = name[0], int(name[1])
        square = 8 * (row - 1) + "abcdefgh".index(column)
        if len(name) == 4 and name[3] == "8" and int(self.state[PAWNS]) >> square & 1:
            name += "q"
        return name.translate(RANKS) if self.black else name

    def line(self, actions: Sequence[int]) -> list[str]:
        """Return the names of moves one after another."""
        board, names = self, []
        for action in actions:
            names.append(board.name(action))
            board = board.play(action)
        return names
