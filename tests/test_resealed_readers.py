"""Damage to every kind of file whose checksum was made right again: refused in plain words, or read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from fuzzing import ARRAYS, PLAIN, SOME_CHANGES, damage, often, refusal
from hypothesis import strategies as st
from other_readers import READERS
from sealed import rearrange, redescribe, reseal
from written_kinds import FEW, MANY, TENSORS, WANTED, written

pytestmark = pytest.mark.usefixtures("one_thread", "quick_writing")


@pytest.mark.parametrize("examples", [FEW, MANY])
@pytest.mark.parametrize("name", [name for name in READERS if not READERS[name].tensors])
def test_damage_that_is_rightly_sealed_is_refused_or_read(name: str, examples: int, tmp_path: Path) -> None:
    kind = READERS[name]
    path = written(kind, tmp_path)
    before = path.read_bytes()
    assert refusal(lambda: kind.read(path, WANTED))[0] is None

    def use(changes: Any) -> None:
        data = damage(before, changes)
        if kind.sealed:
            reseal(path, lambda _: data)
        else:
            path.write_bytes(data)
        refusal(lambda: kind.read(path, WANTED))

    often(SOME_CHANGES, examples, use)


@pytest.mark.parametrize("examples", [FEW, MANY])
@pytest.mark.parametrize("name", TENSORS)
def test_tensors_that_are_wrong_but_rightly_signed_are_refused_or_read(
    name: str, examples: int, tmp_path: Path
) -> None:
    kind = READERS[name]
    path = written(kind, tmp_path)
    before = path.read_bytes()
    assert refusal(lambda: kind.read(path, WANTED))[0] is None
    arrays = sorted(kind_arrays(path))
    bits = st.tuples(st.sampled_from(arrays), SOME_CHANGES)
    others = st.tuples(st.sampled_from([*arrays, "another"]), ARRAYS)
    entries = st.tuples(st.sampled_from(["format", "kind", "game", "game_version", "origin", "network", "more"]), PLAIN)

    def use(drawn: tuple[str, Any]) -> None:
        path.write_bytes(before)
        name, change = drawn
        if isinstance(change, np.ndarray):
            rearrange(path, **{name: change})
        elif name in arrays and isinstance(change, list) and change and callable(change[0]):
            array = kind_arrays(path)[name]
            size = array.nbytes
            data = damage(array.tobytes(), change)[:size].ljust(size, b"\0")
            rearrange(path, **{name: np.frombuffer(data, array.dtype).reshape(array.shape)})
        else:
            redescribe(path, **{name: change})
        refusal(lambda: kind.read(path, WANTED))

    often(st.one_of(bits, others, entries), examples, use)


def kind_arrays(path: Path) -> dict[str, np.ndarray]:
    return safetensors.numpy.load_file(path)
