"""Whether two folders of results hold the same files, byte for byte, but for what tells of the machine and the cache.

`is_cost` is the one place that says which files those are."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from probzero.errors import bad
from probzero.files import SEALS

FOLDERS = frozenset({"benchmarks", "costs", "logs"})  # with all that is in them
# Tables and figures, whatever their format: `cost` is that of a whole run, all others are made from the files of the
# folders `costs`. `machine` says on what a run was made.
NAMES = frozenset({"cost", "costs", "costs_to_reach", "machine", "study_costs", "study_costs_variants"})
LOCK = ".lock"


def is_cost(name: Path) -> bool:
    """Return whether a file, named within its run or study, or the file of a seal, may differ between equal runs."""
    name = _sealed(name)
    return bool(FOLDERS.intersection(name.parent.parts)) or name.stem in NAMES or name.name == LOCK


def _sealed(name: Path) -> Path:
    """Return the file whose seal this is, or the file itself."""
    return name.parent.parent / name.stem if name.parent.name == SEALS else name


def compared(folder: Path, without: Collection[str] = ()) -> Iterator[Path]:
    """Yield the files that have to be the same, relative to `folder`; `without` names further ones that need not."""
    if not folder.is_dir():
        raise bad("results", folder, "a folder", "none")
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        if path.is_file() and not is_cost(name) and _sealed(name).name not in without:
            yield name


def differences(first: Path, second: Path, without: Collection[str] = ()) -> dict[Path, str]:
    """Return what is wrong with each of all files, in the order of their names; nothing, if it is the same in both."""
    here, there = (set(compared(folder, without)) for folder in (first, second))
    return {name: _difference(first, second, name, here, there) for name in sorted(here | there)}


def _difference(first: Path, second: Path, name: Path, here: set[Path], there: set[Path]) -> str:
    for folder, found in ((first, here), (second, there)):
        if name not in found:
            return f"not in {folder}"
    return "" if (first / name).read_bytes() == (second / name).read_bytes() else "differs"
