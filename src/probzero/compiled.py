"""Source files with parameters: compiled loops are loaded once for each game, as if they had been written for it.

A *template* is a module whose functions numba compiles. Some take globals from outside: the rules of a game take its
options, the loops of the search and of the solver take the rules. `load` reads the file anew for each game, so that
options are constants to the compiler and a game's functions are inlined.

Numba's cache on disk stamps the one file that holds a function, and tells functions apart by file, name and line; in
memory it tells them apart by module and name. So every game has modules of its own names and a folder of its own, named
after all that compiled code depends on: an edit of any such file is noticed.
"""

# mypy: disable-error-code="attr-defined"

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import llvmlite.binding
import numba

PACKAGE = Path(__file__).parent
CONSTANTS = ("wdl.py", "kernels/winner_prob/constants.py")  # what templates may take numbers from, beside each other


def sources() -> list[Path]:
    """Return the files that compiled code may depend on: those that name numba, and those of constants."""
    folders = [Path(at) for at, _, _ in os.walk(PACKAGE, followlinks=True)]
    found = sorted(path for folder in folders for path in folder.glob("*.py"))
    return [
        path for path in found if path.relative_to(PACKAGE).as_posix() in CONSTANTS or b"numba" in path.read_bytes()
    ]


@cache
def _folder() -> Path:
    """Return where compiled code is kept, by a hash of sources, numba and the kind of processor."""
    stamp = hashlib.sha256(f"{numba.__version__} {llvmlite.binding.get_host_cpu_name()}".encode())
    for path in sources():
        stamp.update(path.read_bytes())
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    places = [Path(chosen)] if chosen else [PACKAGE / "__pycache__", Path.home() / ".cache" / "probzero"]
    for place in places:
        folder = place / f"compiled-{stamp.hexdigest()[:16]}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.mkdtemp(prefix="probzero-"))  # nothing is kept: every process compiles for itself


@cache
def load(template: str, game: str = "any", **given: Any) -> ModuleType:
    """Return the template, a module's full name, with these globals given; what it compiles is kept for `game`."""
    name = f"{template}_{game}"
    source = PACKAGE.parent.joinpath(*template.split(".")).with_suffix(".py")
    module = sys.modules[name] = ModuleType(name)  # numba looks modules up by name
    vars(module).update(given, __file__=str(source))
    before = numba.config.CACHE_DIR, numba.config.CACHE_LOCATOR_CLASSES
    numba.config.CACHE_DIR = str(_folder() / game)
    numba.config.CACHE_LOCATOR_CLASSES = "UserProvidedCacheLocator"  # there or nowhere
    try:
        exec(compile(source.read_bytes(), source, "exec", dont_inherit=True), vars(module))  # not from a stale .pyc
    finally:
        numba.config.CACHE_DIR, numba.config.CACHE_LOCATOR_CLASSES = before
    return module
