"""Connect Four on boards of any width up to 7 and height up to 6, vectorised.

A state is two int64 bitboards seen by the player to move, (own, opp); bit row·W + column is a square, row 0 the lowest.
Action c drops a disc into column c. Four in a row, along a row, a column or a diagonal, win; a full board is a draw.
Only operators are used, so the same functions serve numpy arrays and torch tensors on any device.
"""

from __future__ import annotations

import numpy as np

from probzero.bits import unpack
from probzero.games import symmetry
from probzero.games.base import Array, Shape, Symmetries
from probzero.games.boards import TwoBoards, frozen
from probzero.games.view import View, numbers
from probzero.kinds import space


class ConnectFour(TwoBoards):
    """The rules for one width and height."""

    name = "connect_four"
    version = 1
    sides = ("Yellow", "Red")

    def __init__(self, width: int, height: int) -> None:
        super().__init__(Shape(2, height, width, width), width=width, height=height)
        self.width, self.height = width, height
        self.most_moves = width
        self.ranks = width * height + 1
        squares = symmetry.sources(height, width, symmetry.LEFT_RIGHT)
        self.symmetries = Symmetries(frozen(squares), frozen(squares[:, :width].copy()))
        # Shift of each kind of line, and the squares from which three more steps sideways stay on the board.
        steps = ((1, 1), (0, width), (1, width + 1), (-1, width - 1))
        self.lines = tuple((shift, self._begins(right)) for right, shift in steps)

    def start(self) -> np.ndarray:
        return np.zeros(2, dtype=np.int64)

    def legal(self, states: Array) -> Array:
        held = (states[..., 0] | states[..., 1]) >> (self.width * (self.height - 1))  # the top row
        going = ~self._four(states[..., 1])
        return (unpack(held, self.width) == 0) & going[..., None]

    def play(self, states: Array, actions: Array) -> Array:
        own, opp = states[..., 0], states[..., 1]
        held = own | opp
        square = (own & 0) + 1 << actions
        for _ in range(self.height - 1):
            square = square << (self.width * ((square & held) != 0))  # one row up, if somebody is there
        after = opp, own | square
        return space(states).stack(after, axis=-1)

    def outcome(self, states: Array) -> Array:
        return self._four(states[..., 1]) * -1

    def rank(self, states: Array, legal: Array) -> Array:
        """Return the number of discs [n]."""
        return self.phase(states)

    def move_name(self, action: int) -> str:
        """Return the number of the column, from 1."""
        return str(action + 1)

    def view(self, state: np.ndarray) -> View:
        """Return the board with its highest row first; a disc lands on the lowest free square of its column."""
        owner = super().view(state).owner[::-1]
        columns = np.flatnonzero(self.legal(state[None])[0]).tolist()
        target = {column: (int(np.flatnonzero(owner[:, column] == 0)[-1]), column) for column in columns}
        return View(owner, (("",) * self.width,) * self.height, ("",) * self.height, numbers(self.width), target)

    def _four(self, discs: Array) -> Array:
        """Return whether there are four in a row on bitboards [...]."""
        found = discs != discs
        for shift, begins in self.lines:
            pairs = discs & (discs >> shift)
            found = found | ((pairs & (pairs >> (2 * shift)) & begins) != 0)
        return found

    def _begins(self, right: int) -> int:
        columns = [column for column in range(self.width) if 0 <= column + 3 * right < self.width]
        return sum(1 << row * self.width + column for row in range(self.height) for column in columns)


make = ConnectFour
