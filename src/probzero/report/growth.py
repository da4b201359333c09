"""The figure of what a leaf costs as games and boards grow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from probzero.origin import Origin
from probzero.report import style

KILOBYTE = 1000


def plot_growth(table: pd.DataFrame, path: Path, made: Origin) -> None:
    """Time (above) and memory (below) of a leaf by games (left) and by board (right); bars from lowest to highest."""
    games, boards = (table[table["growing"] == growing] for growing in ("games", "board"))
    with style.figure(style.DOUBLE, 4.2, rows=2, columns=2) as (drawn, axes):
        for column, (part, labels, title) in enumerate(
            (
                (games, [f"{count:,}" for count in games["games"]], f"Games at once, {_one(games, 'board')}"),
                (boards, [_times(board) for board in boards["board"]], f"Board, {_one(boards, 'games')} games"),
            )
        ):  # fmt: skip
            time, memory = axes[column], axes[2 + column]
            _draw(time, part, "microseconds", 1, style.BLUE, "o", "all")
            _draw(time, part, "network_microseconds", 1, style.ORANGE, "s", "in the network")
            _draw(time, part, "other_microseconds", 1, style.GREEN, "^", "beside the network")
            _draw(memory, part, "bytes", KILOBYTE, style.VERMILION, "D", "memory")
            for drawing in (time, memory):
                drawing.set_xticks(range(len(part)), labels)
                drawing.set_ylim(bottom=0)
                drawing.margins(x=0.12)
            memory.set_xlabel(title)
        axes[0].set_ylabel("Time of a leaf (µs)")
        axes[2].set_ylabel("Memory of a leaf (kB)")
        drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        style.save(drawn, path, made)


def _one(table: pd.DataFrame, column: str) -> str:
    (value,) = table[column].unique()
    return _times(str(value))


def _times(board: str) -> str:
    return board.replace("x", " × ")


def _draw(axes: Axes, table: pd.DataFrame, name: str, unit: float, colour: str, marker: str, label: str) -> None:
    median, low, high = (table[f"{name}_per_leaf{end}"].to_numpy(float) / unit for end in ("", "_low", "_high"))
    axes.errorbar(
        np.arange(len(table)), median, [median - low, high - median],
        color=colour, marker=marker, elinewidth=0.9, capsize=2, label=label,
    )  # fmt: skip
