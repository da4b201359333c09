"""Which games there are, as plain data: what a configuration may ask for and what planning a run must know.

Imports nothing heavy, as the Snakefile reads it. The rules of a game are in the module of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from probzero.errors import bad


@dataclass(frozen=True)
class Entry:
    """What is known of a game without its rules; the functions take the game's options by name."""

    options: Mapping[str, tuple[int, ...]]  # the values that each option may have
    solvable: Callable[..., bool]  # whether positions from the start on are solved within seconds
    longest_game: Callable[..., int]  # an upper bound on plies
    has_margin: bool = False  # whether games are won by a margin
    phase: str = "Phase"  # what `Game.phase` counts, for axes of figures
    phase_column: str = "phase"  # the same, as a column of a table
    # How many positions can be reached up to symmetry, and of one phase at most, where that is known.
    reachable: Callable[..., tuple[int, int] | None] = lambda **options: None
    in_paper: bool = False  # whether the paper tells its rules, and so its runs


GAMES: dict[str, Entry] = {
    "othello": Entry(
        options={"size": (4, 5, 6, 8)},
        solvable=lambda size: size <= 5,
        longest_game=lambda size: 2 * (size * size - 4),  # each placement can be preceded by at most one pass
        has_margin=True,
        phase="Discs on the board",
        phase_column="discs",
        reachable=lambda size: {4: (12_351, 3_565), 5: (361_701_112, 82_655_017)}.get(size),
        in_paper=True,
    ),
    "connect_four": Entry(
        options={"width": tuple(range(1, 8)), "height": tuple(range(1, 7))},
        solvable=lambda width, height: width * height <= 25,
        longest_game=lambda width, height: width * height,
        phase="Discs on the board",
        phase_column="discs",
    ),
}


def entry(name: str, options: Mapping[str, Any], where: str = "game") -> Entry:
    """Return what is known of a game, or refuse a name or options that no game has; `where` is for the error."""
    if name not in GAMES:
        raise bad("configuration", f"{where}.name", f"one of {', '.join(GAMES)}", repr(name))
    known = GAMES[name].options
    for key in options:
        if key not in known:
            raise bad("configuration", f"{where}.{key}", f"no option of {name} but {', '.join(known)}", "it")
    for key, allowed in known.items():
        if key not in options:
            raise bad("configuration", f"{where}.{key}", f"an option that {name} needs", "nothing")
        if type(options[key]) is not int or options[key] not in allowed:
            raise bad("configuration", f"{where}.{key}", f"one of {', '.join(map(str, allowed))}", repr(options[key]))
    return GAMES[name]
