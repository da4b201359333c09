"""The recorded games beside a network: those of its run's tournament, and lines of best responses from certificates."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from probzero.arena.names import MATCHES, iteration_of
from probzero.errors import bad
from probzero.games.base import Game
from probzero.games.records import check_results
from probzero.tables import read_table
from probzero.truth.certificate import KIND as CERTIFICATES
from probzero.truth.certificate import NO_DRAWS

TOURNAMENT, LINES = "matches", "certificates"
_WHO = {"first": str, "second": str, "opening": int, "opening_moves": str, "moves": str, "plies": int, "result": int}
_LINE = {
    "source": str, "particles": int, "key": int, "position": str, "moves_first": int, "result": int, "certified": int,
    "line": str,
}  # fmt: skip


class Records:
    """What lies in the folder of a seed; a game is called RECORD/NUMBER, where RECORD is KIND/PLAYER."""

    def __init__(self, game: Game, folder: Path | None) -> None:
        self.game, self.folder = game, folder
        self.margin = {"margin": int} if game.has_margin else {}
        self.games = cache(self._games)

    def index(self) -> list[dict[str, str]]:
        """Return the records there are, newest network first, with what people may call them."""
        titles = {TOURNAMENT: "tournament, {}", LINES: "best responses to {}"}
        found = []
        for kind, title in titles.items():
            paths = sorted(self.folder.glob(f"{kind}/*.csv")) if self.folder is not None else []
            for path in sorted(paths, key=lambda path: -(iteration_of(path.stem) or 0)):
                found.append({"id": f"{kind}/{path.stem}", "title": title.format(path.stem)})
        return found

    def _games(self, record: str) -> list[dict[str, Any]]:
        """Return the games of a record, those in which the network was beaten first among the lines.

        Result and margin speak for who moves first; `from` is None where a game begins at the start."""
        if record not in (known["id"] for known in self.index()):
            raise bad("games", repr(record), "one of the records there are", "none")
        assert self.folder is not None
        path = self.folder / f"{record}.csv"
        told = self._tournament(path) if record.startswith(TOURNAMENT) else self._lines(path)
        return [{"id": f"{record}/{number}", **one} for number, one in enumerate(told)]

    def _tournament(self, path: Path) -> list[dict[str, Any]]:
        table = read_table(path, {**_WHO, **self.margin}, MATCHES, subject=path.stem)
        check_results(self.game, table, path)
        told = []
        for _, row in table.iterrows():
            opening = row["opening_moves"].split()
            told.append(
                {
                    "first": row["first"],
                    "second": row["second"],
                    "from": None,
                    "moves": " ".join([*opening, *row["moves"].split()]),
                    "opening": len(opening),
                    "result": int(row["result"]),
                    "margin": int(row["margin"]) if self.game.has_margin else None,
                    "note": f"opening {row['opening'] + 1}",
                }
            )
        return told

    def _lines(self, path: Path) -> list[dict[str, Any]]:
        table = read_table(path, {**_LINE, **self.margin}, CERTIFICATES, subject=path.stem)
        table = table.sort_values("certified", kind="stable")
        start = self.game.to_text(self.game.start())
        return [self._line(path.stem, row, start) for _, row in table.iterrows()]

    def _line(self, player: str, row: pd.Series, start: str) -> dict[str, Any]:
        budget = "policy alone" if row["particles"] == 0 else f"{row['particles']} particles"
        keyed = "" if row["key"] == NO_DRAWS else f", key {row['key']}"
        agent, mine = f"{player}, {budget}{keyed}", bool(row["moves_first"])
        view = 1 if mine else -1
        return {
            "first": agent if mine else "best response",
            "second": "best response" if mine else agent,
            "from": None if row["position"] == start else row["position"],
            "moves": row["line"],
            "opening": 0,
            "result": view * int(row["result"]),
            "margin": view * int(row["margin"]) if self.game.has_margin else None,
            "note": "certified" if row["certified"] else "beaten",
        }
