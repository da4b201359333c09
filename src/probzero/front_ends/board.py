"""A position drawn in a terminal: squares with their names, pieces of both sides, legal moves marked."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from rich.color import ANSI_COLOR_NAMES
from rich.text import Text

from probzero.games.base import Game

ON = "on green"
ROUND, LETTERS = ("●", "○"), ("X", "O")  # first and second side; the second where a terminal knows ASCII alone
EMPTY, LEGAL = "·", "+"
EMPTY_ASCII = "."
FREE, MARK, NAME = f"black {ON}", f"bold bright_yellow {ON}", "dim"


def drawn(
    game: Game,
    state: np.ndarray,
    turn: int,
    *,
    mark: Collection[int] = (),
    last: int | None = None,
    ascii: bool = False,
) -> Text:
    """Return the board of a state [words]; `turn` is 0 if the first side is to move, `mark` are the legal moves shown,
    `last` is the move that led here."""
    view, columns = game.view(state), game.shape.width
    marked = {view.target[action] for action in mark if action in view.target}
    margin = max(map(len, view.rows)) + 2
    width = 1 + max(1, *(len(sign) for row in view.sign for sign in row))
    board = Text(no_wrap=True)
    names = Text(" " * margin + "".join(name.ljust(width) for name in view.columns).rstrip(), NAME)
    board.append_text(names).append("\n")
    for row, owners in enumerate(view.owner.tolist()):
        board.append(view.rows[row].rjust(margin - 1) + " ", NAME)
        for column, owner in enumerate(owners):
            if owner:
                side = turn if owner > 0 else 1 - turn
                sign = view.sign[row][column] or (LETTERS if ascii else ROUND)[side]
                sign = sign.upper() if side == 0 else sign if sign in (*ROUND, *LETTERS) else sign.lower()
                board.append(sign.ljust(width), style_of(game, side))
            elif (row, column) in marked:
                board.append(LEGAL.ljust(width), MARK)
            else:
                board.append((EMPTY_ASCII if ascii else EMPTY).ljust(width), FREE)
        board.append(" " + view.rows[row] if columns > 6 else "", NAME)
        board.append("\n")
    if last is not None:
        board.append(" " * margin + f"last: {game.move_name(last)}", NAME).append("\n")
    board.right_crop(1)
    return board


def counts(game: Game, state: np.ndarray, turn: int, ascii: bool = False) -> Text:
    """Return how many pieces each side has on the board, which decides games that have a margin."""
    owner = game.view(state).owner
    mine, theirs = int((owner > 0).sum()), int((owner < 0).sum())
    told = [side(game, number, ascii).append(f" {mine if number == turn else theirs}") for number in (0, 1)]
    return Text("   ").join(told)


def style_of(game: Game, side: int) -> str:
    """Return how the pieces of a side are coloured: as it is called, if that is a colour."""
    name = game.sides[side].lower()
    name = {"white": "bright_white"}.get(name, name)
    return f"bold {name if name in ANSI_COLOR_NAMES else ('black', 'bright_white')[side]} {ON}"


def side(game: Game, number: int, ascii: bool = False) -> Text:
    """Return what a side is called, after its piece."""
    sign = (LETTERS if ascii else ROUND)[number]
    return Text.assemble((f"{sign} ", style_of(game, number)), " ", (game.sides[number], "bold"))
