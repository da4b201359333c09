"""Small databases for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from probzero import games
from probzero.database.build import build
from probzero.database.form import Form
from probzero.database.lookup import Database
from probzero.games.base import Game

SMALL = games.make("othello", size=4)


def silent(*parts: str) -> None:
    pass


def make(folder: Path, game: Game = SMALL, threads: int = 2) -> list[dict[str, Any]]:
    return build(Form(game), folder, threads, silent)


def opened(folder: Path, game: Game = SMALL) -> Database:
    return Database(Form(game), folder)
