"""Positions as people write them on one line.

start               where games begin
c4 d3 e2            the moves that lead there from the start
x.../…              the game's own notation, seen by the player to move (`Game.to_text`)
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from probzero.errors import ProbZeroError, bad
from probzero.games.base import Game
from probzero.games.names import short_name

START = "start"


@dataclass
class Line:
    """A game as far as it was played: where it began, and the moves since."""

    game: Game
    begin: np.ndarray  # [words]
    states: list[np.ndarray] = field(default_factory=list)  # before each move
    actions: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.state = self.begin

    def legal(self) -> list[int]:
        """Return the legal moves; none when the game is over."""
        return np.flatnonzero(self.game.legal(self.state[None])[0]).tolist()

    @property
    def turn(self) -> int:
        """Return 0 if whoever moved first is to move, else 1."""
        return len(self.actions) % 2

    @property
    def moves(self) -> str:
        return self.game.move_names(self.actions)

    def play(self, action: int, where: object = "game") -> None:
        """Play a move; refuse an illegal one."""
        legal = self.legal()
        if action not in legal:
            expected = f"one of {self.game.move_names(legal)}" if legal else "none, as the game is over"
            raise bad("move", where, expected, self.game.move_name(action))
        self.states.append(self.state)
        self.actions.append(action)
        self.state = self.game.play(self.state[None], np.array([action]))[0]

    def take_back(self) -> None:
        self.state = self.states.pop()
        self.actions.pop()


def read(game: Game, text: str) -> Line:
    """Return the game that leads to a position; refuse what is none."""
    words = text.split()
    line = Line(game, game.start())
    if words in ([], [START]):
        return line
    if action_of(game, words[0]) is not None:
        for number, word in enumerate(words, 1):
            action = action_of(game, word)
            if action is None:
                raise bad("position", repr(text), f"names of moves of {short_name(game)}, such as {_some(game)}", word)
            line.play(action, f"{text!r}, move {number}")
        return line
    try:
        state = game.from_text(text.strip())
        game.check_states(state[None])
    except ProbZeroError as error:
        expected = f"{START}, moves such as {_some(game)}, or a board such as {game.to_text(game.start())}"
        raise ProbZeroError(f"{error}; a position is {expected}") from None
    return Line(game, state)


def action_of(game: Game, word: str) -> int | None:
    """Return the action of a name, in capitals or not; None if no move has it."""
    exact = game.actions_by_name.get(word)
    if exact is not None:
        return exact
    alike = [action for name, action in game.actions_by_name.items() if name.lower() == word.lower()]
    return alike[0] if len(alike) == 1 else None


def _some(game: Game) -> str:
    return game.move_names(np.flatnonzero(game.legal(game.start()[None])[0])[:2])
