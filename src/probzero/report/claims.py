"""What README and paper claim, each beside the cell of a table that it rests on.

A claim is judged twice: on the committed results, where only rounding may lie between, and on a fresh run of the same
scale, within what another processor or seed may change. What nobody can compute again here says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import ConfigDict, Field, model_validator
from tabulate import tabulate

from probzero import config, files
from probzero.config.fields import List, Name, Section, Words
from probzero.config.reading import read
from probzero.config.wording import validated
from probzero.errors import bad
from probzero.tables import parse_table

HOLDS, FAILS = "holds", "fails"
NOT_JUDGED, NOT_RECOMPUTED = "not judged on a fresh run", "not computed again here"
COLUMNS = ["claim", "statement", "expected", "found", "verdict"]
Text = Annotated[str, Field(min_length=1, max_length=500)]
Number = Annotated[float, Field(strict=False)]


class Cell(Section):
    """One number of a table."""

    table: Text = Field(description="the file, seen from results/")
    row: dict[str, Any] = Field(description="columns and values that one row alone has")
    column: Text = Field(description="where the number stands")


class Claim(Section):
    """A statement and the number behind it."""

    model_config = ConfigDict(
        json_schema_extra={"allowed": "a claim with cell, expected, command and minutes, or with a source alone"}
    )

    statement: Text = Field(description="what is claimed, in one sentence")
    says: List[Text] = Field(default=(), description="the words of the README that say it, letter by letter")
    cell: Cell | None = Field(default=None, description="where the number stands; without one, `source` says whence")
    expected: Number | None = Field(default=None, description="the number as it is stated")
    tolerance: Number = Field(default=0.0, ge=0, description="how far the committed number may be from it: rounding")
    fresh: Number | None = Field(default=None, ge=0, description="the same for another run of this scale")
    command: Words = Field(default="", description="what makes the number")
    minutes: Number | None = Field(default=None, ge=0, description="how long that takes on two cores")
    source: Words = Field(default="", description="where a number comes from that cannot be computed again here")

    @model_validator(mode="after")
    def _rests_on_something(self) -> Claim:
        computed = (self.cell is not None, self.expected is not None, bool(self.command), self.minutes is not None)
        if not (all(computed) and not self.source) and not (self.source and not any(computed)):
            raise ValueError
        return self


class ClaimsFile(Section):
    claims: dict[Name, Claim] = Field(min_length=1)


def load(path: str | Path) -> dict[str, Claim]:
    """Read the claims of a file by their names."""
    raw, where = read(path)
    return validated(ClaimsFile, raw, where).claims


def on_committed(claims: dict[str, Claim], results: Path) -> pd.DataFrame:
    """Judge every claim by the tables below `results`; one row each: claim, statement, expected, found, verdict."""

    def judged(claim: Claim) -> tuple[str, str, str]:
        if claim.cell is None:
            return "", "", NOT_RECOMPUTED
        return _judged(claim, number(claim.cell, results / claim.cell.table), claim.tolerance)

    return _rows((name, claim, judged(claim)) for name, claim in claims.items())


def on_run(claims: dict[str, Claim], run: Path) -> pd.DataFrame:
    """Judge the claims about the scale of a finished run by its own tables, those of its first seed."""
    name, seed = _name_and_seed(run / "config.json")
    scale = re.sub(r"-seed\d+\Z", "", name)
    folder = f"reference/{scale}/"
    about = {name: claim for name, claim in claims.items() if claim.cell and claim.cell.table.startswith(folder)}
    if not about:
        raise bad("claims", run, "a run of a scale of which something is claimed", scale)

    def judged(claim: Claim) -> tuple[str, str, str]:
        assert claim.cell is not None
        path = re.sub(r"\Aseed\d+/", f"seed{seed}/", claim.cell.table.removeprefix(folder))
        found = number(claim.cell, run / path)
        if claim.fresh is None:
            return f"{claim.expected:g}", f"{found:g}", NOT_JUDGED
        return _judged(claim, found, claim.fresh)

    return _rows((name, claim, judged(claim)) for name, claim in about.items())


def number(cell: Cell, path: Path) -> float:
    """Return the number of a cell, from a table whose seal is verified."""
    data, _ = files.read_sealed(path, None)
    rows = parse_table(data, path, dict.fromkeys((cell.column, *cell.row), str), "claims")
    for name, value in cell.row.items():
        rows = rows[rows[name].map(lambda found, wanted=value: _equal(found, wanted)).astype(bool)]
    if len(rows) != 1:
        where = ", ".join(f"{name} {value}" for name, value in cell.row.items()) or "all rows"
        raise bad("claims", f"{path}: {where}", "one row", len(rows))
    found = _number(rows.iloc[0][cell.column])
    if found is None:
        raise bad("claims", f"{path}: {cell.column}", "a number", repr(rows.iloc[0][cell.column]))
    return found


def _name_and_seed(path: Path) -> tuple[str, int]:
    """Return what a run is called and its first seed; tournaments of given networks have none."""
    record = files.read_json(path, config.KIND)
    name, seeds = (record.get("name"), record.get("seeds", [0])) if isinstance(record, dict) else (None, None)
    if not isinstance(name, str) or not isinstance(seeds, list) or not seeds or not isinstance(seeds[0], int):
        raise bad("claims", path, "the name and the seeds of a run", f"{name}, {seeds}")
    return name, seeds[0]


def failed(rows: pd.DataFrame) -> int:
    return int((rows["verdict"] == FAILS).sum())


def as_text(rows: pd.DataFrame) -> str:
    """Return the claims for a terminal, with a last line that counts."""
    table = tabulate(
        rows.to_dict("list"),
        headers="keys",
        tablefmt="simple",
        disable_numparse=True,
        maxcolwidths=[None, 60] + [None] * 3,
    )
    counts = rows["verdict"].value_counts()
    rest = "".join(f", {counts[kind]} {kind}" for kind in (NOT_JUDGED, NOT_RECOMPUTED) if kind in counts)
    return f"{table}\n\n{counts.get(HOLDS, 0)} hold, {counts.get(FAILS, 0)} fail{rest}"


def _equal(found: str, wanted: Any) -> bool:
    """Return whether a cell has this value, which may be written in another way if it is a number."""
    return found == str(wanted) or (_number(found) is not None and _number(found) == _number(str(wanted)))


def _number(text: str) -> float | None:
    try:
        return float(text) if math.isfinite(float(text)) else None
    except ValueError:
        return None


def _judged(claim: Claim, found: float, tolerance: float) -> tuple[str, str, str]:
    assert claim.expected is not None
    verdict = HOLDS if abs(found - claim.expected) <= tolerance else FAILS
    return f"{claim.expected:.12g} ± {tolerance:g}", f"{found:.12g}", verdict


def _rows(found: Iterator[tuple[str, Claim, tuple[str, str, str]]]) -> pd.DataFrame:
    return pd.DataFrame([(name, claim.statement, *judged) for name, claim, judged in found], columns=COLUMNS)
