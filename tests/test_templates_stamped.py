"""All that compiled code depends on is in the stamp of the folder where it is kept: read from the sources."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from probzero import templates


def imported(tree: ast.Module) -> Iterator[str]:
    """The names of what a module imports, in full."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def loaded(tree: ast.Module) -> Iterator[str]:
    """The templates that a module loads."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("templates.load", "load"):
            yield ast.literal_eval(node.args[0])


def file_of(name: str) -> str:
    """The file, within the package, from which a name in full is imported; empty for another package's."""
    parts = name.split(".")
    if parts[0] != "probzero":
        return ""
    for length in (len(parts), len(parts) - 1):
        path = templates.PACKAGE.joinpath(*parts[1:length])
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if length > 1 and file.is_file():
                return file.relative_to(templates.PACKAGE).as_posix()
    return "__init__.py"


MODULES = {
    path.relative_to(templates.PACKAGE).as_posix(): ast.parse(path.read_bytes())
    for at, _, _ in os.walk(templates.PACKAGE, followlinks=True)
    for path in Path(at).glob("*.py")
}
TEMPLATES = sorted(file for file, tree in MODULES.items() if {"numba.njit", "numba.jit"} & set(imported(tree)))
PLAIN = {*templates.CONSTANTS, *templates.STRUCTS}


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_imports_constants_structs_and_the_loader_alone(template: str) -> None:
    files = {file_of(name) for name in imported(MODULES[template])} - {""}
    assert files <= PLAIN | {"templates.py"}
    assert {file_of(name) for name in loaded(MODULES[template])} <= set(TEMPLATES)


@pytest.mark.parametrize("file", sorted(PLAIN & set(MODULES)))
def test_files_of_constants_and_structs_take_nothing_from_elsewhere(file: str) -> None:
    assert {file_of(name) for name in imported(MODULES[file])} - {""} <= PLAIN


def test_numba_is_imported_by_templates_and_by_the_loader_alone() -> None:
    users = {file for file, tree in MODULES.items() if any(name.split(".")[0] == "numba" for name in imported(tree))}
    assert users == {*TEMPLATES, "templates.py"}


def test_every_file_that_code_depends_on_is_in_the_stamp() -> None:
    stamped = {path.relative_to(templates.PACKAGE).as_posix() for path in templates.sources()}
    assert stamped >= {*TEMPLATES, *(PLAIN & set(MODULES))}
    assert "games/compiled/othello.py" in TEMPLATES and "wdl.py" in stamped
