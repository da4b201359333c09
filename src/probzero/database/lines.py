"""Lines of play: how positions of a database are reached from the start."""

from __future__ import annotations

import numpy as np

from probzero.database.build import in_threads, slabs
from probzero.database.lookup import Database


def lines_to(database: Database, keys: np.ndarray, threads: int) -> list[list[int]]:
    """Return, for each key [n] of the database, actions from the start to a position with that key.

    Layer by layer backward, the first position from which a wanted one follows is wanted in its turn; a position that
    is reached by a pass alone is looked for in its own layer. So every line is the same whoever else is wanted.
    """
    form, before = database.form, dict[int, int]()
    wanted, phases = np.unique(keys), form.game.phase(form.states(np.unique(keys)))
    due = {phase: wanted[phases == phase] for phase in range(database.first, database.last + 1)}
    for phase in range(database.last, database.first, -1):
        reached = _parents(database, phase - 1, due[phase], False, threads)
        alone = np.array([key for key in due[phase].tolist() if key not in reached], dtype=np.int64)
        passed = _parents(database, phase, alone, True, threads)
        more = np.setdiff1d(np.array(list(passed.values()), dtype=np.int64), due[phase])
        before |= passed | reached | _parents(database, phase - 1, more, False, threads)
        above = [before[key] for key in (*reached, *more.tolist())]
        due[phase - 1] = np.union1d(due[phase - 1], np.array(above, dtype=np.int64))
    return [_replayed(database, _chain(before, int(key))) for key in keys]


def _parents(database: Database, phase: int, wanted: np.ndarray, within: bool, threads: int) -> dict[int, int]:
    """Return for each wanted key, where there is one, the first key of a layer that has a move to it."""
    if not len(wanted):
        return {}
    form, keys = database.form, database.layer(phase).keys

    def work(slab: slice) -> np.ndarray:
        first = np.full(len(wanted), len(keys), dtype=np.int64)
        form.loops.parents(keys[slab], wanted, within, form.turned, first)
        return np.where(first < len(keys), first + slab.start, len(keys))

    rows = np.min(list(in_threads(threads, work, slabs(keys))), axis=0)
    there = rows < len(keys)
    return dict(zip(wanted[there].tolist(), keys[rows[there]].tolist(), strict=True))


def _chain(before: dict[int, int], key: int) -> list[int]:
    """Return the keys of a line, without that of the start."""
    chain = [key]
    while chain[-1] in before:
        chain.append(before[chain[-1]])
    return chain[-2::-1]


def _replayed(database: Database, chain: list[int]) -> list[int]:
    """Return actions from the start that lead through positions with these keys."""
    form, state, line = database.form, database.form.game.start(), list[int]()
    for key in chain:
        moves = np.flatnonzero(form.game.legal(state[None])[0])
        after = form.game.play(np.repeat(state[None], len(moves), axis=0), moves)
        place = int(np.argmax(form.keys(after) == key))
        line, state = [*line, int(moves[place])], after[place]
    return line
