"""Values of positions, read from the files of a database that are mapped into memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from probzero.database.form import Form
from probzero.database.layers import LAYER, Layer, folder_of, is_there, read_layer
from probzero.errors import bad
from probzero.games.base import Game
from probzero.truth.labels import ILLEGAL

WHOLE = 62  # the shift by which every key has the same leading bits, none


class Database:
    """A finished database; for the solver it is a `Lookup`. Layers are opened, and verified, as they are needed."""

    def __init__(self, form: Form, folder: Path) -> None:
        self.form, self.folder = form, folder
        self.first = int(form.game.phase(form.game.start()[None])[0])
        if not is_there(folder, LAYER, self.first):
            raise bad("database", folder, f"a finished one of {form.game.identity}", "none; probzero database makes it")
        self.last = max(int(path.stem.partition("-")[2]) for path in folder.glob(f"{LAYER}-[0-9][0-9].json"))
        self._layers: dict[int, Layer] = {}

    def layer(self, phase: int) -> Layer:
        """Return a layer, an empty one beyond the last."""
        if phase not in self._layers:
            there = self.first <= phase <= self.last
            empty = Layer(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int8), {})
            self._layers[phase] = read_layer(self.folder, self.form.game, LAYER, phase) if there else empty
        return self._layers[phase]

    def values(self, states: np.ndarray) -> np.ndarray | None:
        """Return the exact values int8 [n, A] of all moves, ILLEGAL elsewhere; None if a state cannot be reached."""
        found = self._look_up(states)
        return None if isinstance(found, int) else found

    def require(self, states: np.ndarray) -> np.ndarray:
        """Return the same; refuse a state that cannot be reached."""
        found = self._look_up(states)
        if isinstance(found, int):
            text = self.form.game.to_text(states[found])
            raise bad(
                "position", text, f"one that can be reached from the start of {self.form.game.identity}", "another"
            )
        return found

    def _look_up(self, states: np.ndarray) -> np.ndarray | int:
        """Return the values of all moves, or the number of a state that is not in the database."""
        values = np.full((len(states), self.form.game.actions), ILLEGAL, dtype=np.int8)
        phases = self.form.game.phase(states)
        for phase in np.unique(phases):
            rows = np.flatnonzero(phases == phase)
            (keys, margins, _), (later, later_margins, _) = self.layer(int(phase)), self.layer(int(phase) + 1)
            part = np.full((len(rows), self.form.game.actions), ILLEGAL, dtype=np.int8)
            missing = self.form.loops.look_up(
                np.ascontiguousarray(states[rows]), keys, margins, later, later_margins,
                np.array([0, len(keys)]), np.array([0, len(later)]), WHOLE, self.form.turned, part,
            )  # fmt: skip
            if missing != self.form.loops.UNKNOWN:
                return int(rows[missing])
            values[rows] = part
        return values


def find(game: Game, folder: Path | None = None) -> Database | None:
    """Return the database in a folder, or the finished one in the usual place if there is one."""
    if folder is not None:
        return Database(Form(game), folder)
    finished = is_there(folder_of(game), LAYER, int(game.phase(game.start()[None])[0]))
    return Database(Form(game), folder_of(game)) if finished else None
