"""Games by the short names that people type: NAME-5, NAME-7x6; other options follow as in NAME-5-option2.5."""

from __future__ import annotations

import re

from probzero.errors import bad
from probzero.games import make
from probzero.games.base import Game
from probzero.games.registry import GAMES, Option


def named(text: str) -> Game:
    """Return the game of a short name (its board's sizes joined by x, options that are not usual) or `identity`."""
    name, *parts = text.strip().split("-")
    if name not in GAMES:
        raise bad("game", text, f"one of {', '.join(GAMES)}, as in {example()}", "another")
    board, options = GAMES[name].board, dict(GAMES[name].usual)
    if parts and re.fullmatch(r"\d+(x\d+)*", parts[0]):
        sizes = parts.pop(0).split("x")
        if len(sizes) > len(board):
            raise bad("game", text, f"at most {len(board)} numbers: {', '.join(board)}", len(sizes))
        options.update(zip(board, map(int, sizes), strict=False))
    found = [re.fullmatch(r"([a-z_]+)(\d+(\.\d+)?)", part) for part in parts]
    if not all(found):
        raise bad("game", text, f"numbers for {', '.join(GAMES[name].options)}, as in {example(name)}", "others")
    return make(name, **options | {match[1]: _number(match[2]) for match in found if match})


def short_name(game: Game) -> str:
    """Return the name by which `named` knows a game."""
    usual, given = game.entry.usual, game.options
    sizes = "x".join(str(given[option]) for option in game.entry.board)
    others = (f"{option}{given[option]}" for option in usual if given[option] != usual[option])
    return "-".join(filter(None, [game.name, sizes, *others]))


def example(name: str | None = None) -> str:
    """Return a short name, of the first game if none is given."""
    name = name or next(iter(GAMES))
    largest = "x".join(str(GAMES[name].options[option][-1]) for option in GAMES[name].board)
    return "-".join(filter(None, [name, largest]))


def _number(text: str) -> Option:
    return float(text) if "." in text else int(text)
