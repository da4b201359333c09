"""The files of a database: one for each layer, and beside it a small sealed description with its checksum.

`layer-20` holds, of the n positions of phase 20, first all keys, n little-endian int64 in rising order, then all
values, n int8; so its size is 9 n bytes, and both parts are mapped into memory as they are. `keys-20` is the first part
alone, as long as the layer is not solved.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from probzero import files
from probzero.errors import bad
from probzero.games.base import Game
from probzero.origin import Origin

FORMAT = 1
KIND = "database layer"
KEYS, LAYER = "keys", "layer"
BYTES = {KEYS: 8, LAYER: 9}  # of a position
MADE = Origin(command="database")
VERIFIED = "verified.json"  # which files were as they should be, and have not been touched since
AT_ONCE = 1 << 26  # bytes hashed at once


class Layer(NamedTuple):
    """The positions of one phase."""

    keys: np.ndarray  # int64 [n], rising
    values: np.ndarray  # int8 [n] for the player to move; none as long as they are not known
    about: dict[str, Any]  # its description


def folder_of(game: Game) -> Path:
    """Return where a game's database is looked for."""
    return Path("results", "database", game.identity)


def path_of(folder: Path, kind: str, phase: int) -> Path:
    return folder / f"{kind}-{phase:02}"


def describe(path: Path) -> Path:
    return path.with_suffix(".json")


def write_layer(
    folder: Path, game: Game, kind: str, phase: int, parts: Iterable[np.ndarray], **more: Any
) -> dict[str, Any]:
    """Write a layer's arrays one after the other, then its description; return that."""
    path, digest, size = path_of(folder, kind, phase), hashlib.sha256(), 0
    with files.replacing(path) as temporary, temporary.open("wb") as target:
        for part in parts:
            data = np.ascontiguousarray(part).view(np.uint8).data
            target.write(data)
            digest.update(data)
            size += len(data)
    about = {
        "format": FORMAT, "game": game.described, "game_version": game.version, "phase": phase,
        "positions": size // BYTES[kind], "sha256": digest.hexdigest(), **more,
    }  # fmt: skip
    files.write_json(describe(path), about, KIND, MADE)
    return about


def is_there(folder: Path, kind: str, phase: int) -> bool:
    path = path_of(folder, kind, phase)
    return path.is_file() and describe(path).is_file()


def read_layer(folder: Path, game: Game, kind: str, phase: int) -> Layer:
    """Map a layer into memory; refuse one of another game or version, or that is not as it was written."""
    path = path_of(folder, kind, phase)
    about = files.read_json(describe(path), KIND, **MADE.as_dict())
    if not isinstance(about, dict):
        raise bad(KIND, describe(path), "an object", type(about).__name__)
    for name, wanted in (
        ("format", FORMAT), ("game", game.described), ("game_version", game.version), ("phase", phase),
    ):  # fmt: skip
        if about.get(name) != wanted:
            raise bad(KIND, f"{path}: {name}", wanted, about.get(name))
    for name, type_ in (("positions", int), ("sha256", str)):
        if type(about.get(name)) is not type_:
            raise bad(KIND, f"{describe(path)}: {name}", "a number" if type_ is int else "a text", about.get(name))
    count = about["positions"]
    size = path.stat().st_size if path.is_file() else None
    if size != count * BYTES[kind]:
        found = "nothing" if size is None else f"{size:,} bytes"
        raise bad(KIND, path, f"{count * BYTES[kind]:,} bytes", f"{found}; {files.REMEDY}")
    _verify(path, about["sha256"])
    data = np.memmap(path, dtype=np.uint8, mode="c")
    keys, values = data[: 8 * count].view("<i8"), data[8 * count :].view(np.int8)
    return Layer(np.asarray(keys), np.asarray(values), about)


def _verify(path: Path, wanted: str) -> None:
    """Refuse a file whose SHA-256 is not the wanted one; hash it only if it was touched since that was last done."""
    stamps, status = path.parent / VERIFIED, path.stat()
    stamp = [status.st_size, status.st_mtime_ns, status.st_ino, wanted]
    noted: dict[str, Any] = {}
    with suppress(OSError, ValueError, TypeError, RecursionError):
        noted = dict(json.loads(stamps.read_text(encoding="utf-8")))
    if noted.get(path.name) == stamp:
        return
    digest = hashlib.sha256()
    with path.open("rb") as source:
        while part := source.read(AT_ONCE):
            digest.update(part)
    if digest.hexdigest() != wanted:
        expected = f"the file that was written (SHA-256 {wanted})"
        raise bad(KIND, path, expected, f"{digest.hexdigest()}; {files.REMEDY}")
    with suppress(OSError):  # where nothing may be written every process verifies for itself
        files.write_text(stamps, files.plain_json({**noted, path.name: stamp}))
