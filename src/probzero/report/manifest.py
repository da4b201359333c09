"""The manifest of a committed run: every file with its SHA-256, the rule and the settings that made it, and on what.

`faults` verifies a folder by its manifest: no file is missing, added or changed, every file has the seal that it had,
every seal holds, every tensor file reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from probzero import files, machine, tensor_files
from probzero.errors import ProbZeroError
from probzero.origin import Origin
from probzero.tables import read_table, write_csv

NAME = "manifest.csv"
MACHINE = "machine.json"
KIND = "manifest"
LIMIT = 80_000_000  # bytes of all committed runs together
COLUMNS = dict.fromkeys(("file", "sha256", "rule", "configuration", "versions", "processor"), str)
UNKNOWN = "unknown"


def write_manifest(folder: Path) -> pd.DataFrame:
    """Write and return the manifest of a folder."""
    on = _made_on(folder)
    rows = [{"file": path.relative_to(folder).as_posix(), **_row(path), **on} for path in sorted(listed(folder))]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    write_csv(folder / NAME, table, KIND, Origin(command="manifest"))
    return table


def listed(folder: Path) -> Iterator[Path]:
    """Return the files that a manifest names: all but itself and the seals, which the files' own checks cover."""
    for path in folder.rglob("*"):
        if path.is_file() and path.parent.name != files.SEALS and path != folder / NAME:
            yield path


def faults(folder: Path) -> tuple[int, list[str]]:
    """Return how many files a folder has, and what is wrong with them, a line each."""
    try:
        table = read_table(folder / NAME, COLUMNS, KIND)
    except ProbZeroError as error:
        return sum(1 for _ in listed(folder)), [str(error)]
    named = {row.pop("file"): row for row in table.to_dict("records")}
    found = {path.relative_to(folder).as_posix(): path for path in listed(folder)}
    wrong = [f"{folder / name}: in the manifest, but not there" for name in sorted(named.keys() - found.keys())]
    wrong += [f"{folder / name}: not in the manifest" for name in sorted(found.keys() - named.keys())]
    for name in sorted(named.keys() & found.keys()):
        try:
            wrong += _unlike(folder, found[name], named[name])
        except ProbZeroError as error:
            wrong.append(str(error))
    sealed = [folder / name for name in (NAME, *found, *named)]
    wrong += [f"{seal}: the seal of no file" for seal in _seals_alone(folder, sealed)]
    return len(found), wrong


def _unlike(folder: Path, path: Path, named: Mapping[Any, str]) -> list[str]:
    """Return what the manifest tells otherwise than a file, its seal and the machine do."""
    if _digest(path) != named["sha256"]:
        return [f"{path}: not the file of the manifest"]
    row = {**_row(path), **(_made_on(folder) if path == folder / MACHINE else {})}
    return [
        f"{path}: {column} {row[column]}, in the manifest {named[column]}"
        for column in row
        if row[column] != named[column]
    ]


def _seals_alone(folder: Path, sealed: Iterable[Path]) -> list[Path]:
    """Return what lies among the seals and is the seal of none of these files."""
    seals = {files.seal_of(path) for path in sealed}
    return [path for path in sorted(folder.rglob(f"{files.SEALS}/*")) if path.is_file() and path not in seals]


def _made_on(folder: Path) -> dict[str, str]:
    if (folder / MACHINE).is_file():
        return machine.read(folder / MACHINE)
    return {"versions": UNKNOWN, "processor": UNKNOWN}


def _row(path: Path) -> dict[str, str]:
    made = origin_of(path)
    if made is None:
        return {"sha256": _digest(path), "rule": UNKNOWN, "configuration": UNKNOWN}
    return {"sha256": _digest(path), "rule": made.command.replace("-", "_"), "configuration": _hash(made)}


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _hash(made: Origin) -> str:
    """Return one short hash of the settings that made a file, by part."""
    return " ".join(f"{part}:{digest}" for part, digest in sorted(made.settings.items())) or "none"


def origin_of(path: Path) -> Origin | None:
    """Return where a file comes from, verified; None if no seal says it. A text shares that of the table beside it."""
    if path.suffix == ".safetensors":
        return tensor_files.load(path, None).made
    sealed = path.with_suffix(".csv") if path.suffix == ".md" else path
    if not files.seal_of(sealed).is_file():
        return None
    return files.read_sealed(sealed, None)[1]
