"""Othello square by square: slow, obvious, and independent of the engine it checks."""

from __future__ import annotations

from dataclasses import dataclass

OWN, OPP, EMPTY = "x", "o", "."


@dataclass(frozen=True)
class SlowOthello:
    size: int
    squares: tuple[str, ...]  # seen by the player to move

    @classmethod
    def start(cls, size: int) -> SlowOthello:
        low, high = size // 2 - 1, size // 2
        squares = [EMPTY] * (size * size)
        squares[low * size + high] = squares[high * size + low] = OWN
        squares[low * size + low] = squares[high * size + high] = OPP
        return cls(size, tuple(squares))

    @classmethod
    def from_bitboards(cls, size: int, own: int, opp: int) -> SlowOthello:
        squares = tuple(OWN if own >> k & 1 else OPP if opp >> k & 1 else EMPTY for k in range(size * size))
        return cls(size, squares)

    def bitboards(self) -> tuple[int, int]:
        own = sum(1 << k for k, disc in enumerate(self.squares) if disc == OWN)
        return own, sum(1 << k for k, disc in enumerate(self.squares) if disc == OPP)

    def margin(self) -> int:
        return self.squares.count(OWN) - self.squares.count(OPP)

    def turned_by(self, square: int) -> list[int]:
        """Squares turned by placing on `square`; empty if that is no move."""
        if self.squares[square] != EMPTY:
            return []
        turned = []
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                line, row, column = [], square // self.size + down, square % self.size + right
                while 0 <= row < self.size and 0 <= column < self.size and (down or right):
                    disc = self.squares[row * self.size + column]
                    if disc == OWN:
                        turned += line
                    if disc != OPP:
                        break
                    line.append(row * self.size + column)
                    row, column = row + down, column + right
        return turned

    def swapped(self) -> SlowOthello:
        swap = {OWN: OPP, OPP: OWN, EMPTY: EMPTY}
        return SlowOthello(self.size, tuple(swap[disc] for disc in self.squares))

    def placements(self) -> list[int]:
        return [square for square in range(len(self.squares)) if self.turned_by(square)]

    def legal_moves(self) -> list[int]:
        """Placements; else a pass (N²) if the opponent can place; else nothing: the game is over."""
        return self.placements() or ([len(self.squares)] if self.swapped().placements() else [])

    def after(self, action: int) -> SlowOthello:
        squares = list(self.squares)
        if action < len(squares):
            for square in [action, *self.turned_by(action)]:
                squares[square] = OWN
        return SlowOthello(self.size, tuple(squares)).swapped()
