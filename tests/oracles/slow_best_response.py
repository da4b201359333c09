"""An agent against every opponent, by plain recursion over slow boards: independent of `probzero.truth`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Policy = Callable[[Any], int]  # a slow board -> one of its legal moves


@dataclass
class SlowBestResponse:
    """`score` is that of a finished game for the player to move."""

    policy: Policy
    score: Callable[[Any], int]
    worst: dict[Any, int] = field(default_factory=dict)  # by board and whether the agent is to move
    exact: dict[Any, int] = field(default_factory=dict)
    chances: dict[Any, Fraction] = field(default_factory=dict)

    def value(self, board: Any, agent: bool) -> int:
        """The agent's score if the opponent tries everything."""
        place = board, agent
        if place not in self.worst:
            moves = board.legal_moves()
            if not moves:
                self.worst[place] = self.score(board) if agent else -self.score(board)
            elif agent:
                self.worst[place] = self.value(board.after(self.policy(board)), False)
            else:
                self.worst[place] = min(self.value(board.after(move), True) for move in moves)
        return self.worst[place]

    def perfect(self, board: Any) -> int:
        """The exact score for the player to move."""
        if board not in self.exact:
            moves = board.legal_moves()
            values = [-self.perfect(board.after(move)) for move in moves]
            self.exact[board] = max(values) if moves else self.score(board)
        return self.exact[board]

    def wins(self, board: Any, agent: bool) -> Fraction:
        """The agent's chance of a win against uniformly random moves, as a fraction."""
        place = board, agent
        if place not in self.chances:
            moves = board.legal_moves()
            if not moves:
                found = Fraction((self.score(board) if agent else -self.score(board)) > 0)
            elif agent:
                found = self.wins(board.after(self.policy(board)), False)
            else:
                found = sum((self.wins(board.after(move), True) for move in moves), Fraction(0)) / len(moves)
            self.chances[place] = found
        return self.chances[place]

    def holes(self) -> set[Any]:
        """Boards met so far in which the agent's move gives the exact result away."""
        return {
            board
            for board, agent in self.worst
            if agent
            and board.legal_moves()
            and _sign(-self.perfect(board.after(self.policy(board)))) < _sign(self.perfect(board))
        }


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)
