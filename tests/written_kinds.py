"""A file of every kind, written into a folder as the tests of readers need it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kinds_of_files import KINDS, Kind
from sealed import made

WANTED = {"seed": 0}
FEW, MANY = 300, pytest.param(10_000, marks=pytest.mark.slow)
SEALED = [name for name, kind in KINDS.items() if kind.sealed]
TABLES = [name for name in SEALED if not KINDS[name].tensors]
TENSORS = [name for name in SEALED if KINDS[name].tensors]


def written(kind: Kind, folder: Path, **origin: Any) -> Path:
    path = folder / kind.name
    path.parent.mkdir(parents=True, exist_ok=True)
    kind.write(path, made(**origin))
    return path
