"""The one place that writes files: to a temporary name in the same folder, then renamed over the target."""

from __future__ import annotations

import glob
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probzero.errors import bad

if TYPE_CHECKING:
    import pandas as pd


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
    with replacing(target) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(target: str | Path, value: Any) -> None:
    write_text(target, json.dumps(value, indent=2, sort_keys=True) + "\n")


def write_csv(target: str | Path, table: pd.DataFrame) -> None:
    write_text(target, table.to_csv(index=False, lineterminator="\n"))


def read_json(path: str | Path) -> Any:
    if not Path(path).is_file():
        raise bad("JSON file", path, "a file", "nothing")
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise bad("JSON file", path, "a readable JSON file", error) from None
