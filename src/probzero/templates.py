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

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from probzero.errors import bad

PACKAGE = Path(__file__).parent
# What templates may take numbers from, beside each other; `wdl` imports `kinds`.
CONSTANTS = ("wdl.py", "kinds.py", "kernels/winner_prob/constants.py")
STRUCTS = ("search/arrays.py",)  # and tuples of arrays; a tuple's class must be one for all games
_LOADING = threading.RLock()  # loading changes numba's settings, which all threads share


@cache
def sources() -> dict[Path, bytes]:
    """Return the files that compiled code may depend on: those that name numba, those of constants and of structs.

    Each is read once, so that what is compiled is what was stamped, whatever is edited meanwhile."""
    folders = [Path(at) for at, _, _ in os.walk(PACKAGE, followlinks=True)]
    found = {path: path.read_bytes() for folder in sorted(folders) for path in sorted(folder.glob("*.py"))}
    named = {PACKAGE / name for name in CONSTANTS + STRUCTS}
    return {path: text for path, text in found.items() if path in named or b"numba" in text}


@cache
def _folder() -> Path:
    """Return where compiled templates are kept, by a hash of sources, numba and the kind of processor."""
    import llvmlite.binding
    import numba

    stamp = hashlib.sha256(f"{numba.__version__} {llvmlite.binding.get_host_cpu_name()}".encode())
    for path, text in sources().items():
        stamp.update(f"{path.relative_to(PACKAGE)} {len(text)} ".encode() + text)
    return folder(f"compiled-{stamp.hexdigest()[:16]}")


@cache
def folder(name: str) -> Path:
    """Return the folder of that name where compiled code is kept."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    for place in [chosen] if chosen else [str(PACKAGE / "__pycache__"), "~/.cache/probzero"]:
        try:
            found = Path(place).expanduser() / name
            found.mkdir(parents=True, exist_ok=True)
        except (OSError, RuntimeError):  # nothing may be written there, or there is no home
            continue
        if os.access(found, os.W_OK):
            return found
    found = Path(tempfile.mkdtemp(prefix="probzero-"))  # nothing is kept: every process compiles for itself
    atexit.register(shutil.rmtree, found, ignore_errors=True)
    return found


def load(template: str, game: str = "any", **given: Any) -> ModuleType:
    """Return the template, a module's full name, with these globals given; what it compiles is kept for `game`.

    That is a game's identity, or another word for what is given."""
    with _LOADING:
        return _load(template, game, **given)


@cache
def _load(template: str, game: str, **given: Any) -> ModuleType:
    import numba  # here, because training and reading a network need rules, but none that are compiled

    name = f"{template}_{game}"
    if name in sys.modules:  # one's compiled code would be taken for the other's
        raise bad("template", name, "to be loaded with the same globals each time", sorted(given))
    source = PACKAGE.parent.joinpath(*template.split(".")).with_suffix(".py")
    code = compile(sources()[source], source, "exec", dont_inherit=True)  # not from a stale .pyc
    module = sys.modules[name] = ModuleType(name)  # numba looks modules up by name
    vars(module).update(given, __file__=str(source))
    before = numba.config.CACHE_DIR, numba.config.CACHE_LOCATOR_CLASSES
    numba.config.CACHE_DIR = str(_folder() / game)
    numba.config.CACHE_LOCATOR_CLASSES = "UserProvidedCacheLocator"  # there or nowhere
    try:
        exec(code, vars(module))
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        numba.config.CACHE_DIR, numba.config.CACHE_LOCATOR_CLASSES = before
    return module
