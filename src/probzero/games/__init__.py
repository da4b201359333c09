"""The games: pure functions over arrays of states. `make` is the one way to get one."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from probzero.games.registry import Option, entry

if TYPE_CHECKING:
    from probzero.games.base import Game


def make(name: str, **options: Option) -> Game:
    """Return the game of that name, one of `registry.GAMES`, with these options; always the same object."""
    entry(name, options)
    return _made(name, tuple(sorted(options.items())))


@cache
def _made(name: str, options: tuple[tuple[str, Option], ...]) -> Game:
    return import_module(f"probzero.games.{name}").make(**dict(options))
