"""What was measured against exact truth, read and checked: no count or share that no measurement can give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from probzero.arena.names import iteration_of
from probzero.errors import bad
from probzero.report.tables import check_once, read_metrics
from probzero.tables import read_table, refuse

KEPT = {"source": str, "phase": int, "particles": int, "positions": int, "kept": int, "outcomes": str}
CALIBRATION = {
    "head": str,
    **dict.fromkeys(("bin", "predictions"), int),
    **dict.fromkeys(("mean_prediction", "frequency", "brier", "log_loss"), float),
}
PERFECT = {"opening": int, "result": int}
BLUNDERS = (
    "iteration", "games", "moves", "blunders", "blunders_per_game", "result_lost_per_game", "games_without_blunder",
)  # fmt: skip
RELATIVE = 1e-9  # a ratio and its parts may differ by rounding


def collect(
    paths: Iterable[Path], columns: Mapping[str, type], kind: str, may_be_empty: bool = False, **wanted: Any
) -> pd.DataFrame:
    """Return the rows of all files, which must have these columns and a player, with the iteration of each player.

    The folder of a file has the player's name; `wanted` is what origins must be."""
    columns = {"player": str, **columns}
    parts = [read_table(path, columns, kind, may_be_empty, subject=path.parent.name, **wanted) for path in paths]
    for path, part in zip(paths, parts, strict=True):
        refuse(path, part, "player", part["player"] != path.parent.name, path.parent.name, kind)
        _CHECKS[kind](path, part)
    table = pd.concat(parts, ignore_index=True)
    numbers = [iteration_of(player) for player in table["player"]]
    return table.assign(iteration=pd.array(numbers, dtype="Int64"))


def check_kept(path: Path, table: pd.DataFrame, kind: str) -> None:
    """Refuse rows of `positions`, `kept` and `outcomes` that contradict each other: a digit a position, 1 if kept."""
    positions, kept, outcomes = (table[name] for name in ("positions", "kept", "outcomes"))
    refuse(path, table, "positions", positions < 0, "at least 0", kind)
    refuse(path, table, "kept", (kept < 0) | (kept > positions), "from 0 to the number of positions", kind)
    wrong = ~outcomes.str.fullmatch("[01]*") | (outcomes.str.len() != positions) | (outcomes.str.count("1") != kept)
    refuse(path, table, "outcomes", wrong, "a digit for each position, 1 for each that was kept", kind)


def _check_kept(path: Path, table: pd.DataFrame) -> None:
    for column in ("phase", "particles"):
        refuse(path, table, column, table[column] < 0, "at least 0", "kept")
    refuse(path, table, "phase", table.duplicated(["source", "phase", "particles"]), "a phase once", "kept")
    refuse(path, table, "positions", table["positions"] == 0, "at least 1", "kept")
    check_kept(path, table, "kept")


def _check_calibration(path: Path, table: pd.DataFrame) -> None:
    from probzero.truth.measures import RELIABILITY_BINS  # here, because it waits for torch

    ranges: dict[str, tuple[float, Any]] = {
        "bin": (0, RELIABILITY_BINS - 1),
        "predictions": (1, table["predictions"]),
        "mean_prediction": (0, 1),
        "frequency": (0, 1),
        "brier": (0, table["predictions"]),  # of each at most 1
        "log_loss": (0, float("inf")),
    }
    for column, (least, most) in ranges.items():
        wrong = (table[column] < least) | (table[column] > most)
        refuse(path, table, column, wrong, f"at least {least} and no more than can be", "calibration")


def _check_perfect(path: Path, table: pd.DataFrame) -> None:
    refuse(path, table, "opening", table["opening"] < -1, "an opening, or -1 for the start", "perfect")
    refuse(path, table, "result", ~table["result"].isin([1, 0, -1]), "1, 0 or -1", "perfect")


_CHECKS = {"kept": _check_kept, "calibration": _check_calibration, "perfect": _check_perfect}


def collect_blunders(paths: Iterable[Path], **wanted: Any) -> pd.DataFrame:
    """Return the blunders of all iterations, ordered by them. The name of a file is the iteration's number."""
    rows = [read_blunders(path, iteration=int(path.stem), **wanted) for path in paths]
    table = pd.DataFrame(rows, columns=list(BLUNDERS))
    check_once(table, ["iteration"], "blunders")
    return table.sort_values("iteration", ignore_index=True)


def read_blunders(path: Path, **wanted: Any) -> dict[str, Any]:
    """Return the counts of an iteration, refusing those that contradict each other."""
    found = read_metrics(path, BLUNDERS, "blunders", **wanted)
    games, moves, blunders = (found[name] for name in ("games", "moves", "blunders"))
    each = blunders / max(games, 1)
    for name, least, most in (
        ("games", 1, games),
        ("blunders", 0, moves),
        ("blunders_per_game", each, each),
        ("result_lost_per_game", each / 2, each),  # a half or a whole result each
        ("games_without_blunder", games - min(games, blunders), games - (blunders > 0)),
    ):
        if not least * (1 - RELATIVE) <= found[name] <= most * (1 + RELATIVE):
            raise bad("blunders", f"{path}: {name}", f"from {least:g} to {most:g}", found[name])
    return found
