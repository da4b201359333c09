"""Fixed sets of positions by a rule: one for choosing settings, one for reporting, and drawn positions apart.

All positions are *decisive*: some move gives the exact result away. Of the early phases all of them are divided one to
four between the two sets; of the later phases each set has equal numbers, drawn uniformly from all that can be reached,
up to symmetry. Positions that are drawn with best play are few, so there is a third set of them, with no position of
the first two. Every row has a line of play from the start to the very position it shows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from probzero.database.lines import lines_to
from probzero.database.lookup import Database
from probzero.games.records import replay
from probzero.random_keys import key, uniform
from probzero.truth.labels import Solver, decisive
from probzero.truth.positions import REACHABLE, labelled, margins_text

PARTS = 5  # one for validation, four for the test
NAMES = ("validation", "test", "drawn")
EMPTY = np.empty(0, dtype=np.int64)
AT_ONCE = 4096  # positions
ALL_ROWS = 1 << 20  # a layer with no more positions is drawn from without repetition


class Rule(NamedTuple):
    """How many positions of which phases."""

    first: int  # phase from which on positions are taken
    whole: int  # up to this phase all decisive ones
    last: int
    validation: int  # rows
    drawn: int  # rows


def position_sets(database: Database, rule: Rule, threads: int) -> dict[str, pd.DataFrame]:
    """Return the three sets by name, with exact results and margins of all moves and a line of play."""
    early = np.concatenate([decisive_keys(database, phase, "sets") for phase in range(rule.first, rule.whole + 1)])
    early = early[drawn_order("split", len(early))]
    cut = round(len(early) / PARTS)
    validation, test = [early[:cut]], [early[cut:]]
    late = range(rule.whole + 1, rule.last + 1)
    for phase, count in zip(late, shared(rule.validation - cut, [rule.validation] * len(late)), strict=True):
        found = decisive_keys(database, phase, "sets", PARTS * count)
        mine = len(found) // PARTS
        validation.append(found[:mine])
        test.append(found[mine:])
    taken = np.concatenate(validation + test)
    even = [decisive_keys(database, phase, "drawn", rule.drawn, but=taken, drawn=True) for phase in late]
    counts = shared(rule.drawn, [len(found) for found in even])
    drawn = [found[:count] for found, count in zip(even, counts, strict=True)]
    sets = {name: np.concatenate(parts) for name, parts in zip(NAMES, (validation, test, drawn), strict=True)}
    every = np.concatenate(list(sets.values()))
    lines = dict(zip(every.tolist(), lines_to(database, every, threads), strict=True))
    return {name: _table(database, [lines[key] for key in np.sort(keys).tolist()]) for name, keys in sets.items()}


def shared(total: int, most: list[int]) -> list[int]:
    """Share a number as evenly as may be, place i getting at most most[i]: whole shares, the last ones the larger."""
    shares, left = [0] * len(most), total
    for done, place in enumerate(sorted(range(len(most)), key=lambda place: (most[place], place))):
        shares[place] = min(most[place], left // (len(most) - done))
        left -= shares[place]
    return shares


def decisive_keys(
    database: Database, phase: int, what: str, count: int = ALL_ROWS, but: np.ndarray = EMPTY, drawn: bool = False
) -> np.ndarray:
    """Return keys of decisive positions of a phase in an order drawn by key, at most `count`, none that is in `but`."""
    keys, values, _ = database.layer(phase)
    if drawn:
        keys = keys[values == 0]
    form, found = database.form, EMPTY
    solver = Solver(form.game, threads=1, table_bits=1, lookup=database)
    rows = drawn_order(what, len(keys), phase)
    for begin in range(0, len(rows), AT_ONCE):
        chosen = keys[rows[begin : begin + AT_ONCE]]
        labels = solver.label(form.states(chosen), margins=False)
        found = np.concatenate([found, chosen[decisive(labels) & ~np.isin(chosen, but)]])[:count]
        if len(found) == count:
            break
    return found


def drawn_order(what: str, count: int, phase: int = 0) -> np.ndarray:
    """Return rows of a table of `count`, in an order that is drawn by key; of a large table some alone."""
    chance = uniform(np.array([key("position sets", what, phase)]), np.arange(min(count, ALL_ROWS)))
    if count <= ALL_ROWS:
        return np.argsort(chance, kind="stable")
    rows = (chance * count).astype(np.int64)
    return rows[np.sort(np.unique(rows, return_index=True)[1])]


def _table(database: Database, lines: list[list[int]]) -> pd.DataFrame:
    """Return the positions that lines lead to with their labels, by phase."""
    game = database.form.game
    states = replay(game, lines).final
    margins = database.require(states)
    table = labelled(game, states, REACHABLE, threads=1, lookup=database)
    table["margins"] = [margins_text(game, row) for row in margins]
    table["line"] = [game.move_names(line) for line in lines]
    return table.sort_values("phase", kind="stable", ignore_index=True)
