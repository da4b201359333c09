"""Connect Four on lists of discs: slow, obvious, and independent of the engine it checks."""

from __future__ import annotations

from dataclasses import dataclass

OWN, OPP = "x", "o"


@dataclass(frozen=True)
class SlowConnectFour:
    width: int
    height: int
    columns: tuple[tuple[str, ...], ...]  # each from the lowest disc up, seen by the player to move

    @classmethod
    def start(cls, width: int, height: int) -> SlowConnectFour:
        return cls(width, height, ((),) * width)

    def disc(self, column: int, row: int) -> str | None:
        """The disc on a square, or None if it is empty or off the board."""
        on_board = 0 <= column < self.width and 0 <= row < self.height
        return self.columns[column][row] if on_board and row < len(self.columns[column]) else None

    def has_four(self, player: str) -> bool:
        return any(
            all(self.disc(column + step * right, row + step * up) == player for step in range(4))
            for column in range(self.width)
            for row in range(self.height)
            for right, up in ((1, 0), (0, 1), (1, 1), (1, -1))
        )

    def legal_moves(self) -> list[int]:
        if self.has_four(OPP):
            return []
        return [column for column in range(self.width) if len(self.columns[column]) < self.height]

    def outcome(self) -> int:
        """For the player to move, in a finished game: who has just moved may have won."""
        return -1 if self.has_four(OPP) else 0

    def after(self, column: int) -> SlowConnectFour:
        columns = list(self.columns)
        columns[column] = (*columns[column], OWN)
        swap = {OWN: OPP, OPP: OWN}
        return SlowConnectFour(self.width, self.height, tuple(tuple(swap[d] for d in discs) for discs in columns))

    def text(self) -> str:
        """The rows from the lowest to the highest, separated by /."""
        rows = range(self.height)
        return "/".join("".join(self.disc(column, row) or "." for column in range(self.width)) for row in rows)
