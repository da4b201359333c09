"""The slow searches on Connect Four: its slow rules with the bitboards that evaluators take."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from oracles.slow_connect_four import OPP, OWN, SlowConnectFour
from oracles.slow_search import Position, SlowSearch


class ConnectFourBoard:
    """The slow rules under the names that the slow searches use; bit row·W + column is a square, row 0 the lowest."""

    def __init__(self, slow: SlowConnectFour) -> None:
        self.slow = slow

    @classmethod
    def from_bitboards(cls, width: int, height: int, own: int, opp: int) -> ConnectFourBoard:
        columns = []
        for column in range(width):
            squares = [row * width + column for row in range(height)]
            columns.append(tuple(OWN if own >> k & 1 else OPP for k in squares if (own | opp) >> k & 1))
        return cls(SlowConnectFour(width, height, tuple(columns)))

    def bitboards(self) -> Position:
        own, opp = (
            sum(
                1 << row * self.slow.width + column
                for column, discs in enumerate(self.slow.columns)
                for row, disc in enumerate(discs)
                if disc == player
            )
            for player in (OWN, OPP)
        )
        return own, opp

    def legal_moves(self) -> list[int]:
        return self.slow.legal_moves()

    def after(self, action: int) -> ConnectFourBoard:
        return ConnectFourBoard(self.slow.after(action))

    def margin(self) -> int:
        """Won or lost by one."""
        return self.slow.outcome()


class ConnectFourSearch(SlowSearch):
    """The slow particle search of Connect Four."""

    def __init__(self, width: int, height: int, evaluate: Callable, game_key: int, start: Sequence[int]) -> None:
        self.width, self.height = width, height
        super().__init__(width, evaluate, game_key, start)

    def board(self, position: Position) -> ConnectFourBoard:  # type: ignore[override]
        return ConnectFourBoard.from_bitboards(self.width, self.height, *position)

    def rank(self, position: Position) -> int:
        return sum(len(discs) for discs in self.board(position).slow.columns)
