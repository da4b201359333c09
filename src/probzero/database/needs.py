"""What making a database takes: said before it begins, so that nobody waits for a run that cannot end."""

from __future__ import annotations

import shutil
from pathlib import Path

import psutil

from probzero.database.form import Form
from probzero.database.layers import BYTES, KEYS, LAYER
from probzero.errors import bad

GIB = 1 << 30
WORKING = 40  # bytes of memory for each position of the largest layer; 33 were measured, mapped files included
BASE = GIB // 2  # Python, compiled code and what the threads work in


def needs(form: Form) -> tuple[int, int] | None:
    """Return the bytes of memory and of disk that the game's database takes, if its positions have been counted."""
    known = form.game.entry.reachable(**form.game.options)
    if known is None:
        return None
    positions, largest = known
    return BASE + WORKING * largest, BYTES[LAYER] * positions + BYTES[KEYS] * largest


def check(form: Form, folder: Path) -> None:
    """Refuse to begin with too little memory or room on the disk; what is there already need not be written again."""
    wanted = needs(form)
    if wanted is None:
        return
    memory, disk = wanted
    there = sum(path.stat().st_size for path in folder.glob("*-*") if path.is_file())
    place = next(path for path in (folder, *folder.resolve().parents) if path.is_dir())
    for what, where, needed, available in (
        ("memory", "this machine", memory, psutil.virtual_memory().available),
        ("disk", place, disk - there, shutil.disk_usage(place).free),
    ):
        if available < needed:
            expected = f"{needed / GIB:.1f} GiB free for the database of {form.game.identity}"
            raise bad(what, where, expected, f"{available / GIB:.1f} GiB")
