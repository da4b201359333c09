"""Othello on N×N boards, vectorised: every function takes arrays of positions and returns arrays.

A position is two int64 bitboards seen by the player to move, `own` and `opp`; bit row·N + column is a square. Action
row·N + column places a disc there, action N² passes. Only operators are used, so the same functions serve numpy arrays
and torch tensors on any device.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch

from probzero.errors import bad
from probzero.games.bits import Words, popcount, signed, unpack

SIZES = (4, 5, 6, 8)
RULES_VERSION = 1  # changes when the rules' behaviour does; stored in checkpoints


@dataclass(frozen=True)
class Othello:
    """The rules for one board size. Use `othello(size)`, which checks the size and builds the masks once."""

    size: int
    full: int  # every square of the board
    directions: tuple[tuple[int, int], ...]  # (shift, squares that can be landed on); opposite directions mirror

    @property
    def squares(self) -> int:
        return self.size * self.size

    @property
    def actions(self) -> int:
        return self.squares + 1

    @property
    def pass_action(self) -> int:
        return self.squares

    @property
    def longest_game(self) -> int:
        """An upper bound on plies: each of the N² − 4 placements can be preceded by at most one pass."""
        return 2 * (self.squares - 4)

    def start(self) -> tuple[int, int]:
        """Return (own, opp) of the first position: Black, to move, on (r, s) and (s, r); White on (r, r) and (s, s)."""
        low, high = self.size // 2 - 1, self.size // 2
        black = 1 << (low * self.size + high) | 1 << (high * self.size + low)
        white = 1 << (low * self.size + low) | 1 << (high * self.size + high)
        return signed(black), signed(white)

    def placements(self, own: Words, opp: Words) -> Words:
        """Return the squares where the player to move may place a disc, as bitboards [...]."""
        found = own & 0
        for direction in self.directions:
            found = found | self._step(self._run(own, opp, direction), direction)
        return found & ~(own | opp) & self.full

    def place(self, own: Words, opp: Words, action: Words) -> tuple[Words, Words]:
        """Return the next position (own, opp), seen by the opponent, after `action` [...]; legality is not checked.

        In each direction the discs to turn are those that a run of opposing discs joins both to the new disc and,
        looked at from the other end, to a disc of ours.
        """
        square = (own & 0) + 1 << (action & 63)
        square = square * (action < self.squares)  # a pass places nothing
        turned = own & 0
        for there, back in zip(self.directions, reversed(self.directions), strict=True):
            turned = turned | (self._run(square, opp, there) & self._run(own, opp, back))
        return opp & ~turned, own | square | turned

    def legal(self, own: Words, opp: Words) -> Words:
        """Return which actions are legal, as booleans [..., N² + 1]; none is in a finished game."""
        mine = self.placements(own, opp)
        must_pass = (mine == 0) & (self.placements(opp, own) != 0)
        flags = unpack(mine, self.squares) != 0
        if isinstance(mine, torch.Tensor):
            return torch.cat([flags, must_pass[..., None]], dim=-1)
        return np.concatenate([flags, must_pass[..., None]], axis=-1)

    def terminal(self, own: Words, opp: Words) -> Words:
        """Return whether neither side can place a disc, as booleans [...]."""
        return (self.placements(own, opp) | self.placements(opp, own)) == 0

    def margin(self, own: Words, opp: Words) -> Words:
        """Return own discs minus opposing discs [...]; empty squares count for nobody."""
        return popcount(own) - popcount(opp)

    def result(self, own: Words, opp: Words) -> Words:
        """Return +1, 0 or −1 [...] for the player to move, by discs on the board."""
        margin = self.margin(own, opp)
        return (margin > 0) * 1 - (margin < 0) * 1

    def rank(self, own: Words, opp: Words, legal: Words) -> Words:
        """Return 2·discs + (can place) [...], which grows along every move; `legal` [..., N² + 1] as above."""
        return 2 * popcount(own | opp) + legal[..., : self.squares].any(-1)

    def encode(self, own: Words, opp: Words) -> Words:
        """Return float32 planes [..., 2, N, N]: own discs, opposing discs."""
        shape = (*own.shape, 2, self.size, self.size)
        if isinstance(own, torch.Tensor):
            both = torch.stack([own, opp], dim=-1)
            return unpack(both, self.squares).to(torch.float32).reshape(shape)
        both = np.stack([own, opp], axis=-1)
        return unpack(both, self.squares).astype(np.float32).reshape(shape)

    def _step(self, squares: Words, direction: tuple[int, int]) -> Words:
        """Return `squares` moved by one in a direction; what would leave the board or wrap round an edge is dropped."""
        shift, landing = direction
        moved = squares << shift if shift > 0 else squares >> -shift
        return moved & landing

    def _run(self, origin: Words, opp: Words, direction: tuple[int, int]) -> Words:
        """Return the opposing discs joined to `origin` by an unbroken run in a direction."""
        run = self._step(origin, direction) & opp
        for _ in range(self.size - 3):
            run = run | (self._step(run, direction) & opp)
        return run


@cache
def othello(size: int) -> Othello:
    """Return the rules for N×N boards; N must be one of 4, 5, 6 and 8."""
    if size not in SIZES:
        raise bad("board size", "game.size", f"one of {', '.join(map(str, SIZES))}", size)
    squares = range(size * size)
    directions = []
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            if down or right:
                landing = sum(
                    1 << square
                    for square in squares
                    if 0 <= square // size - down < size and 0 <= square % size - right < size
                )
                directions.append((down * size + right, signed(landing)))
    return Othello(size, signed((1 << size * size) - 1), tuple(directions))


def square_name(size: int, action: int) -> str:
    """Return the usual name of an action: a letter for the column, a number for the row (a1 is row 0, column 0)."""
    if action == size * size:
        return "pass"
    return f"{'abcdefgh'[action % size]}{action // size + 1}"


def move_names(size: int, actions: Iterable[int]) -> str:
    """Return the names of actions, separated by spaces."""
    return " ".join(square_name(size, int(action)) for action in actions)


def parse_moves(size: int, names: str) -> list[int]:
    """Return the actions that `move_names` wrote."""
    known = {square_name(size, action): action for action in range(size * size + 1)}
    unknown = [name for name in names.split() if name not in known]
    if unknown:
        raise bad("moves", repr(names), f"squares of a {size}×{size} board or pass", unknown[0])
    return [known[name] for name in names.split()]
