"""What games share whose state is two bitboards, own and opposing discs; bit row·W + column is a square."""

from __future__ import annotations

import numpy as np

from probzero.bits import pack, popcount, signed, unpack
from probzero.errors import bad
from probzero.games.base import Array, Game, Shape
from probzero.games.registry import Option
from probzero.kinds import cast, is_tensor, like

OWN, OPP, EMPTY = "x", "o", "."  # in the notation


class TwoBoards(Game):
    """A game of discs on H×W squares. The state is (own, opp), seen by the player to move."""

    words = 2
    word_names: tuple[str, ...] = ("own", "opp")

    def __init__(self, shape: Shape, **options: Option) -> None:
        super().__init__(**options)
        self.shape, self.word_bits = shape, shape.squares
        self.full = signed((1 << shape.squares) - 1)  # every square of the board

    def phase(self, states: Array) -> Array:
        """Return the number of discs [n]."""
        return popcount(states[..., 0] | states[..., 1])

    def encode(self, states: Array) -> Array:
        """Return float32 planes [n, 2, H, W]: own discs, opposing discs; another board more is another plane."""
        bits, (_, height, width, _) = unpack(states, self.shape.squares), self.shape
        return cast(bits, "float32").reshape(*states.shape, height, width)

    def decode(self, planes: np.ndarray) -> np.ndarray:
        return pack(planes.reshape(*planes.shape[:2], self.shape.squares) > 0)

    def turn(self, states: Array, k: Array) -> Array:
        bits = unpack(states, self.shape.squares)  # [n, boards, H·W]
        source = like(self.symmetries.squares.copy(), bits)[k][:, None]
        if is_tensor(bits):
            return pack(bits.gather(2, source.expand_as(bits)))
        return pack(np.take_along_axis(bits, source, axis=2))

    def to_text(self, state: np.ndarray) -> str:
        """Return the rows from the first to the last, separated by /; x is the player to move, o the opponent."""
        own, opp = unpack(np.asarray(state), self.shape.squares)
        squares = [OWN if mine else OPP if theirs else EMPTY for mine, theirs in zip(own, opp, strict=True)]
        width = self.shape.width
        return "/".join("".join(squares[first : first + width]) for first in range(0, len(squares), width))

    def from_text(self, text: str) -> np.ndarray:
        rows, (_, height, width, _) = text.split("/"), self.shape
        if len(rows) != height or any(len(row) != width or set(row) - {OWN, OPP, EMPTY} for row in rows):
            raise bad("position", repr(text), f"{height} rows of {width} characters {OWN}, {OPP} or {EMPTY}", "others")
        squares = np.array(list("".join(rows)))
        return pack(np.stack([squares == OWN, squares == OPP]))

    def check_states(self, states: np.ndarray) -> None:
        own, opp = states[:, 0], states[:, 1]
        board = f"the {self.shape.height}×{self.shape.width} board"
        for wrong, expected in (
            ((own & opp) != 0, "at most one disc per square"),
            (((own | opp) & ~np.int64(self.full)) != 0, f"discs on {board} only"),
        ):
            if wrong.any():
                row = int(wrong.argmax())
                words = " ".join(f"{int(word) % (1 << 64):#x}" for word in states[row])
                raise bad("illegal position", f"number {row}", expected, words)


def frozen(table: np.ndarray) -> np.ndarray:
    """Return the table, which nobody may change from now on."""
    table.flags.writeable = False
    return table
