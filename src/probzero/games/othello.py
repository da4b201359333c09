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
    lines: tuple[tuple[int, int, int], ...]  # shift, and the squares that can be landed on by << and by >>

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

    @property
    def longest_run(self) -> int:
        """How often a run of opposing discs beside a disc can still grow: between two discs lie at most N − 2."""
        return self.size - 3

    def start(self) -> tuple[int, int]:
        """Return (own, opp) of the first position: Black, to move, on (r, s) and (s, r); White on (r, r) and (s, s)."""
        low, high = self.size // 2 - 1, self.size // 2
        black = 1 << (low * self.size + high) | 1 << (high * self.size + low)
        white = 1 << (low * self.size + low) | 1 << (high * self.size + high)
        return signed(black), signed(white)

    def placements(self, own: Words, opp: Words) -> Words:
        """Return the squares where the player to move may place a disc, as bitboards [...]."""
        shift, ahead, behind = self._lines(own)
        up, down = self._runs(own, opp)
        ends = ((up << shift) & ahead) | ((down >> shift) & behind)
        return _union(ends) & ~(own | opp) & self.full

    def place(self, own: Words, opp: Words, action: Words) -> tuple[Words, Words]:
        """Return the next position (own, opp), seen by the opponent, after `action` [...]; legality is not checked.

        In each direction the discs to turn are those that a run of opposing discs joins both to the new disc and,
        looked at from the other end, to a disc of ours.
        """
        square = (own & 0) + 1 << (action & 63)
        square = square * (action < self.squares)  # a pass places nothing
        up, down = self._runs(square, opp)
        from_above, from_below = reversed(self._runs(own, opp))
        turned = _union((up & from_above) | (down & from_below))
        return opp & ~turned, own | square | turned

    def legal(self, own: Words, opp: Words) -> Words:
        """Return which actions are legal, as booleans [..., N² + 1]; none is in a finished game."""
        if isinstance(own, torch.Tensor):
            sides = torch.stack([own, opp])
            mine, theirs = self.placements(sides, sides.flip(0))
            must_pass = (mine == 0) & (theirs != 0)
            return torch.cat([unpack(mine, self.squares) != 0, must_pass[..., None]], dim=-1)
        mine, theirs = self.placements(own, opp), self.placements(opp, own)
        must_pass = (mine == 0) & (theirs != 0)
        return np.concatenate([unpack(mine, self.squares) != 0, must_pass[..., None]], axis=-1)

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

    def _runs(self, origin: Words, opp: Words) -> tuple[Words, Words]:
        """Return the opposing discs joined to `origin` [...] by an unbroken run along each of the four lines.

        First towards higher bits, then towards lower ones, [4, ...] each. What would leave the board or wrap round an
        edge is dropped by the landing masks.
        """
        shift, ahead, behind = self._lines(origin)
        ahead, behind = ahead & opp, behind & opp
        up, down = (origin << shift) & ahead, (origin >> shift) & behind
        for _ in range(self.longest_run):
            up = up | ((up << shift) & ahead)
            down = down | ((down >> shift) & behind)
        return up, down

    def _lines(self, like: Words) -> tuple[Words, Words, Words]:
        """Return shift and landing masks of the four lines, [4, 1, …], for boards shaped and placed like `like`."""
        device = str(like.device) if isinstance(like, torch.Tensor) else None
        return _lines_for(self.lines, device, like.ndim)


def _union(lines: Words) -> Words:
    """Return the union [...] of bitboards [4, ...]."""
    return lines[0] | lines[1] | lines[2] | lines[3]


@cache
def _lines_for(lines: tuple[tuple[int, int, int], ...], device: str | None, dimensions: int) -> tuple:
    table = np.array(lines, dtype=np.int64).T.reshape(3, len(lines), *[1] * dimensions)
    if device is None:
        return tuple(table)
    return tuple(torch.tensor(table, device=device))


@cache
def othello(size: int) -> Othello:
    """Return the rules for N×N boards; N must be one of 4, 5, 6 and 8."""
    if size not in SIZES:
        raise bad("board size", "game.size", f"one of {', '.join(map(str, SIZES))}", size)

    def landing(down: int, right: int) -> int:
        """Squares whose neighbour against the direction is on the board."""
        rows = [row for row in range(size) if 0 <= row - down < size]
        columns = [column for column in range(size) if 0 <= column - right < size]
        return signed(sum(1 << row * size + column for row in rows for column in columns))

    forward = ((0, 1), (1, -1), (1, 0), (1, 1))  # towards higher bits
    lines = tuple((down * size + right, landing(down, right), landing(-down, -right)) for down, right in forward)
    return Othello(size, signed((1 << size * size) - 1), lines)


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
