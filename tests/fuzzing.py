"""Damage to files: cut, flipped, emptied, repeated, replaced. What reads them refuses cleanly or is not affected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from probzero.errors import ProbZeroError

Change = Callable[[bytes], bytes]
Read = Callable[[], Any]


def _at(data: bytes, where: float) -> int:
    return min(int(where * len(data)), max(0, len(data) - 1))


def _flip(where: float, bit: int) -> Change:
    def change(data: bytes) -> bytes:
        place = _at(data, where)
        return data[:place] + bytes([data[place] ^ (1 << bit)]) + data[place + 1 :] if data else data

    return change


def _replace(where: float, length: int, new: bytes) -> Change:
    return lambda data: data[: _at(data, where)] + new + data[_at(data, where) + length :]


def _repeat(start: float, end: float) -> Change:
    return lambda data: data[: _at(data, end)] + data[_at(data, start) :]


def _swap_lines(one: float, other: float) -> Change:
    def change(data: bytes) -> bytes:
        lines = data.split(b"\n")
        first, second = (min(int(where * len(lines)), len(lines) - 1) for where in (one, other))
        lines[first], lines[second] = lines[second], lines[first]
        return b"\n".join(lines)

    return change


PLACE = st.floats(0, 1, exclude_max=True)
TOKENS = [
    b"", b"\n", b"\r", b",", b"-1", b"0", b"1", b"nan", b"NaN", b"Infinity", b"1e999", b'"', b"'", b"{", b"}", b"[",
    b"[" * 5000, b"\x00", b"\xff", b"9" * 30, b"9" * 5000, b"null", b"true", b"a1 ", b": ", b"  ", b"&a ", b"*a", b"!!",
    b"\xe2\x80\xa8",
]  # fmt: skip
CHANGES: st.SearchStrategy[Change] = st.one_of(
    st.builds(_flip, PLACE, st.integers(0, 7)),
    st.builds(_replace, PLACE, st.integers(0, 12), st.one_of(st.sampled_from(TOKENS), st.binary(max_size=8))),
    st.builds(lambda where: lambda data: data[: _at(data, where)], PLACE),  # cut
    st.builds(lambda where: lambda data: data[_at(data, where) :], PLACE),  # the beginning lost
    st.builds(_repeat, PLACE, PLACE),
    st.builds(_swap_lines, PLACE, PLACE),
    st.just(lambda data: b""),
)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)
ARRAYS = st.builds(
    lambda shape, number, kind: np.full(shape, number, dtype=np.float64).astype(kind, casting="unsafe"),
    st.lists(st.integers(0, 3), max_size=3),
    st.sampled_from([0, 1, -1, 0.5, 2.0**20]),
    st.sampled_from(["int64", "float32", "uint8", "float64", "int32"]),
)


def damage(data: bytes, changes: list[Change]) -> bytes:
    for change in changes:
        data = change(data)
    return data


def refusal(read: Read) -> tuple[ProbZeroError | None, Any]:
    """Return the refusal, or None and what was read; whatever else is raised is a fault of the reader."""
    try:
        return None, read()
    except ProbZeroError as error:
        assert str(error) and "\n" not in str(error), f"a refusal is one line, not {error}"
        return error, None


def often(strategy: st.SearchStrategy[Any], examples: int, use: Callable[[Any], None]) -> None:
    """Use so many inputs; the same ones in every run."""
    quiet = settings(
        max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True
    )
    quiet(given(strategy)(lambda drawn: use(drawn)))()


SOME_CHANGES = st.lists(CHANGES, min_size=1, max_size=3)
