"""Go square by square: slow, obvious, and independent of the engine it checks.

Ko is told from the boards themselves: a stone may not bring back the board before the opponent's last move."""

from __future__ import annotations

from dataclasses import dataclass

BLACK, WHITE, EMPTY = "b", "w", "."
OTHER = {BLACK: WHITE, WHITE: BLACK}


@dataclass(frozen=True)
class SlowGo:
    size: int
    board: tuple[str, ...]
    before: tuple[str, ...] | None = None  # the board before the last move
    ply: int = 0
    passes: int = 0

    @classmethod
    def start(cls, size: int) -> SlowGo:
        return cls(size, (EMPTY,) * (size * size))

    @property
    def mover(self) -> str:
        return BLACK if self.ply % 2 == 0 else WHITE

    def neighbours(self, square: int) -> list[int]:
        row, column = divmod(square, self.size)
        beside = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
        return [r * self.size + c for r, c in beside if 0 <= r < self.size and 0 <= c < self.size]

    def region(self, board: list[str] | tuple[str, ...], square: int) -> tuple[set[int], set[str]]:
        """The squares joined to this one by its own kind, and the kinds of squares around them."""
        found, around, todo = {square}, set(), [square]
        while todo:
            for beside in self.neighbours(todo.pop()):
                if board[beside] != board[square]:
                    around.add(board[beside])
                elif beside not in found:
                    found.add(beside)
                    todo.append(beside)
        return found, around

    def placed(self, square: int) -> tuple[str, ...] | None:
        """The board after a stone of the player to move, or None where it would be left without a liberty."""
        board = list(self.board)
        board[square] = self.mover
        for beside in self.neighbours(square):
            if board[beside] == OTHER[self.mover]:
                group, around = self.region(board, beside)
                if EMPTY not in around:
                    for taken in group:
                        board[taken] = EMPTY
        return tuple(board) if EMPTY in self.region(board, square)[1] else None

    def ko(self) -> list[int]:
        """Where a stone would bring the last board but one back."""
        empty = [square for square, kind in enumerate(self.board) if kind == EMPTY]
        return [square for square in empty if self.before is not None and self.placed(square) == self.before]

    def legal_moves(self, longest: int) -> list[int]:
        """Placements, then the pass (N²); nothing once the game is over."""
        if self.passes == 2 or self.ply == longest:
            return []
        empty = [square for square, kind in enumerate(self.board) if kind == EMPTY]
        free = [square for square in empty if self.placed(square) not in (None, self.before)]
        return [*free, len(self.board)]

    def after(self, action: int) -> SlowGo:
        if action == len(self.board):
            return SlowGo(self.size, self.board, self.board, self.ply + 1, self.passes + 1)
        board = self.placed(action)
        assert board is not None
        return SlowGo(self.size, board, self.board, self.ply + 1)

    def black_points(self) -> int:
        """Black's area minus White's."""
        points = {BLACK: self.board.count(BLACK), WHITE: self.board.count(WHITE)}
        for square, kind in enumerate(self.board):
            if kind == EMPTY:
                around = self.region(self.board, square)[1]
                if len(around) == 1:
                    points[around.pop()] += 1
        return points[BLACK] - points[WHITE]

    def text(self) -> str:
        """The engine's notation: the player to move is x."""
        kinds = {self.mover: "x", OTHER[self.mover]: "o", EMPTY: "."}
        squares, ko = "".join(kinds[kind] for kind in self.board), self.ko()
        rows = "/".join(squares[first : first + self.size] for first in range(0, len(squares), self.size))
        forbidden = f"{'abcdefg'[ko[0] % self.size]}{ko[0] // self.size + 1}" if ko else "-"
        return f"{rows} {forbidden} {self.ply} {self.passes}"
