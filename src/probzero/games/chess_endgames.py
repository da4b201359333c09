"""Chess endgames of king and queen, king and rook, and king and pawn against a king, from any position of the three.

Every game is set up by chance, in four plies that self-play, openings and measurements draw at random (`set_up`): the
player who will be to move chooses the piece and whose it is, the other places their king, then one's own king is
placed, and the other puts the piece on the board. A placement after which a king could be taken, or the game would be
over, is not legal. From there on it is chess, whose actions keep their numbers; 64 placements and six choices follow.

Exact values come from tables (`games/compiled/chess_tables.py`), made within seconds where they are needed. They say in
how many plies there is mate, so that the perfect player wins as fast and loses as slowly as can be, and in how many
there is mate or a pawn's move that keeps the win: the fifty moves are counted exactly. How soon a mate comes is told as
if no plies had been counted; where they press, it may come later.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from probzero import templates
from probzero.bits import pack, popcount, unpack
from probzero.errors import bad
from probzero.games import symmetry
from probzero.games.base import NO_VALUE, Array, Shape, Symmetries
from probzero.games.boards import frozen
from probzero.games.chess import LAST, Chess, square_name

PLACE, CHOOSE = 64 * 73, 64 * 73 + 64
KINDS = "QRPqrp"  # a piece that was chosen for oneself, for the other
KIND = 16  # lowest bit, in the notes, of the piece that is still to be placed
LARGEST = 127  # value of a mate that is already on the board


class ChessEndgames(Chess):
    """The rules of chess, and of setting it up."""

    name = "chess_endgames"
    version = 1

    def __init__(self, **options: int) -> None:
        super().__init__(**options)
        planes = self.shape.planes + len(KINDS)  # which piece is still to be placed
        self.shape = Shape(planes, 8, 8, CHOOSE + len(KINDS))
        self.ranks += self.set_up
        squares = symmetry.sources(8, 8, symmetry.LEFT_RIGHT)
        self.symmetries = Symmetries(frozen(squares), frozen(_mirrored(squares)))

    def start(self) -> np.ndarray:
        return np.zeros(self.words, dtype=np.int64)

    def phase(self, states: Array) -> Array:
        """Return the table of positions [n]: 1 queen, 2 rook, 3 pawn; 0 while they are set up, 4 for any other."""
        _, _, pawns, _, diagonal, straight, kings, notes = states.T
        kind = np.where(straight & diagonal, 1, np.where(straight, 2, np.where(pawns, 3, 4)))
        return np.where((kings == 0) | (notes >> KIND > 0), 0, kind)

    def turn(self, states: Array, k: Array) -> Array:
        bits = unpack(states[:, :-1], 64)  # the notes have neither rights nor a file
        turned = pack(np.take_along_axis(bits, self.symmetries.squares[k][:, None], axis=2))
        return np.concatenate([turned, states[:, -1:]], axis=1)

    def encode(self, states: Array) -> Array:
        plain = super().encode(np.where(np.arange(self.words) < self.words - 1, states, states & (1 << KIND) - 1))
        kinds = (states[:, -1] >> KIND)[:, None] == np.arange(1, 1 + len(KINDS))
        return np.concatenate(
            [plain, np.broadcast_to(kinds[:, :, None, None], (*kinds.shape, 8, 8))], axis=1, dtype="f4"
        )

    def decode(self, planes: np.ndarray) -> np.ndarray:
        states = super().decode(planes[:, : -len(KINDS)])
        states[:, -1] |= (planes[:, -len(KINDS) :, 0, 0] > 0) @ np.arange(1, 1 + len(KINDS)) << KIND
        return states

    def move_name(self, action: int) -> str:
        """Return @ and a square for a placement, @ and a piece for a choice; else the name of the move."""
        if action >= CHOOSE:
            return "@" + KINDS[action - CHOOSE]
        return "@" + square_name(action - PLACE) if action >= PLACE else super().move_name(action)

    def to_text(self, state: np.ndarray) -> str:
        """Return the position as FEN; while it is set up, its board and the piece to place (- before the choice)."""
        kind = int(state[-1]) >> KIND
        if kind or not state[6]:
            board = super().to_text(np.append(state[:-1], 0)).split()[0]
            return f"{board} {KINDS[kind - 1] if kind else '-'}"
        return super().to_text(state)

    def from_text(self, text: str) -> np.ndarray:
        board, _, kind = text.partition(" ")
        if kind != "-" and (len(kind) != 1 or kind not in KINDS):
            return super().from_text(text)
        state = self.unchecked(f"{board} w - - 0 1")
        state[-1] = (KINDS.index(kind) + 1) << KIND if kind != "-" else 0
        self.check_states(state[None])
        return state

    def check_states(self, states: np.ndarray) -> None:
        own, opp, *_, kings, notes = states.T
        waiting = (kings == 0) | (notes >> KIND > 0)
        bare = ((own | opp) == kings) & (states[:, 2:6] == 0).all(1) & ((own & opp) == 0)
        chosen = (popcount(kings) == 0) | (notes >> KIND > 0)
        counted = (popcount(kings & own) <= 1) & (popcount(kings & opp) <= 1)
        known = (notes & (1 << KIND) - 1 == 0) & (notes >> KIND <= len(KINDS)) & (notes >= 0)
        wrong = waiting & ~(bare & chosen & counted & known)
        if wrong.any():
            row = int(wrong.argmax())
            expected = "at most one king a side, and nothing else, while a position is set up"
            raise bad("illegal position", f"number {row}", expected, states[row].tolist())
        super().check_states(states[~waiting])

    @cached_property
    def tables(self) -> np.ndarray:
        """Return in how many plies each entry mates or is mated, and in how many it does or a pawn moves [2, entries].

        `chess_tables.settle` and `settle_progress` fill them in."""
        loops = templates.load("probzero.games.compiled.chess_tables")
        (plies, left), first = np.empty((2, loops.ENTRIES), np.int16), np.empty(loops.ENTRIES + 1, np.int64)
        after = np.empty(12 * 10**6, np.int32)  # 11,609,714 moves
        loops.successors(plies, first, after)
        loops.settle(plies, first, after)
        loops.settle_progress(plies, first, after, left)
        return np.stack([plies, left])

    def known(self, states: np.ndarray) -> np.ndarray | None:
        """Return exact values int8 [n, A] of all moves: ± (127 − plies to mate), 0 for draws."""
        found = np.full((len(states), self.actions), NO_VALUE, dtype=np.int8)
        loops = templates.load("probzero.games.compiled.chess_tables")
        row = loops.values(np.ascontiguousarray(states), *self.tables, LAST, LARGEST, found)
        if row >= 0:
            raise bad(
                "tables", self.to_text(states[row]), "a position of king and queen, rook or pawn against king", "none"
            )
        return found


def _mirrored(squares: np.ndarray) -> np.ndarray:
    """Return [2, A] the old action from which each symmetry fills each new one, by the same [2, 64] of squares."""
    lines = [7 * (-direction % 8) + step for direction in range(8) for step in range(7)]
    leaps = [56 + 7 - leap for leap in range(8)]
    below = [64 + 3 * piece + 2 - way for piece in range(3) for way in range(3)]
    planes = np.array(lines + leaps + below)
    moves = squares[1][:, None] * 73 + planes
    every = np.concatenate([moves.ravel(), PLACE + squares[1], np.arange(CHOOSE, CHOOSE + len(KINDS))])
    return np.stack([np.arange(CHOOSE + len(KINDS)), every])


make = ChessEndgames
