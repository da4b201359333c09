"""The one place that writes files, whole or not at all, and the one that reads them.

A file is written to a temporary name in its folder and renamed. What it is, where it comes from and its SHA-256 go
into its *seal*, `seals/NAME.json` beside it, and reading verifies all of that: a file that was cut short, changed or
put in the place of another is refused. Files of tensors hold their seal inside (see `tensor_files`).
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from probzero import origin
from probzero.errors import bad
from probzero.origin import Origin

FORMAT = 1
SEALS = "seals"
METRICS = "metrics"  # the kind of a JSON object of numbers
COSTS = "costs"  # the kind of times and counts of the cache, which no other file holds
REMEDY = "if a run made it, delete it and run the same command again: it is made anew"


@contextmanager
def replacing(target: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `target`; rename it to `target` on success, remove it on failure.

    What a killed writer of the same file left half-written is removed first. Of two that write at once the one that
    began later wins, so that a run which goes on need not wait for what is left of the one before.
    """
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    for left in target.parent.glob(f".partial-????????-{glob.escape(target.name)}"):
        left.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(f"-{target.name}", ".partial-", target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        try:
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o666 & ~umask)
            temporary.replace(target)
        except FileNotFoundError:
            raise bad("file", target, "one writer at a time", "another that began later") from None
    finally:
        temporary.unlink(missing_ok=True)


def write_text(target: str | Path, text: str) -> None:
    """Write a text that only people read; it has no seal."""
    with replacing(target) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write(target: str | Path, data: bytes, kind: str, made: Origin) -> None:
    """Write a file and its seal. The seal goes first: a file that is there has one."""
    target = Path(target)
    content = {"format": FORMAT, "kind": kind, "sha256": hashlib.sha256(data).hexdigest(), "origin": made.as_dict()}
    write_text(seal_of(target), plain_json({**content, "seal": checksum(content)}))
    with replacing(target) as temporary:
        temporary.write_bytes(data)


def read(path: str | Path, kind: str, **wanted: Any) -> bytes:
    """Return the bytes of a file of this kind, as they were written, by whom `origin.expect` wants."""
    data, found = read_sealed(path, kind)
    origin.expect(found, kind, path, **wanted)
    return data


def read_sealed(path: str | Path, kind: str | None) -> tuple[bytes, Origin]:
    """Return the bytes of a file of this kind (None: of any), as they were written, and where they come from."""
    expected, kind = kind, kind or "file"
    data, seal = read_bytes(path, kind), seal_of(path)
    if not seal.is_file():
        raise bad(kind, path, f"a seal beside it ({seal})", f"none; {REMEDY}")
    content = parse_json(read_bytes(seal, kind), kind, seal)
    if not isinstance(content, dict) or content.pop("seal", None) != checksum(content):
        raise bad(kind, seal, "the seal that was written", f"another; {REMEDY}")
    for name, value in (("format", FORMAT), ("kind", expected)):
        if value is not None and content.get(name) != value:
            raise bad(kind, f"{path}: {name}", value, content.get(name))
    digest = hashlib.sha256(data).hexdigest()
    if content.get("sha256") != digest:
        raise bad(kind, path, f"the file that was written (SHA-256 {content.get('sha256')})", f"{digest}; {REMEDY}")
    return data, origin.parse(content.get("origin"), kind, seal)


def seal_of(path: str | Path) -> Path:
    """Return where the seal of a file lies."""
    path = Path(path)
    return path.parent / SEALS / f"{path.name}.json"


def checksum(content: Any) -> str:
    """Return the SHA-256 of plain data."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()


def write_json(target: str | Path, value: Any, kind: str, made: Origin) -> None:
    write(target, plain_json(value).encode(), kind, made)


def read_json(path: str | Path, kind: str, **wanted: Any) -> Any:
    return parse_json(read(path, kind, **wanted), kind, path)


def plain_json(value: Any) -> str:
    return json.dumps(value, indent=2, sort_keys=True, allow_nan=False) + "\n"


def parse_json(data: bytes, what: str, where: object) -> Any:
    """Return plain data; every number in it is finite."""
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_not_finite)
    except (ValueError, RecursionError) as error:
        raise bad(what, where, "readable JSON", error) from None


def _not_finite(name: str) -> Any:
    raise ValueError(f"a number that is {name}")


def read_text(path: str | Path, what: str) -> str:
    """Return a text of people, unverified."""
    try:
        return read_bytes(path, what).decode("utf-8")
    except UnicodeDecodeError as error:
        raise bad(what, path, "a text in UTF-8", error) from None


def read_bytes(path: str | Path, what: str) -> bytes:
    """Return what stands in a file, unverified."""
    try:
        return Path(path).read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise bad(what, path, "a file", "nothing") from None
