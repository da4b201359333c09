"""The games: pure functions over arrays of states. `make` is the one way to get one."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from probzero.games.registry import entry

if TYPE_CHECKING:
    from probzero.games.base import Game


@lru_cache(maxsize=None, typed=True)  # 5.0 is not 5, nor True 1
def make(name: str, **options: int) -> Game:
    """Return the game of that name, one of `registry.GAMES`, with these options."""
    entry(name, options)
    return import_module(f"probzero.games.{name}").make(**options)
