"""The one place that reads and writes tables: CSV files, every row whole and every cell what it should be.

Not by pandas alone, which fills up a row that was cut short and takes a number that lost its last digits.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from probzero import files
from probzero.errors import bad
from probzero.origin import Origin

TABLE = "table"


def write_csv(path: str | Path, table: pd.DataFrame, kind: str, made: Origin, digits: str | None = None) -> None:
    """Write a table and its seal; `digits` is how numbers with a fraction are written, whole if None."""
    files.write(path, table.to_csv(index=False, float_format=digits, lineterminator="\n").encode(), kind, made)


def read_table(
    path: str | Path, columns: Mapping[str, type], kind: str = TABLE, may_be_empty: bool = False, **wanted: Any
) -> pd.DataFrame:
    """Read a sealed CSV file that must have `columns`, each of text (str), whole numbers (int) or finite ones (float).

    Other columns, and those of type object, are typed by pandas. A table without a row is refused, unless it
    `may_be_empty`. `wanted` is what its origin must be.
    """
    return parse_table(files.read(path, kind, **wanted), path, columns, kind, may_be_empty)


def parse_table(
    data: bytes, path: str | Path, columns: Mapping[str, type], kind: str = TABLE, may_be_empty: bool = False
) -> pd.DataFrame:
    """Return the same from the bytes of a file."""
    path = Path(path)
    text = _read_text(data, path, columns, kind)
    if text.empty and not may_be_empty:
        raise bad(kind, path, "a row", "a header alone")
    table = pd.read_csv(io.StringIO(text.to_csv(index=False)))  # one reader of what the file says, not two
    for column, type_ in columns.items():
        if type_ is str:
            table[column] = text[column]
        elif type_ is int:
            whole = text[column].str.fullmatch(r"-?\d{1,18}")
            refuse(path, text, column, ~whole, "a whole number", kind)
            table[column] = text[column].astype(np.int64)
        elif type_ is float:
            table[column] = pd.to_numeric(text[column], errors="coerce").astype(float)
            refuse(path, text, column, ~np.isfinite(table[column]), "a number", kind)
    return table


def refuse(path: Path, table: pd.DataFrame, column: str, wrong: pd.Series, expected: str, kind: str = TABLE) -> None:
    """Fail if any row of a table that was read from `path` is wrong in this column, naming the line of the first."""
    if wrong.any():
        row = int(np.argmax(wrong.to_numpy()))
        raise bad(kind, f"{path}: line {row + 2}: column {column}", expected, repr(table[column].tolist()[row]))


def _read_text(data: bytes, path: Path, columns: Iterable[str], kind: str) -> pd.DataFrame:
    """Return every cell as text; refuse a table that was cut short."""
    try:
        text = data.decode("utf-8")
        header, *rows = csv.reader(text.splitlines(), strict=True)
    except (ValueError, csv.Error) as error:
        raise bad(kind, path, "a readable CSV file", error) from None
    if len(set(header)) < len(header):
        raise bad(kind, f"{path}: line 1", "every column once", ", ".join(header))
    for column in columns:
        if column not in header:
            raise bad(kind, f"{path}: column {column}", "present", f"only {', '.join(header)}")
    for line, row in enumerate(rows, start=2):
        if len(row) != len(header):
            last = header[min(len(row), len(header)) - 1]
            raise bad(kind, f"{path}: line {line}: column {last}", f"the last of {len(header)}", f"{len(row)} columns")
    if not text.endswith("\n"):
        raise bad(kind, f"{path}: line {len(rows) + 1}", "an end of line", "the end of the file")
    return pd.DataFrame(rows, columns=header, dtype=str)
