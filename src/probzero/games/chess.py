"""Chess. The board is always seen by the player to move: Black's is turned upside down, so that pawns go up.

A state is eight words: squares of own and of opposing pieces; pawns, knights, pieces that move diagonally (bishops and
queens), those that move straight (rooks and queens) and kings of both sides; and notes, which are castling rights (own
short, own long, opposing short and long, bits 0 to 3), the file on which a pawn may be taken in passing (bits 4 to 7,
counted from 1; 0: none, or no pawn beside it), and the plies without a pawn's move or a piece taken (from bit 8 on).

Action 73·square + plane is a move from a square: planes 0 to 55 are lines (7·direction + distance − 1, directions
clockwise from straight ahead), 56 to 63 knights' leaps, 64 to 72 promotions to knight, bishop and rook (3·piece, and
left, ahead, right). A pawn that reaches the last row by another plane becomes a queen.

A game ends by mate or stalemate, after a hundred plies without progress, or when nobody has the pieces to mate.
**Repetition is no part of the rules:** a state does not remember what went before it, and if it did, positions that are
equal on the board would no longer be one in a search. What repeats runs into the fifty moves.

The rules are written in compiled form alone, and this class hands arrays to them; tests hold both against python-chess.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from probzero import templates
from probzero.bits import pack, popcount, unpack
from probzero.errors import bad
from probzero.games.base import Array, Game, Shape, Symmetries
from probzero.games.boards import frozen
from probzero.games.view import View, letters, numbers

FILES, PIECES = "abcdefgh", "PNBRQK"
PLANES, CASTLING, PASSANT, CLOCK = 18, 12, 16, 17  # of the network's input: six pieces a side, rights, passing, clock
FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
LAST = 100
LIGHT = np.int64(0x55AA55AA55AA55AA)  # squares of that colour


class Chess(Game):
    """The rules of chess."""

    name = "chess"
    version = 1
    tensor_form = False
    sides = ("White", "Black")
    words = 8
    word_names = ("own", "opp", "pawns", "knights", "diagonal", "straight", "kings", "notes")

    def __init__(self, **options: int) -> None:
        super().__init__(**options)
        self.shape = Shape(PLANES, 8, 8, 64 * 73)
        self.most_moves = 218
        self.ranks = 129 * (LAST + 1)
        self.symmetries = Symmetries(frozen(np.arange(64)[None]), frozen(np.arange(64 * 73)[None]))

    @property
    def rows(self) -> ModuleType:
        return self.loops("probzero.games.compiled.rows")

    def start(self) -> np.ndarray:
        return self.from_text(FEN)

    def legal(self, states: Array) -> Array:
        found = np.zeros((len(states), self.actions), dtype=bool)
        self.rows.mark_legal(np.ascontiguousarray(states), found)
        return found

    def play(self, states: Array, actions: Array) -> Array:
        after = np.empty_like(states)
        self.rows.play(np.ascontiguousarray(states), np.ascontiguousarray(actions, dtype=np.int64), after)
        return after

    def outcome(self, states: Array) -> Array:
        found = np.empty(len(states), dtype=np.int64)
        self.rows.outcome(np.ascontiguousarray(states), found)
        return found

    def rank(self, states: Array, legal: Array) -> Array:
        """Return progress that cannot be undone, pawns' steps and pieces taken, then the plies without it [n]."""
        found = np.empty(len(states), dtype=np.int64)
        self.rows.rank(np.ascontiguousarray(states), found)
        return found

    def phase(self, states: Array) -> Array:
        """Return the number of pieces [n], kings and pawns among them."""
        return popcount(states[..., 0] | states[..., 1])

    def encode(self, states: Array) -> Array:
        """Return float32 planes [n, 18, 8, 8]: own P N B R Q K, opposing ones, rights, square of passing, clock."""
        own, opp, *_, notes = states.T
        kinds = _kinds(states)
        boards = unpack(np.stack([board & side for side in (own, opp) for board in kinds], axis=1), 64)
        planes = np.zeros((len(states), PLANES, 64), dtype=np.float32)
        planes[:, :CASTLING] = boards
        planes[:, CASTLING:PASSANT] = unpack(notes, 4)[:, :, None]
        passing = (notes >> 4) & 15
        planes[passing > 0, PASSANT, 40 + passing[passing > 0] - 1] = 1
        planes[:, CLOCK] = (notes >> 8)[:, None] / LAST
        return planes.reshape(-1, PLANES, 8, 8)

    def decode(self, planes: np.ndarray) -> np.ndarray:
        planes = planes.reshape(len(planes), PLANES, 64)
        boards = pack(planes[:, :CASTLING] > 0)  # [n, 12]
        own, opp = (np.bitwise_or.reduce(boards[:, side], axis=1) for side in (slice(0, 6), slice(6, 12)))
        pawns, knights, bishops, rooks, queens, kings = (boards[:, :6] | boards[:, 6:]).T
        rights = pack(planes[:, CASTLING:PASSANT, 0] > 0)
        passing = np.where(planes[:, PASSANT].any(1), planes[:, PASSANT].argmax(1) - 40 + 1, 0)
        clock = np.rint(planes[:, CLOCK, 0] * LAST).astype(np.int64)
        notes = rights | (passing << 4) | (clock << 8)
        return np.stack([own, opp, pawns, knights, bishops | queens, rooks | queens, kings, notes], axis=1)

    def turn(self, states: Array, k: Array) -> Array:
        return states.copy()

    def move_name(self, action: int) -> str:
        """Return the squares from and to as the mover sees them, as in e2e4, and what a pawn becomes if no queen."""
        square, plane = divmod(action, 73)
        target = _TARGETS[square, plane]
        if target < 0:
            return f"{square_name(square)}?{plane}"  # leads off the board
        return square_name(square) + square_name(target) + ("nbr"[(plane - 64) // 3] if plane >= 64 else "")

    def to_text(self, state: np.ndarray) -> str:
        """Return the position as FEN; the player to move is White there."""
        letters = np.full(64, ".")
        for side, name in zip(state[:2], (str.upper, str.lower), strict=True):
            for board, letter in zip(_kinds(state[None]), PIECES, strict=True):
                letters[unpack(board[0] & side, 64) == 1] = name(letter)
        rows = ["".join(letters[first : first + 8]) for first in range(56, -1, -8)]
        for empty in range(8, 0, -1):
            rows = [row.replace("." * empty, str(empty)) for row in rows]
        notes = int(state[7])
        rights = "".join(letter for bit, letter in enumerate("KQkq") if notes >> bit & 1) or "-"
        passing = (notes >> 4) & 15
        return f"{'/'.join(rows)} w {rights} {FILES[passing - 1] + '6' if passing else '-'} {notes >> 8} 1"

    def from_text(self, text: str) -> np.ndarray:
        state = self.unchecked(text)
        self.check_states(state[None])
        return state

    def unchecked(self, text: str) -> np.ndarray:
        """Return the state of a FEN, seen by the player to move, whatever stands on its board."""
        fields = text.split(" ")
        if len(fields) != 6 or not fields[4].isdecimal() or not fields[5].isdecimal() or len(fields[4]) > 3:
            raise bad("position", repr(text), "a FEN of six fields, the last two whole numbers", text or "nothing")
        board, mover, rights, passing = fields[:4]
        squares = _squares(board, text)
        known = all(letter in "KQkq" for letter in rights) and len(set(rights)) == len(rights) > 0
        if mover not in ("w", "b") or not (rights == "-" or known):
            raise bad("position", repr(text), "w or b, then castling rights of KQkq or -", f"{mover} {rights}")
        row = "6" if mover == "w" else "3"
        if passing != "-" and not (len(passing) == 2 and passing[0] in FILES and passing[1] == row):
            raise bad("position", repr(text), f"a square of row {row}, passed by a pawn, or -", passing)
        if mover == "b":  # the board upside down, colours and rights exchanged
            squares, rights = np.char.swapcase(squares.reshape(8, 8)[::-1].ravel()), rights.swapcase()
        sides = [np.isin(squares, list(letters)) for letters in (PIECES, PIECES.lower())]
        pawns, knights, bishops, rooks, queens, kings = (
            np.isin(squares, [letter, letter.lower()]) for letter in PIECES
        )
        words = pack(np.stack([*sides, pawns, knights, bishops | queens, rooks | queens, kings]))
        notes = sum(1 << bit for bit, letter in enumerate("KQkq") if letter in rights) | int(fields[4]) << 8
        if passing != "-" and _may_pass(squares, FILES.index(passing[0]), text):
            notes |= FILES.index(passing[0]) + 1 << 4
        return np.append(words, np.int64(notes))

    def view(self, state: np.ndarray) -> View:
        """Return the board as the player to move sees it, the highest row first, with a letter for every piece."""
        owner = unpack(state[0], 64).astype(np.int8) - unpack(state[1], 64).astype(np.int8)
        sign = np.full(64, "")
        for board, letter in zip(_kinds(state[None]), PIECES, strict=True):
            sign[unpack(board[0], 64) == 1] = letter
        legal = np.flatnonzero(self.legal(state[None])[0]).tolist()
        landing = {action: divmod(int(_TARGETS[divmod(action, 73)]), 8) for action in legal}
        target = {action: (7 - row, column) for action, (row, column) in landing.items()}
        rows = tuple(map(tuple, sign.reshape(8, 8)[::-1].tolist()))
        return View(owner.reshape(8, 8)[::-1], rows, numbers(8)[::-1], letters(8), target)

    def check_states(self, states: np.ndarray) -> None:
        own, opp, pawns, knights, diagonal, straight, kings, notes = states.T
        clock, passing = notes >> 8, (notes >> 4) & 15
        apart = (pawns & knights) | ((pawns | knights | kings) & (diagonal | straight)) | ((pawns | knights) & kings)
        first, last = np.int64(0xFF), np.int64(-1) << np.int64(56)
        rights = [
            (notes >> bit & 1 == 0) | ((king & kings & side != 0) & (rook & straight & ~diagonal & side != 0))
            for bit, king, rook, side in (
                (0, 1 << 4, 1 << 7, own), (1, 1 << 4, 1, own), (2, 1 << 60, np.int64(-1) << np.int64(63), opp),
                (3, 1 << 60, 1 << 56, opp),
            )
        ]  # fmt: skip
        for wrong, expected in (
            ((own & opp) != 0, "at most one piece per square"),
            ((own | opp) != (pawns | knights | diagonal | straight | kings), "a kind of every piece, and no more"),
            (apart != 0, "one kind of every piece"),
            ((popcount(kings & own) != 1) | (popcount(kings & opp) != 1), "one king on each side"),
            (pawns & (first | last) != 0, "no pawn on the first or the last row"),
            (_more_than_a_side_has(states), "pieces that a side may have: sixteen, promoted pawns among them"),
            (~np.logical_and.reduce(rights), "king and rook at home where there is a right to castle"),
            ((notes < 0) | (clock > LAST) | (passing > 8), f"at most {LAST} plies without progress"),
        ):
            if wrong.any():
                row = int(wrong.argmax())
                found = " ".join(f"{int(word) % (1 << 64):#x}" for word in states[row])
                raise bad("illegal position", f"number {row}", expected, found)
        waits_in_check = templates.load("probzero.games.compiled.chess").waits_in_check
        for row, state in enumerate(states):
            if waits_in_check(state):
                raise bad("illegal position", f"number {row}", "a king that cannot be taken", self.to_text(state))


def _kinds(states: np.ndarray) -> list[np.ndarray]:
    """Return the squares [n] of pawns, knights, bishops, rooks, queens and kings of both sides."""
    _, _, pawns, knights, diagonal, straight, kings, _ = states.T
    return [pawns, knights, diagonal & ~straight, straight & ~diagonal, diagonal & straight, kings]


def _more_than_a_side_has(states: np.ndarray) -> np.ndarray:
    """Return whether a side [n] has pieces that eight pawns cannot have become.

    No other position has more legal moves than `most_moves`, or a rank outside of `ranks`."""
    pawns, knights, bishops, rooks, queens, _ = _kinds(states)
    wrong = np.zeros(len(states), dtype=bool)
    for side in states.T[:2]:
        whole = ((knights, 2), (bishops & LIGHT, 1), (bishops & ~LIGHT, 1), (rooks, 2), (queens, 1))
        promoted = sum((popcount(board & side) - count).clip(min=0) for board, count in whole)
        wrong |= popcount(pawns & side) + promoted > 8
    return wrong


def square_name(number: int) -> str:
    return FILES[number % 8] + str(number // 8 + 1)


def _squares(board: str, text: str) -> np.ndarray:
    """Return the letters [64] of a FEN's board, row 1 first, "." where there is none."""
    rows = board.split("/")
    whole = ["".join("." * int(letter) if letter in "12345678" else letter for letter in row) for row in rows]
    if len(rows) != 8 or any(len(row) != 8 or set(row) - set(PIECES + PIECES.lower() + ".") for row in whole):
        raise bad("position", repr(text), "eight rows of eight squares, of PNBRQK, pnbrqk and numbers", board)
    return np.array(list("".join(reversed(whole))))


def _may_pass(squares: np.ndarray, file: int, text: str) -> bool:
    """Return whether a pawn stands beside the one that just made a double step on a file; refuse if there is none."""
    board = squares.reshape(8, 8)
    if board[4, file] != "p" or board[5, file] != "." or board[6, file] != ".":
        raise bad("position", repr(text), "a pawn that made a double step, before the square that it passed", "none")
    return "P" in board[4, max(0, file - 1) : file + 2]


def _targets() -> np.ndarray:
    """Return [64, 73] the square each plane leads to, −1 off the board."""
    lines = [(r * k, f * k) for r, f in _LINES for k in range(1, 8)]
    ways = np.array(lines + _LEAPS + [(1, f) for _ in range(3) for f in (-1, 0, 1)])
    row, file = np.arange(64)[:, None] // 8 + ways[:, 0], np.arange(64)[:, None] % 8 + ways[:, 1]
    on = (row >= 0) & (row < 8) & (file >= 0) & (file < 8)
    below = (np.arange(73) < 64) | (np.arange(64)[:, None] // 8 == 6)  # only from the last row but one
    return np.where(on & below, 8 * row + file, -1)


_LINES = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]
_LEAPS = [(2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1)]
_TARGETS = _targets()

make = Chess
