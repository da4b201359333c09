"""Games to break on purpose, each with a compiled form that has the same fault."""

from __future__ import annotations

from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from probzero.errors import ProbZeroError
from probzero.games.base import Game
from probzero.games.checks import check_game
from probzero.games.connect_four import ConnectFour
from probzero.games.othello import Othello


def refused(game: Game, expected: str) -> None:
    with pytest.raises(ProbZeroError, match=f"^game: {game.identity}.*{expected}"):
        check_game(game, count=8)


def compiled_from_arrays(game: Game) -> Any:
    """A stand-in for the compiled form that follows the array form, so that the two always agree."""

    def legal(state: np.ndarray, moves: np.ndarray) -> int:
        found = np.flatnonzero(game.legal(state[None])[0])
        moves[: len(found)] = found
        return len(found)

    def play(state: np.ndarray, move: int, out: np.ndarray) -> None:
        out[:] = game.play(state[None], np.array([move]))[0]

    def rank(state: np.ndarray, moves: np.ndarray, count: int) -> int:
        return game.rank(state[None], game.legal(state[None]))[0]

    def outcome(state: np.ndarray) -> int:
        return game.outcome(state[None])[0]

    def value(state: np.ndarray) -> int:
        return game.margin(state[None])[0] if game.has_margin else outcome(state)

    def left(state: np.ndarray) -> int:
        return game.shape.squares - game.phase(state[None])[0]

    largest = game.shape.squares if game.has_margin else 1
    sizes = {"WORDS": game.words, "MOVES": game.most_moves, "ACTIONS": game.actions, "LARGEST": largest}
    return SimpleNamespace(**sizes, legal=legal, play=play, rank=rank, outcome=outcome, value=value, left=left)


class Othello4(Othello):
    def __init__(self) -> None:
        super().__init__(size=4)

    @cached_property
    def rules(self) -> Any:
        return compiled_from_arrays(self)


class ConnectFour4(ConnectFour):
    def __init__(self) -> None:
        super().__init__(width=4, height=4)

    @cached_property
    def rules(self) -> Any:
        return compiled_from_arrays(self)
