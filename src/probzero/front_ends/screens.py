"""What people read in a terminal: boards beside what a player thinks and what is true, on any width from 40 columns."""

from __future__ import annotations

import sys

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from probzero import wdl
from probzero.front_ends.analysis import Thoughts, Truth, Wdl

BAR = 24  # characters of a bar
STYLES = ("green", "yellow", "red")  # of win, draw and loss
WIDE = 70  # columns from which on boards and numbers stand side by side
RESULTS = {1: "win", 0: "draw", -1: "loss"}


class Screen(Console):
    """A console that leaves a closed pipe to the command line, where rich would end the process."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError("nobody reads the output")


def console() -> Console:
    """Return the terminal; where a character cannot be shown, another stands in its place."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    return Screen(highlight=False, soft_wrap=False)


def plain_letters(shown: Console) -> bool:
    """Return whether a terminal shows ASCII alone."""
    return not shown.encoding.lower().startswith("utf")


def beside(shown: Console, left: RenderableType, right: RenderableType) -> RenderableType:
    """Return two things side by side where there is room, else one below the other."""
    if shown.width < WIDE:
        return Group(left, "", right)
    return Columns([left, right], padding=(0, 4))


def chances(triple: Wdl, ascii: bool = False) -> Text:
    """Return win, draw and loss as a bar and in per cent."""
    ends = [round(BAR * sum(triple[: k + 1])) for k in range(len(triple))]
    parts = zip([0, *ends[:-1]], ends, STYLES, "+=-", strict=True)
    bar = Text.assemble(*(((sign if ascii else "█") * (end - begin), style) for begin, end, style, sign in parts))
    said = " ".join(f"{name} {100 * chance:.0f}%" for name, chance in zip(wdl.NAMES, triple, strict=True))
    return Text.assemble(bar, "\n", said)


def candidates(thoughts: Thoughts, truth: Truth | None = None, most: int = 8) -> Table:
    """Return the best moves, with what is true of each if that is known."""
    searched = thoughts.particles > 0
    winners = searched and any(move.winner_prob is not None for move in thoughts.moves)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    policies = any(move.policy is not None for move in thoughts.moves)
    titles = ["move", *["policy"] * policies, *["winner"] * winners, *["share", "value"] * searched]
    for title in [*titles, *["truth"] * (truth is not None)]:
        table.add_column(title, justify="left" if title == "move" else "right", no_wrap=True)
    exact = {} if truth is None else {move.action: move for move in truth.moves}
    for move in thoughts.moves[:most]:
        cells: list[str | Text] = [
            move.move,
            *[_percent(move.policy)] * policies,
            *[_percent(move.winner_prob)] * winners,
        ]
        if searched:
            cells += [_percent(move.share), "–" if move.value is None else f"{move.value:+.2f}"]
        if truth is not None:
            known = exact[move.action]
            said = score(known.result, known.margin)
            cells.append(Text(said if known.keeps else f"✗ {said}", "" if known.keeps else "red"))
        table.add_row(*cells, style="bold" if move.move == thoughts.best else None)
    return table


def thoughts_shown(
    thoughts: Thoughts, who: str, truth: Truth | None = None, *, ascii: bool = False, most: int = 8
) -> Group:
    """Return what a player thinks of the side to move (`who`), of its moves, and what is exactly true."""
    how = f"{thoughts.particles} particles" if thoughts.particles else "the policy alone"
    parts: list[RenderableType] = [Text(f"{who}, as {thoughts.player.partition(':')[0]} sees it with {how}:", "dim")]
    if thoughts.wdl is not None:
        parts.append(chances(thoughts.wdl, ascii))
    else:
        parts.append(Text(f"value {thoughts.value:+.2f}"))
    parts += ["", candidates(thoughts, truth, most)]
    if len(thoughts.moves) > most:
        parts.append(Text(f"and {len(thoughts.moves) - most} more", "dim"))
    if truth is not None:
        parts.append(exactly(truth))
    return Group(*parts)


def truth_shown(truth: Truth) -> Group:
    """Return the exact value of a position and of all its moves."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for move in truth.moves:
        table.add_row(move.move, score(move.result, move.margin), Text("" if move.keeps else "gives it away", "red"))
    return Group(exactly(truth), table)


def exactly(truth: Truth) -> Text:
    return Text(f"exactly: a {RESULTS[truth.result]}" + (f" ({truth.margin:+d})" if truth.margin is not None else ""))


def score(result: int, margin: int | None) -> str:
    """Return a result in a word, or the margin with its sign."""
    return RESULTS[result] if margin is None else f"{margin:+d}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f}%"
