"""Othello on N×N boards, N ∈ {4, 5, 6, 8}, vectorised: every function takes arrays of states and returns arrays.

A state is two int64 bitboards seen by the player to move, (own, opp); bit row·N + column is a square. Action row·N +
column places a disc there, action N² passes. Only operators are used, so the same functions serve numpy arrays and
torch tensors on any device.

- Start: with r = N//2 − 1, s = N//2, White on (r, r) and (s, s), Black, to move, on (r, s) and (s, r).
- Pass is legal exactly when there is no placement and the opponent has one.
- The game ends when neither side can place. More discs win; empty squares count for nobody.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from probzero.bits import popcount, signed, unpack
from probzero.games import symmetry
from probzero.games.base import Array, Shape, Symmetries
from probzero.games.boards import TwoBoards, frozen
from probzero.kinds import is_tensor, space


class Othello(TwoBoards):
    """The rules for one board size."""

    name = "othello"
    version = 1
    sides = ("Black", "White")

    def __init__(self, size: int) -> None:
        super().__init__(Shape(2, size, size, size * size + 1), size=size)
        self.size, self.squares, self.pass_action = size, size * size, size * size
        self.uci_variant = "flipello" if size == 8 else None
        self.most_moves = self.squares - 4
        self.ranks = 2 * self.squares + 2
        squares = symmetry.sources(size, size, symmetry.SQUARE)
        actions = np.pad(squares, ((0, 0), (0, 1)), constant_values=self.pass_action)  # pass stays pass
        self.symmetries = Symmetries(frozen(squares), frozen(actions))
        forward = ((0, 1), (1, -1), (1, 0), (1, 1))  # towards higher bits
        # Shift, and the squares that can be landed on by << and by >>, of the four lines.
        self.lines = tuple(
            (down * size + right, self._landing(down, right), self._landing(-down, -right)) for down, right in forward
        )

    def start(self) -> np.ndarray:
        low, high = self.size // 2 - 1, self.size // 2
        black = 1 << (low * self.size + high) | 1 << (high * self.size + low)
        white = 1 << (low * self.size + low) | 1 << (high * self.size + high)
        return np.array([signed(black), signed(white)], dtype=np.int64)

    def legal(self, states: Array) -> Array:
        own, opp = states[..., 0], states[..., 1]
        xp = space(states)
        mine, theirs = self.placements(xp.stack([own, opp]), xp.stack([opp, own]))
        must_pass = (mine == 0) & (theirs != 0)
        return xp.concatenate([unpack(mine, self.squares) != 0, must_pass[..., None]], axis=-1)

    def play(self, states: Array, actions: Array) -> Array:
        """Return the next states [n, 2].

        In each direction the discs to turn are those that a run of opposing discs joins both to the new disc and,
        looked at from the other end, to a disc of ours.
        """
        own, opp = states[..., 0], states[..., 1]
        square = (own & 0) + 1 << (actions & 63)
        square = square * (actions < self.squares)  # a pass places nothing
        up, down = self._runs(square, opp)
        from_above, from_below = reversed(self._runs(own, opp))
        turned = _union((up & from_above) | (down & from_below))
        after = opp & ~turned, own | square | turned
        return space(states).stack(after, axis=-1)

    def outcome(self, states: Array) -> Array:
        margin = self.margin(states)
        return (margin > 0) * 1 - (margin < 0) * 1

    def finished(self, states: Array) -> Array:
        own, opp = states[..., 0], states[..., 1]
        return (self.placements(own, opp) | self.placements(opp, own)) == 0

    def margin(self, states: Array) -> Array:
        """Return own discs minus opposing discs [n]; empty squares count for nobody."""
        return popcount(states[..., 0]) - popcount(states[..., 1])

    def rank(self, states: Array, legal: Array) -> Array:
        """Return 2·discs + (can place) [n]: a placement adds a disc, and after a pass there is a placement."""
        return 2 * self.phase(states) + legal[..., : self.squares].any(-1)

    def move_name(self, action: int) -> str:
        """Return a letter for the column and a number for the row: a1 is row 0, column 0."""
        if action == self.pass_action:
            return "pass"
        return f"{'abcdefgh'[action % self.size]}{action // self.size + 1}"

    def uci_name(self, state: np.ndarray, action: int) -> str:
        """Return a drop, as in P@e3, where rows are counted from below; who passes moves its first disc nowhere."""
        square = action
        if action == self.pass_action:
            own = np.flatnonzero(unpack(np.asarray(state[0]), self.squares))
            square = min(own.tolist(), key=lambda at: (-(at // self.size), at))
        name = f"{'abcdefgh'[square % self.size]}{self.size - square // self.size}"
        return name + name if action == self.pass_action else f"P@{name}"

    def placements(self, own: Array, opp: Array) -> Array:
        """Return the squares where the player to move may place a disc, as bitboards [...]."""
        shift, ahead, behind = self._lines(own)
        up, down = self._runs(own, opp)
        ends = ((up << shift) & ahead) | ((down >> shift) & behind)
        return _union(ends) & ~(own | opp) & self.full

    def _runs(self, origin: Array, opp: Array) -> tuple[Array, Array]:
        """Return the opposing discs joined to `origin` [...] by an unbroken run along each of the four lines.

        First towards higher bits, then towards lower ones, [4, ...] each. What would leave the board or wrap round an
        edge is dropped by the landing masks. Between two discs lie at most N − 2, so that a run can grow N − 3 times.
        """
        shift, ahead, behind = self._lines(origin)
        ahead, behind = ahead & opp, behind & opp
        up, down = (origin << shift) & ahead, (origin >> shift) & behind
        for _ in range(self.size - 3):
            up = up | ((up << shift) & ahead)
            down = down | ((down >> shift) & behind)
        return up, down

    def _landing(self, down: int, right: int) -> int:
        """Return the squares whose neighbour against the direction is on the board."""
        rows = [row for row in range(self.size) if 0 <= row - down < self.size]
        columns = [column for column in range(self.size) if 0 <= column - right < self.size]
        return signed(sum(1 << row * self.size + column for row in rows for column in columns))

    def _lines(self, like: Array) -> tuple[Array, Array, Array]:
        """Return shift and landing masks of the four lines, [4, 1, …], for boards shaped and placed like `like`."""
        device = str(like.device) if is_tensor(like) else None
        return _lines_for(self.lines, device, like.ndim)


def _union(lines: Array) -> Array:
    """Return the union [...] of bitboards [4, ...]."""
    return lines[0] | lines[1] | lines[2] | lines[3]


@cache
def _lines_for(lines: tuple[tuple[int, int, int], ...], device: str | None, dimensions: int) -> tuple:
    table = np.array(lines, dtype=np.int64).T.reshape(3, len(lines), *[1] * dimensions)
    if device is None:
        return tuple(table)
    import torch

    return tuple(torch.tensor(table, device=device))


make = Othello
