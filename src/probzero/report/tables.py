"""Tables of a run: read from the files that each stage left behind, checked, and written as CSV and Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from tabulate import tabulate

from probzero import files, origin
from probzero.arena import names
from probzero.errors import bad
from probzero.origin import Origin
from probzero.tables import TABLE, read_table, refuse, write_csv

if TYPE_CHECKING:
    from probzero.games.base import Game

PHASES_PER_BAND = 3
TRAINING = (
    "iteration", "learning_rate", "samples", "window_positions", "steps", "policy_loss", "value_loss", "reward_loss",
    "total_loss", "policy_agreement", "value_accuracy", "reward_accuracy", "gradient_norm",
)  # fmt: skip
SHARD_SUMS = (
    "games", "moves", "leaf_evaluations", "nodes", "samples", "terminal_nodes", "first_wins", "draws", "second_wins",
    "distinct_games", "exhausted_roots",
)  # fmt: skip
MATCHES = {
    **dict.fromkeys(("first", "second", "opening_moves", "moves"), str),
    **dict.fromkeys(("opening", "plies", "result"), int),
}


def collect_training(paths: Iterable[str | Path], **wanted: Any) -> pd.DataFrame:
    """Return one row per iteration from the metrics that training left, ordered by iteration.

    Here and below, `wanted` is what the origin of every file must be."""
    return by_iteration(paths, TRAINING, "training metrics", **wanted)


def collect_selfplay(paths: Iterable[str | Path], **wanted: Any) -> pd.DataFrame:
    """Return one row per iteration, summed over its shards, ordered by iteration; games are distinct in their shard."""
    keys = ("mean_plies", *SHARD_SUMS)
    shards = by_shard(paths, keys, "self-play metrics", above_zero="leaf_evaluations", **wanted)
    table = summed(shards.assign(mean_plies=shards["mean_plies"] * shards["games"]))
    table["mean_plies"] /= table["games"]
    return table


def by_iteration(
    paths: Iterable[str | Path], keys: Sequence[str], what: str, kind: str = files.METRICS, **wanted: Any
) -> pd.DataFrame:
    """Return these numbers of every file, one row per iteration, ordered by it; errors call the files `what`."""
    table = pd.DataFrame([read_metrics(path, keys, kind, **wanted) for path in paths], columns=list(keys))
    check_once(table, ["iteration"], what)
    return table.sort_values("iteration", ignore_index=True)


def by_shard(
    paths: Iterable[str | Path],
    keys: Sequence[str],
    what: str,
    above_zero: str,
    kind: str = files.METRICS,
    **wanted: Any,
) -> pd.DataFrame:
    """Return these numbers of every file, one row per iteration and shard; all iterations have as many shards."""
    keys = ["iteration", "shard", *keys]
    shards = pd.DataFrame([read_metrics(path, keys, kind, **wanted) for path in paths], columns=keys)
    check_once(shards, ["iteration", "shard"], what)
    idle = shards.loc[shards[above_zero] == 0, "iteration"]
    if len(idle):
        raise bad(what, f"iteration {idle.iloc[0]}", f"{above_zero} above 0", 0)
    counts = shards.groupby("iteration").size()
    if counts.nunique() > 1:
        short = counts.idxmin()
        raise bad(what, f"iteration {short}", f"{counts.max()} shards", int(counts.min()))
    return shards


def summed(shards: pd.DataFrame) -> pd.DataFrame:
    """Return the sums over the shards of each iteration, with their number in the column `shards`."""
    groups = shards.groupby("iteration")
    table = groups.sum().drop(columns="shard").reset_index()
    table.insert(1, "shards", groups.size().to_numpy())
    return table


def read_matches(paths: Iterable[str | Path], game: Game, **wanted: Any) -> pd.DataFrame:
    """Return the games of all files, refusing what is malformed, contradictory, incomplete or against the rules."""
    frames = [_read_match(Path(path), game, wanted) for path in paths]
    if not frames:
        raise bad("matches", "files", "one or more", "none")
    games = pd.concat(frames, ignore_index=True)
    check_once(games, ["first", "second", "opening"], "matches")
    return games


def _read_match(path: Path, game: Game, wanted: dict[str, Any]) -> pd.DataFrame:
    """Read one player's games. Its name is the file's; each opening comes twice, with sides swapped."""
    from probzero.games.records import check_results  # here, because it waits for torch

    columns = {**MATCHES, **({"margin": int} if game.has_margin else {})}
    games = read_table(path, columns, names.MATCHES, subject=path.stem, **wanted)
    check_results(game, games, path)
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


def check_once(table: pd.DataFrame, columns: list[str], what: str) -> None:
    twice = table.duplicated(columns)
    if twice.any():
        where = ", ".join(f"{column} {table.loc[twice, column].iloc[0]}" for column in columns)
        raise bad(what, where, "once", "more than once")


def read_metrics(path: str | Path, keys: Iterable[str], kind: str = files.METRICS, **wanted: Any) -> dict[str, Any]:
    """Return the named metrics of a JSON file, every one a finite number of at least 0.

    Iteration and shard must be those of the file's origin."""
    data, made = files.read_sealed(path, kind)
    origin.expect(made, kind, path, **wanted)
    found = files.parse_json(data, kind, path)
    if not isinstance(found, dict):
        raise bad(kind, path, "an object", type(found).__name__)
    for key in keys:
        value = found.get(key, "nothing")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise bad(kind, f"{path}: {key}", "a number of at least 0", value)
    for name in {"iteration", "shard"} & set(keys):
        if getattr(made, name) != found[name]:
            raise bad(kind, f"{path}: {name}", getattr(made, name), found[name])
    return {key: found[key] for key in keys}


def write_table(table: pd.DataFrame, path: Path, made: Origin) -> None:
    """Write a table as CSV, with six significant digits, and beside it as Markdown, rounded for reading.

    Its origin says which table it is: the one that the file is named after."""
    write_csv(path, table, TABLE, made.about(path.stem), "%.6g")
    files.write_text(path.with_suffix(".md"), markdown(table) + "\n")


def read_written(path: Path, columns: Mapping[str, type], may_be_empty: bool = False, **wanted: Any) -> pd.DataFrame:
    """Read what `write_table` wrote: the table must be the one that its file is named after."""
    return read_table(path, columns, TABLE, may_be_empty, subject=path.stem, **wanted)


def markdown(table: pd.DataFrame) -> str:
    """Return a GitHub table: plain column names, as many digits as mean something, numbers to the right."""
    cells = {name.replace("_", " "): [_cell(name, value) for value in table[name]] for name in table.columns}
    align = ["right" if pd.api.types.is_numeric_dtype(table[name]) else "left" for name in table.columns]
    return tabulate(cells, headers="keys", tablefmt="github", disable_numparse=True, colalign=align)


# The end of a column's name, without _low and _high, says what kind of number it holds; the first that fits counts.
_FORMATS: tuple[tuple[tuple[str, ...], Callable[[float], str]], ...] = (
    (("superiority",), lambda value: "> 0.999" if value > 0.9995 else "< 0.001" if value < 0.0005 else f"{value:.3f}"),
    (
        ("score", "share", "lead", "raw_effect", "searched_effect", "accuracy", "agreement"),
        "{:.3f}".format,
    ),
    (("loss", "norm"), "{:.4f}".format),
    (("rating", "elo_effect", "difference", "field", "low", "high", "error", "per_second"), "{:.0f}".format),
    (("seconds", "plies"), "{:.1f}".format),
)


def _cell(column: str, value: Any) -> str:
    if value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    kind = column.removesuffix("_low").removesuffix("_high")
    for endings, form in _FORMATS:
        if kind.endswith(endings):
            return re.sub(r"^-(?=[0.]+$)", "", form(value))  # no "-0"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
