"""The one place that reads tables: CSV files in which every row is whole and every cell is what it should be.

Not by pandas alone, which fills up a row that was cut short and takes a number that lost its last digits.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from probzero.errors import bad


def read_table(path: str | Path, columns: Mapping[str, type], what: str = "table") -> pd.DataFrame:
    """Read a CSV file that must have `columns`, each of text (str), whole numbers (int) or finite numbers (float).

    Other columns, and those of type object, are typed by pandas. `what` is what errors call the file.
    """
    path = Path(path)
    text = _read_text(path, columns, what)
    table = pd.read_csv(path)
    for column, kind in columns.items():
        if kind is str:
            table[column] = text[column]
        elif kind is int:
            refuse(path, text, column, ~text[column].str.fullmatch(r"-?\d+"), "a whole number", what)
            table[column] = text[column].astype(np.int64)
        elif kind is float:
            table[column] = pd.to_numeric(text[column], errors="coerce").astype(float)
            refuse(path, text, column, ~np.isfinite(table[column]), "a number", what)
    return table


def refuse(path: Path, table: pd.DataFrame, column: str, wrong: pd.Series, expected: str, what: str = "table") -> None:
    """Fail if any row of a table that was read from `path` is wrong in this column, naming the line of the first."""
    if wrong.any():
        row = int(np.argmax(wrong.to_numpy()))
        raise bad(what, f"{path}: line {row + 2}: column {column}", expected, repr(table[column].iloc[row]))


def _read_text(path: Path, columns: Iterable[str], what: str) -> pd.DataFrame:
    """Read a CSV file that must have `columns`, every cell as text; refuse one that was cut short."""
    if not path.is_file():
        raise bad(what, path, "a CSV file", "nothing")
    try:
        text = path.read_text(encoding="utf-8")
        header, *rows = csv.reader(text.splitlines(), strict=True)
    except (ValueError, csv.Error) as error:
        raise bad(what, path, "a readable CSV file", error) from None
    for column in columns:
        if column not in header:
            raise bad(what, f"{path}: column {column}", "present", f"only {', '.join(header)}")
    for line, row in enumerate(rows, start=2):
        if len(row) != len(header):
            last = header[min(len(row), len(header)) - 1]
            raise bad(what, f"{path}: line {line}: column {last}", f"the last of {len(header)}", f"{len(row)} columns")
    if not text.endswith("\n"):
        raise bad(what, f"{path}: line {len(rows) + 1}", "an end of line", "the end of the file")
    return pd.DataFrame(rows, columns=header, dtype=str)
