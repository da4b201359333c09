"""docs/architecture.md and docs/files.md name files and functions that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from kinds_of_files import KINDS
from other_readers import READERS, SEALED_READERS

TOP = Path(__file__).parent.parent
TEXT = "".join((TOP / "docs" / name).read_text(encoding="utf-8") for name in ("architecture.md", "files.md"))
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)(?:: ([\w.]+))?`", TEXT)))


def source(path: str) -> Path:
    """Return the file that a path of the document means: of the package, of the kernels or from the top."""
    places = [TOP / "src" / "probzero" / path, TOP / path]
    return next((place for place in places if place.is_file()), places[0])


def defined(body: list[ast.stmt]) -> dict[str, list[ast.stmt]]:
    """Return the names that statements define, with the bodies of classes."""
    found: dict[str, list[ast.stmt]] = {}
    for statement in body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef):
            found[statement.name] = statement.body if isinstance(statement, ast.ClassDef) else []
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            found.update({target.id: [] for target in targets if isinstance(target, ast.Name)})
    return found


@pytest.mark.parametrize(("path", "name"), NAMED, ids=[f"{path}:{name}" for path, name in NAMED])
def test_every_name_is_there(path: str, name: str) -> None:
    body = ast.parse(source(path).read_text(encoding="utf-8")).body
    for part in name.split(".") if name else []:
        names = defined(body)
        assert part in names
        body = names[part]


def test_the_document_names_much_of_the_package() -> None:
    assert len(NAMED) > 80


def test_every_kind_of_file_is_listed_and_every_kind_that_is_listed_is_damaged_by_tests() -> None:
    text = (TOP / "docs" / "files.md").read_text(encoding="utf-8")
    header, _, *listed = re.findall(r"^\| ?([^|]+?) ?\|", text, re.MULTILINE)
    assert header == "kind" and {name for cell in listed for name in cell.split(", ")} == set(KINDS)


def test_the_readers_that_are_damaged_by_tests_are_counted() -> None:
    text = (TOP / "docs" / "trust.md").read_text(encoding="utf-8")
    assert f"| {len(SEALED_READERS)} readers of sealed files," in text and f"| {len(READERS)} readers, each" in text


def test_every_command_of_the_table_of_trust_runs_tests_that_are_there() -> None:
    text = (TOP / "docs" / "trust.md").read_text(encoding="utf-8")
    commands = re.findall(r"`pytest ([^`]+)`", text)
    assert len(commands) >= 8
    for command in commands:
        files, word = re.findall(r"tests/\S+\.py", command), re.search(r"-k (\w+)", command)
        names = [name for file in files for name in re.findall(r"def (test_\w+)", (TOP / file).read_text("utf-8"))]
        assert names and (word is None or any(word[1] in name for name in names)), command
