"""Which games there are, as plain data: what a configuration may ask for and what planning a run must know.

Imports nothing heavy, as the Snakefile reads it. The rules of a game are in the module of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from probzero.errors import bad

Option = int | float  # a value of an option; one that is whole is written without a point
LISTED = 12  # so many values of an option are told one by one


@dataclass(frozen=True)
class Entry:
    """What is known of a game without its rules; the functions take the game's options by name."""

    options: Mapping[str, tuple[Option, ...]]  # the values that each option may have
    board: tuple[str, ...]  # the options that say how large the board is
    solvable: Callable[..., bool]  # whether positions from the start on are solved within seconds
    longest_game: Callable[..., int]  # an upper bound on plies
    # The least phase from which positions are solved within seconds, where they are not from the start on.
    solved_from: Callable[..., int | None] = lambda **options: None
    usual: Mapping[str, Option] = field(default_factory=dict)  # of the other options, for short names
    has_margin: bool = False  # whether games are won by a margin
    set_up: int = 0  # plies at the beginning of every game that chance plays: the pieces are set up
    has_tables: bool = False  # whether `Game.known` has exact values of all positions after the set-up
    phase: str = "Phase"  # what `Game.phase` counts, for axes of figures
    phase_column: str = "phase"  # the same, as a column of a table
    # How many positions can be reached up to symmetry, and of one phase at most, where that is known.
    reachable: Callable[..., tuple[int, int] | None] = lambda **options: None
    in_paper: bool = False  # whether the paper tells its rules, and so its runs

    def certifiable(self, **options: Option) -> bool:
        """Return whether every opponent can be played from the start, which chance must not choose."""
        return self.solvable(**options) and self.set_up == 0


GAMES: dict[str, Entry] = {
    "othello": Entry(
        options={"size": (4, 5, 6, 8)},
        board=("size",),
        solvable=lambda size: size <= 5,
        solved_from=lambda size: {6: 22, 8: 51}.get(size),
        longest_game=lambda size: 2 * (size * size - 4),  # each placement can be preceded by at most one pass
        has_margin=True,
        phase="Discs on the board",
        phase_column="discs",
        reachable=lambda size: {4: (12_351, 3_565), 5: (361_701_112, 82_655_017)}.get(size),
        in_paper=True,
    ),
    "connect_four": Entry(
        options={"width": tuple(range(1, 8)), "height": tuple(range(1, 7))},
        board=("width", "height"),
        solvable=lambda width, height: width * height <= 25,
        solved_from=lambda width, height: 14,
        longest_game=lambda width, height: width * height,
        phase="Discs on the board",
        phase_column="discs",
    ),
    "go": Entry(
        options={
            "size": tuple(range(2, 8)),
            "komi": tuple(half // 2 if half % 2 == 0 else half / 2 for half in range(2 * 49 + 1)),
            "longest": tuple(range(2, 1001)),
        },
        board=("size",),
        solvable=lambda size, komi, longest: size <= 3 and longest <= 40,
        longest_game=lambda size, komi, longest: longest,
        usual={"komi": 0, "longest": 60},
        has_margin=True,
        phase="Stones on the board",
        phase_column="stones",
    ),
    "chess": Entry(
        options={},
        board=(),
        solvable=lambda: False,
        longest_game=lambda: 128 * 100,  # a pawn's step or a capture within each hundred plies, 128 of them at most
        phase="Pieces on the board",
        phase_column="pieces",
    ),
    "chess_endgames": Entry(
        options={},
        board=(),
        solvable=lambda: True,
        longest_game=lambda: 4 + 10 * 100,  # the set-up, then six steps of a pawn, what it becomes, and its loss
        set_up=4,
        has_tables=True,
        phase="Queen, rook, pawn (1, 2, 3)",
        phase_column="table",
    ),
}

OF_TEXT_PROTOCOL = "go"  # the game that the Go Text Protocol was made for


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
        if repr(options[key]) not in map(repr, allowed):  # neither True nor 5.0 is 5
            raise bad("configuration", f"{where}.{key}", f"one of {listed(allowed)}", repr(options[key]))
    return GAMES[name]


def listed(allowed: tuple[Option, ...]) -> str:
    """Return the values of an option in words."""
    if len(allowed) <= LISTED:
        return ", ".join(map(str, allowed))
    return f"{allowed[0]}, {allowed[1]}, {allowed[2]}, … {allowed[-1]}"
