"""The manifest of a committed run: every file with its SHA-256, the rule and the settings that made it, and on what.

`faults` verifies a folder by its manifest: no file is missing, added or changed, every seal holds, every tensor file
reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from probzero import files, machine, tensor_files
from probzero.errors import ProbZeroError
from probzero.origin import Origin
from probzero.tables import read_table, write_csv

NAME = "manifest.csv"
KIND = "manifest"
COLUMNS = dict.fromkeys(("file", "sha256", "rule", "configuration", "versions", "processor"), str)
UNKNOWN = "unknown"


def write_manifest(folder: Path) -> pd.DataFrame:
    """Write and return the manifest of a folder."""
    on = {"versions": UNKNOWN, "processor": UNKNOWN}
    if (folder / "machine.json").is_file():
        on = files.read_json(folder / "machine.json", machine.KIND)
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
    named = dict(zip(table["file"], table["sha256"], strict=True))
    found = {path.relative_to(folder).as_posix(): path for path in listed(folder)}
    wrong = [f"{folder / name}: in the manifest, but not there" for name in sorted(named.keys() - found.keys())]
    wrong += [f"{folder / name}: not in the manifest" for name in sorted(found.keys() - named.keys())]
    for name in sorted(named.keys() & found.keys()):
        if hashlib.sha256(found[name].read_bytes()).hexdigest() != named[name]:
            wrong.append(f"{found[name]}: not the file of the manifest")
            continue
        try:
            _origin(found[name])
        except ProbZeroError as error:
            wrong.append(str(error))
    return len(found), wrong


def _row(path: Path) -> dict[str, str]:
    made, digest = _origin(path), hashlib.sha256(path.read_bytes()).hexdigest()
    if made is None:
        return {"sha256": digest, "rule": UNKNOWN, "configuration": UNKNOWN}
    return {"sha256": digest, "rule": made.command.replace("-", "_"), "configuration": _hash(made)}


def _hash(made: Origin) -> str:
    """Return one short hash of the settings that made a file, by part."""
    return " ".join(f"{part}:{digest}" for part, digest in sorted(made.settings.items())) or "none"


def _origin(path: Path) -> Origin | None:
    """Return where a file comes from, verified; texts for people share the origin of the table beside them."""
    if path.suffix == ".safetensors":
        return tensor_files.load(path, None).made
    sealed = path.with_suffix(".csv") if path.suffix == ".md" else path
    if not files.seal_of(sealed).is_file():
        return None
    return files.read_sealed(sealed, None)[1]
