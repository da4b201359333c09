"""Files of arrays: safetensors that say what they are, where they come from, and verify when read.

The metadata hold one key, a JSON object with sorted keys (safetensors does not keep the order of several keys, and
equal contents must give equal bytes): format, kind, the game with the version of its rules, the origin, whatever the
kind adds, and a SHA-256 of all that and of all arrays.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors
import safetensors.numpy

from probzero import files, games, origin
from probzero.config import parse_part
from probzero.errors import ProbZeroError, bad
from probzero.games.base import Game
from probzero.origin import Origin

FORMAT = 3
METADATA_KEY = "probzero"
Arrays = Mapping[str, np.ndarray]


class TensorFile(NamedTuple):
    arrays: dict[str, np.ndarray]
    game: Game
    made: Origin
    extra: dict[str, Any]  # what the kind adds to the description


def save(path: str | Path, kind: str, arrays: Arrays, game: Game, made: Origin, extra: dict[str, Any]) -> None:
    """Write arrays, whole or not at all; equal contents give equal bytes. Numbers that are not finite are refused."""
    stored = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    for name, array in stored.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise bad(kind, f"{path}: {name}", "finite numbers to write", "NaN or infinity")
    description = {
        "format": FORMAT,
        "kind": kind,
        "game": game.described,
        "game_version": game.version,
        "origin": made.as_dict(),
        **extra,
    }
    description["checksum"] = checksum(stored, description)
    data = safetensors.numpy.save(stored, {METADATA_KEY: json.dumps(description, sort_keys=True, allow_nan=False)})
    with files.replacing(path) as temporary:
        temporary.write_bytes(data)


def load(path: str | Path, kind: str | None, game: Game | None = None) -> TensorFile:
    """Return what a file of this kind (None: of any) holds, whole and unchanged since it was written.

    A game that is given must be the file's own."""
    path, expected, kind = Path(path), kind, kind or "file"
    if not path.is_file():
        raise bad(kind, path, "a file", "nothing")
    try:
        with safetensors.safe_open(path, "numpy") as opened:
            metadata = opened.metadata() or {}
            arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (safetensors.SafetensorError, OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        found = f"{' '.join(str(error).split())}; {files.REMEDY}"
        raise bad(kind, path, "a whole safetensors file", found) from None
    if METADATA_KEY not in metadata:
        raise bad(kind, f"{path}: metadata", f"an entry {METADATA_KEY!r}", ", ".join(metadata) or "none")
    description = files.parse_json(metadata[METADATA_KEY].encode(), kind, f"{path}: metadata")
    if not isinstance(description, dict):
        raise bad(kind, f"{path}: metadata", "a JSON object", type(description).__name__)
    said = description.pop("checksum", "nothing")
    whole = checksum(arrays, description)
    for name, value in (("format", FORMAT), ("kind", expected)):
        found = description.pop(name, "nothing")
        _expect(path, kind, name, found if value is None else value, found)
    if said != whole:
        raise bad(kind, f"{path}: checksum", "that of the file's contents", f"{said}; {files.REMEDY}")
    played = _game(path, kind, description.pop("game", None))
    if game is not None:
        _expect(path, kind, "game", game.described, played.described)
    _expect(path, kind, "game_version", played.version, description.pop("game_version", "nothing"))
    made = origin.parse(description.pop("origin", None), kind, path)
    return TensorFile(arrays, played, made, description)


def check_arrays(
    path: str | Path, kind: str, arrays: Arrays, expected: Mapping[str, tuple[tuple[int, ...], Any]]
) -> None:
    """Refuse arrays that are not exactly those expected, by shape and type."""
    for name in sorted(expected.keys() | arrays.keys()):
        where = f"{path}: {name}"
        if name not in arrays or name not in expected:
            wanted, found = ("a tensor", "none") if name in expected else ("no such tensor", "one")
            raise bad(kind, where, wanted, found)
        shape, dtype = expected[name]
        array = arrays[name]
        if (array.shape, array.dtype) != (shape, np.dtype(dtype)):
            raise bad(kind, where, f"{np.dtype(dtype)} of shape {shape}", f"{array.dtype} of shape {array.shape}")


def _expect(path: Path, kind: str, name: str, expected: Any, found: Any) -> None:
    if found != expected:
        raise bad(kind, f"{path}: {name}", expected, found)


def _game(path: Path, kind: str, described: Any) -> Game:
    try:
        settings = parse_part("game", described, str(path))
        return games.make(settings.name, **settings.options)
    except ProbZeroError:
        raise bad(kind, f"{path}: game", "the settings of a game", described) from None


def checksum(arrays: Arrays, description: dict[str, Any]) -> str:
    """Return the SHA-256 of the description and of names, types, shapes and bytes of all arrays, in order of names."""
    digest = hashlib.sha256(json.dumps(description, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
