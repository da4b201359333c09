"""Go on N×N boards, N from 2 to 7, vectorised: every function takes arrays of states and returns arrays.

A state is four int64 words seen by the player to move, (own, opp, ko, clock). The first three are bitboards, bit
row·N + column a square and row 0 the lowest; `ko` holds the square that simple ko forbids, if there is one; clock is
4·ply + passes in a row. Action row·N + column places a stone there, action N² passes. Only operators are used, so the
same functions serve numpy arrays and torch tensors on any device.

- A stone takes the opposing groups that it leaves without a liberty; suicide is illegal.
- Simple ko: a stone that has taken a single stone may not be retaken at once if that would bring the same board back.
- Two passes in a row end the game, and so does ply `longest`: the ply is part of the state, so nothing recurs for ever.
- Area scoring, as the board stands: stones and the empty squares that reach stones of one colour alone. The second
  player gets `komi` more.
"""

from __future__ import annotations

import re

import numpy as np

from probzero.bits import popcount
from probzero.errors import bad
from probzero.games import symmetry
from probzero.games.base import Array, Shape, Symmetries
from probzero.games.boards import TwoBoards, frozen
from probzero.games.view import View
from probzero.kinds import cast, count_up, is_tensor, space

PLANES = 6
PASSES = 3  # the bits of the clock that count them
NONE = "-"  # no ko, in the notation
# Steps of the longest way between two squares of a region that has no shorter one, by the size of the board: a way
# without short cuts has at most so many squares, less one (OEIS A331968, the longest snakes).
LONGEST_WAY = {2: 2, 3: 6, 4: 10, 5: 16, 6: 23, 7: 32}


class Go(TwoBoards):
    """The rules for one board size, komi and length."""

    name = "go"
    version = 1
    sides = ("Black", "White")
    words = 4
    word_names = ("own", "opp", "ko", "clock")

    def __init__(self, size: int, komi: float, longest: int) -> None:
        super().__init__(Shape(PLANES, size, size, size * size + 1), size=size, komi=komi, longest=longest)
        self.size, self.squares, self.pass_action = size, size * size, size * size
        self.longest, self.double_komi = longest, round(2 * komi)
        self.word_bits = max(self.squares, (4 * longest + PASSES).bit_length())
        self.most_moves = self.actions
        self.ranks = longest + 1
        squares = symmetry.sources(size, size, symmetry.SQUARE)
        actions = np.pad(squares, ((0, 0), (0, 1)), constant_values=self.pass_action)  # pass stays pass
        self.symmetries = Symmetries(frozen(squares), frozen(actions))
        first = sum(1 << row * size for row in range(size))
        self.off_first, self.off_last = self.full & ~first, self.full & ~(first << size - 1)  # columns

    def start(self) -> np.ndarray:
        return np.zeros(4, dtype=np.int64)

    def legal(self, states: Array) -> Array:
        own, opp, ko, clock = (states[..., word, None] for word in range(4))
        stone = (count_up(states, self.squares) & 0) + 1 << count_up(states, self.squares)  # [N²], tried all at once
        mine = own | stone
        theirs = self._alive(opp, mine)
        may_place = (stone & (own | opp | ko) == 0) & (stone & self._alive(mine, theirs) != 0)
        going = (clock & PASSES < 2) & (clock >> 2 < self.longest)  # [..., 1]
        return space(states).concatenate([may_place & going, going], axis=-1)

    def play(self, states: Array, actions: Array) -> Array:
        own, opp, clock = states[..., 0], states[..., 1], states[..., 3]
        passes = actions == self.pass_action
        stone = ((own & 0) + 1 << actions) * ~passes
        mine = own | stone
        theirs = self._alive(opp, mine)
        taken, beside = opp & ~theirs, self._beside(stone)
        # One stone by one stone, whose only liberty is where the other was.
        retakes = (taken & (taken - 1) == 0) & (beside & own == 0) & (beside & ~(mine | theirs) == taken)
        after = theirs, mine, taken * retakes, (clock | PASSES) + 1 + passes * ((clock & PASSES) + 1)
        return space(states).stack(after, axis=-1)

    def outcome(self, states: Array) -> Array:
        margin = self.margin(states)
        return (margin > 0) * 1 - (margin < 0) * 1

    def finished(self, states: Array) -> Array:
        clock = states[..., 3]
        return (clock & PASSES >= 2) | (clock >> 2 >= self.longest)

    def margin(self, states: Array) -> Array:
        """Return the points by which the player to move is ahead [n], komi counted; half a point counts as one."""
        own, opp = states[..., 0], states[..., 1]
        empty = self.full & ~(own | opp)
        ours = own | self._joined(self._beside(own) & empty, empty)
        theirs = opp | self._joined(self._beside(opp) & empty, empty)
        area = popcount(ours & ~theirs) - popcount(theirs & ~ours)
        second = states[..., 3] >> 2 & 1  # who gets the komi is to move
        doubled = 2 * area + self.double_komi * (2 * second - 1)
        return doubled + (doubled > 0) >> 1

    def rank(self, states: Array, legal: Array) -> Array:
        """Return the ply [n]."""
        return states[..., 3] >> 2

    def encode(self, states: Array) -> Array:
        """Return float32 planes [n, 6, N, N]: own and opposing stones, ko; who moves second, passes, plies to come."""
        boards, clock = super().encode(states[:, :3]), states[:, 3]
        counted = (clock >> 2 & 1, 1), (clock & PASSES, 1 / 2), (self.longest - (clock >> 2), 1 / self.longest)
        xp = space(states)
        shares = xp.stack([cast(number, "float32") * unit for number, unit in counted], axis=1)
        return xp.concatenate([boards, shares[:, :, None, None] * xp.ones_like(boards[:, :1])], axis=1)

    def decode(self, planes: np.ndarray) -> np.ndarray:
        passes, to_come = planes[:, 4, 0, 0], planes[:, 5, 0, 0].astype(float)
        clock = 4 * np.rint((1 - to_come) * self.longest) + np.rint(2 * passes)
        return np.column_stack([super().decode(planes[:, :3]), clock.astype(np.int64)])

    def turn(self, states: Array, k: Array) -> Array:
        return space(states).concatenate([super().turn(states[:, :3], k), states[:, 3:]], axis=1)

    def move_name(self, action: int) -> str:
        """Return a letter for the column and a number for the row: a1 is row 0, column 0."""
        if action == self.pass_action:
            return "pass"
        return f"{'abcdefg'[action % self.size]}{action // self.size + 1}"

    def to_text(self, state: np.ndarray) -> str:
        """Return the rows from the lowest, separated by /, then ko, ply and passes; x is the player to move."""
        own, opp, ko, clock = map(int, state)
        forbidden = self.move_name(ko.bit_length() - 1) if ko else NONE
        return f"{super().to_text(np.array([own, opp]))} {forbidden} {clock >> 2} {clock & PASSES}"

    def from_text(self, text: str) -> np.ndarray:
        parts = re.fullmatch(r"(\S+) (-|[a-g]\d) (0|[1-9]\d{0,4}) ([0-2])", text, re.ASCII)
        if parts is None:
            raise bad("position", repr(text), "rows, ko or -, ply and passes, separated by blanks", "others")
        rows, ko, ply, passes = parts.groups()
        forbidden = 0 if ko == NONE else 1 << self.parse_moves(ko, repr(text))[0]
        return np.append(super().from_text(rows), [forbidden, 4 * int(ply) + int(passes)])

    def view(self, state: np.ndarray) -> View:
        """Return the board with its highest row first."""
        seen = super().view(state)
        target = {action: (self.size - 1 - row, column) for action, (row, column) in seen.target.items()}
        return seen._replace(owner=seen.owner[::-1], rows=seen.rows[::-1], target=target)

    def check_states(self, states: np.ndarray) -> None:
        super().check_states(states)
        own, opp, ko, clock = states.T
        ply, passes = clock >> 2, clock & PASSES
        for holds, expected in (
            (self.can_stand(states), "a liberty for every group"),
            ((clock >= 0) & (ply <= self.longest) & (passes <= np.minimum(ply, 2)), "a ply and passes that can be"),
            ((popcount(own) <= ply // 2) & (popcount(opp) <= (ply + 1) // 2), "a ply for every stone"),
            (
                (ko & (ko - 1) == 0) & (ko & ~self.full == 0) & ((self._beside(ko) | ko) & ~(opp | ko) == 0)
                & (ko & (own | opp) == 0) & ((ko == 0) | (passes == 0)),
                "a ko on one empty square among opposing stones, or none",
            ),
        ):  # fmt: skip
            if not holds.all():
                row = int(holds.argmin())
                raise bad("illegal position", f"number {row}", expected, " ".join(map(str, states[row].tolist())))

    def can_stand(self, states: Array) -> Array:
        """Return whether every group has a liberty, as booleans [n]."""
        own, opp = states[..., 0], states[..., 1]
        return (self._alive(own, opp) == own) & (self._alive(opp, own) == opp)

    def _beside(self, squares: Array) -> Array:
        """Return the squares next to those of bitboards [...]."""
        along = ((squares & self.off_last) << 1) | ((squares & self.off_first) >> 1)
        return (along | squares << self.size | squares >> self.size) & self.full

    def _joined(self, seeds: Array, within: Array) -> Array:
        """Return the squares of `within` [...] that are joined to one of its `seeds` [...]."""
        for _ in range(LONGEST_WAY[self.size]):
            more = (seeds | self._beside(seeds)) & within
            if not is_tensor(seeds) and (more == seeds).all():  # to ask a device would make its host wait
                break
            seeds = more
        return seeds

    def _alive(self, stones: Array, others: Array) -> Array:
        """Return those stones [...] whose group has a liberty."""
        return self._joined(self._beside(self.full & ~(stones | others)) & stones, stones)


make = Go
