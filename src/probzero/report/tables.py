"""Tables of a run: read from the files that each stage left behind, checked, and written as CSV and Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tabulate import tabulate

from probzero import files
from probzero.errors import bad
from probzero.tables import read_table, refuse

PHASE_NAME = "discs"  # what the phase of a position counts
PHASES_PER_BAND = 3
TRAINING = (
    "iteration", "learning_rate", "samples", "window_positions", "steps", "policy_loss", "value_loss", "reward_loss",
    "total_loss", "policy_agreement", "value_accuracy", "reward_accuracy", "gradient_norm", "seconds",
    "samples_per_second",
)  # fmt: skip
SHARD_SUMS = (
    "games", "moves", "leaf_evaluations", "network_evaluations", "network_calls", "cache_hits", "nodes", "samples",
    "terminal_nodes", "first_wins", "draws", "second_wins", "distinct_games", "exhausted_roots", "seconds",
    "network_seconds",
)  # fmt: skip
MATCHES = {
    **dict.fromkeys(("first", "second", "opening_moves", "moves"), str),
    **dict.fromkeys(("opening", "plies", "result"), int),
}


def collect_training(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Return one row per iteration from the metrics that training left, ordered by iteration."""
    table = pd.DataFrame([_metrics(path, TRAINING) for path in paths], columns=list(TRAINING))
    _check_once(table, ["iteration"], "training metrics")
    return table.sort_values("iteration", ignore_index=True)


def collect_selfplay(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Return one row per iteration, summed over its shards, ordered by iteration.

    Shards run side by side, so rates add up: Σ_shard evaluations / seconds. `seconds` is the sum over shards, and
    `distinct_games` counts games once per shard. Where there are fewer processors than shards the summed rates are
    those of a machine with enough of them.
    """
    keys = ("iteration", "shard", "mean_plies", *SHARD_SUMS)
    shards = pd.DataFrame([_metrics(path, keys) for path in paths], columns=list(keys))
    _check_once(shards, ["iteration", "shard"], "self-play metrics")
    idle = shards.loc[(shards["seconds"] == 0) | (shards["leaf_evaluations"] == 0), "iteration"]
    if len(idle):
        raise bad("self-play metrics", f"iteration {idle.iloc[0]}", "seconds and leaf_evaluations above 0", 0)
    shards = shards.assign(
        plies=shards["mean_plies"] * shards["games"],
        leaf_evaluations_per_second=shards["leaf_evaluations"] / shards["seconds"],
        network_evaluations_per_second=shards["network_evaluations"] / shards["seconds"],
    )
    groups = shards.groupby("iteration")
    counts = groups.size()
    if counts.nunique() > 1:
        short = counts.idxmin()
        raise bad("self-play metrics", f"iteration {short}", f"{counts.max()} shards", int(counts.min()))
    table = groups.sum().reset_index()
    table.insert(1, "shards", counts.to_numpy())
    table["mean_plies"] = table["plies"] / table["games"]
    table["network_share"] = table["network_seconds"] / table["seconds"]
    table["cache_hit_share"] = table["cache_hits"] / table["leaf_evaluations"]
    return table.drop(columns=["shard", "plies"])


def read_matches(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Return the games of all files, refusing what is malformed, contradictory or incomplete."""
    frames = [_read_match(Path(path)) for path in paths]
    if not frames:
        raise bad("matches", "files", "one or more", "none")
    games = pd.concat(frames, ignore_index=True)
    _check_once(games, ["first", "second", "opening"], "matches")
    return games


def _read_match(path: Path) -> pd.DataFrame:
    """Read one player's games. Its name is the file's; each opening comes twice, with sides swapped."""
    games = read_table(path, MATCHES)
    if "margin" in games:  # not every game is won by one
        games = read_table(path, {**MATCHES, "margin": int})
    refuse(path, games, "result", ~games["result"].isin([1, 0, -1]), "1, 0 or -1")
    if "margin" in games:
        refuse(path, games, "margin", np.sign(games["margin"]) != games["result"], "the sign of result")
    games = games[list(MATCHES)]
    refuse(path, games, "first", games["first"] == games["second"], "two different players")
    refuse(path, games, "second", (games[["first", "second"]] != path.stem).all(axis=1), f"a game of {path.stem}")
    opponent = games["first"].where(games["first"] != path.stem, games["second"])
    sides = games.groupby([opponent.rename("opponent"), "opening"])["first"].agg(["size", "nunique"])
    single = sides[(sides["size"] != 2) | (sides["nunique"] != 2)]
    if len(single):
        where = f"{path}: against {single.index[0][0]}, opening {single.index[0][1]}"
        raise bad("matches", where, "two games with sides swapped", f"{single['size'].iloc[0]} game(s)")
    openings = sides.groupby("opponent").size()
    if openings.nunique() > 1:
        raise bad("matches", f"{path}: against {openings.idxmin()}", f"{openings.max()} openings", int(openings.min()))
    return games


def _check_once(table: pd.DataFrame, columns: list[str], what: str) -> None:
    twice = table.duplicated(columns)
    if twice.any():
        where = ", ".join(f"{column} {table.loc[twice, column].iloc[0]}" for column in columns)
        raise bad(what, where, "once", "more than once")


def _metrics(path: str | Path, keys: Iterable[str]) -> dict[str, Any]:
    """Return the named metrics of a JSON file, every one a finite number of at least 0."""
    found = files.read_json(path)
    if not isinstance(found, dict):
        raise bad("metrics", path, "an object", type(found).__name__)
    for key in keys:
        value = found.get(key, "nothing")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise bad("metrics", f"{path}: {key}", "a number of at least 0", value)
    return {key: found[key] for key in keys}


def write_table(table: pd.DataFrame, path: Path, readable: str | None = None) -> None:
    """Write a table as CSV, with six significant digits, and beside it as Markdown, rounded for reading."""
    files.write_text(path, table.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    files.write_text(path.with_suffix(".md"), (markdown(table) if readable is None else readable) + "\n")


def markdown(table: pd.DataFrame) -> str:
    """Return a GitHub table: plain column names, as many digits as mean something, numbers to the right."""
    cells = {name.replace("_", " "): [_cell(name, value) for value in table[name]] for name in table.columns}
    align = ["right" if pd.api.types.is_numeric_dtype(table[name]) else "left" for name in table.columns]
    return tabulate(cells, headers="keys", tablefmt="github", disable_numparse=True, colalign=align)


# The end of a column's name says what kind of number it holds; the first that fits counts.
_FORMATS: tuple[tuple[tuple[str, ...], Callable[[float], str]], ...] = (
    (("superiority",), lambda value: "> 0.999" if value > 0.9995 else "< 0.001" if value < 0.0005 else f"{value:.3f}"),
    (
        ("score", "score_low", "score_high", "share", "share_low", "share_high", "accuracy", "agreement"),
        "{:.3f}".format,
    ),
    (("loss", "norm"), "{:.4f}".format),
    (("rating", "difference", "low", "high", "error", "per_second"), "{:.0f}".format),
    (("seconds", "plies"), "{:.1f}".format),
)


def _cell(column: str, value: Any) -> str:
    if value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    for endings, form in _FORMATS:
        if column.endswith(endings):
            return re.sub(r"^-(?=[0.]+$)", "", form(value))  # no "-0"
    return f"{value:.4g}"
