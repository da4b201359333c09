"""Damage to every kind of file is found by its checksum; the file of a sibling is refused by its origin."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzzing import SOME_CHANGES, damage, often, refusal
from hypothesis import strategies as st
from kinds_of_files import KINDS, plain
from other_readers import READERS, SEALED_READERS
from sealed import made
from written_kinds import FEW, MANY, SEALED, TABLES, WANTED, written

from probzero import files

pytestmark = pytest.mark.usefixtures("one_thread", "quick_writing")


@pytest.mark.parametrize("name", SEALED)
def test_cut_flipped_emptied_swapped_or_missing_it_is_refused(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    path = written(kind, tmp_path / "one")
    whole = path.read_bytes()
    assert refusal(lambda: kind.read(path, WANTED))[0] is None
    damaged = [whole[:-1], whole[: len(whole) // 2], b"", whole + b"\n", whole[1:]]
    places = np.linspace(0, len(whole) - 1, 40).astype(int)
    damaged += [whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :] for at in places]
    for data in damaged:
        path.write_bytes(data)
        error, _ = refusal(lambda: kind.read(path, WANTED))
        assert error is not None and path.name in str(error)
    path.unlink()
    assert "expected a file, found nothing" in str(refusal(lambda: kind.read(path, WANTED))[0])


SIBLINGS: dict[str, tuple[Any, Any]] = {
    "seed": (0, 1), "iteration": (1, 2), "shard": (0, 1), "settings": ({"game": "ours"}, {"game": "another"}),
}  # fmt: skip


@pytest.mark.parametrize(("name", "told"), [(name, told) for name in SEALED for told in KINDS[name].told])
def test_the_file_of_a_sibling_is_refused(name: str, told: str, tmp_path: Path) -> None:
    kind, (ours, another) = KINDS[name], SIBLINGS[told]
    path = written(kind, tmp_path / "one", **{told: ours})
    other = written(kind, tmp_path / "two", **{told: another})
    assert refusal(lambda: kind.read(path, {told: ours}))[0] is None
    shutil.copy(other, path)
    if not kind.tensors:
        shutil.copy(files.seal_of(other), files.seal_of(path))
    error, _ = refusal(lambda: kind.read(path, {told: ours}))
    assert error is not None and told in str(error)


def test_only_what_is_about_all_seeds_of_a_run_tells_no_sibling() -> None:
    assert [name for name in SEALED if not KINDS[name].told] == ["database layer", "manifest"]


@pytest.mark.parametrize("name", TABLES)
def test_a_file_without_its_seal_or_with_another_kind_of_seal_is_refused(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    path = written(kind, tmp_path)
    seal = files.seal_of(path)
    content = seal.read_text()
    seal.unlink()
    error, _ = refusal(lambda: kind.read(path, WANTED))
    assert "expected a seal beside it" in str(error) or "not the file" in str(error) or name == "manifest"
    for text in ("", "{}", "[]", "null", "[" * 100_000, content.replace("format", "form"), content[:-2]):
        seal.write_text(text)
        assert refusal(lambda: kind.read(path, WANTED))[0] is not None
    seal.write_text(content)
    if name != "manifest":  # whose own kind is of no file beside it
        by = json.loads(content)["origin"]
        files.write(path, path.read_bytes(), "another kind", made(**by))
        assert "expected" in str(refusal(lambda: kind.read(path, WANTED))[0])


@pytest.mark.parametrize("examples", [FEW, MANY])
@pytest.mark.parametrize("name", SEALED_READERS)
def test_damage_is_refused_or_changes_nothing(name: str, examples: int, tmp_path: Path) -> None:
    kind = READERS[name]
    path = written(kind, tmp_path)
    expected = plain(kind.read(path, WANTED))
    targets = [path, *(path.with_name(name) for name in kind.beside)]
    targets += [] if kind.tensors else [files.seal_of(path)]
    before = {target: target.read_bytes() for target in targets}

    def use(drawn: tuple[int, Any]) -> None:
        target = targets[drawn[0] % len(targets)]
        target.write_bytes(damage(before[target], drawn[1]))
        error, found = refusal(lambda: kind.read(path, WANTED))
        assert error is not None or plain(found) == expected
        target.write_bytes(before[target])

    often(st.tuples(st.integers(0, max(1, len(targets) - 1)), SOME_CHANGES), examples, use)
