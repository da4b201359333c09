"""Hash tables: every key has one entry, however the slots grow meanwhile and whatever the hashes are."""

from __future__ import annotations

import interpreted  # noqa: F401 (before anything that imports triton)
import pytest
import torch
from searching import FORMS, INTERPRETED, backend_of

from probzero import games as known_games
from probzero.errors import ProbZeroError
from probzero.kernels.place.slots import EMPTY
from probzero.random_keys import mix
from probzero.search import key_table
from probzero.search.key_table import KeyTable

RULES = known_games.make("othello", size=4)
# Hashes [n] of keys [n, 2]. Their upper bits say where a search begins. Where these are equal they tell no keys apart,
# and searches that begin at the last slot go on at the first.
HASHES = {
    "mixed": lambda keys: mix(*keys.unbind(1)),
    "all at the end": lambda keys: torch.full((len(keys),), -1),
    "at both ends": lambda keys: -(keys[:, 0] % 2),
    "four places": lambda keys: mix(*keys.unbind(1)) >> 62 << 62,
}

every_form = pytest.mark.parametrize("form", [*FORMS, INTERPRETED])
every_hash = pytest.mark.parametrize("hashes", HASHES.values(), ids=HASHES)


def filled(form: str, hashes: object, capacity: int, calls: int = 30) -> tuple[KeyTable, list[torch.Tensor]]:
    """Enter keys by calls of 0 to 58, many more than once; check every answer against a dictionary."""
    table = KeyTable(backend_of(RULES, form), capacity, 2, "capacity")
    known: dict[tuple[int, ...], int] = {}
    draw, found = torch.Generator().manual_seed(3), []
    for call in range(0, calls, 6 if form == INTERPRETED else 1):  # the interpreter is slow
        keys = torch.randint(-20, 20, (2 * call, 2), generator=draw)
        before = table.count
        entries, added = table.insert(keys, hashes(keys))
        rows = [tuple(row) for row in keys.tolist()]
        new = [row for row in rows if row not in known]
        assert table.count == len(known) + len(set(new))
        assert entries[added].tolist() == list(range(before, table.count))
        for row, entry in zip(rows, entries.tolist(), strict=True):
            assert known.setdefault(row, entry) == entry < table.count
        assert int((table.slots != EMPTY).sum()) == table.count <= len(table.slots) // 2
        found.append(entries)
    assert table.keys[: table.count].tolist() == [list(row) for row in sorted(known, key=known.__getitem__)]
    return table, found


@every_form
@every_hash
def test_every_key_has_one_entry_while_the_slots_grow(
    form: str, hashes: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_table, "FIRST_SLOTS", 16)
    table, _ = filled(form, hashes, 2000)
    assert (100 if form == INTERPRETED else 500) < table.count < len(table.slots) // 2
    assert len(table.slots) // 2 == (1024 if form == "compiled" else 2048)  # elsewhere all are there at once


@every_hash
def test_compiled_entries_are_numbered_alike_however_many_slots_there_are(
    hashes: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbered = []
    for first in (16, 1 << 14):
        monkeypatch.setattr(key_table, "FIRST_SLOTS", first)
        numbered.append(torch.cat(filled("compiled", hashes, 20_000)[1]))
    assert torch.equal(*numbered)


@every_form
def test_slots_never_outgrow_the_capacity_and_a_full_table_says_so(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_table, "FIRST_SLOTS", 16)
    table = KeyTable(backend_of(RULES, form), 40, 1, "capacity")
    keys = torch.arange(40)[:, None]
    for _ in range(3):
        assert sorted(table.insert(keys, mix(keys[:, 0]))[0].tolist()) == list(range(40))
    assert len(table.slots) == 128
    with pytest.raises(ProbZeroError, match="capacity: expected at most 40 positions, found 41 needed"):
        table.insert(keys[:1] - 1, mix(keys[:1, 0] - 1))


@every_form
def test_what_was_cleared_is_forgotten(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_table, "FIRST_SLOTS", 16)
    table = KeyTable(backend_of(RULES, form), 1000, 1, "capacity")
    keys = torch.arange(300)[:, None]
    table.insert(keys, mix(keys[:, 0]))
    slots = len(table.slots)
    table.clear()
    assert table.count == 0 and not table.slots.any()
    assert [slots, len(table.slots)] == ([1024, 16] if form == "compiled" else [2048, 2048])
    entries, added = table.insert(keys.flip(0), mix(keys.flip(0)[:, 0]))
    assert sorted(entries.tolist()) == sorted(added.tolist()) == list(range(300))
    assert torch.equal(table.keys[entries], keys.flip(0))


@every_form
def test_entries_of_keys_that_nobody_counts_are_the_same_until_the_host_asks(form: str) -> None:
    table = KeyTable(backend_of(RULES, form), 50, 1, "capacity")
    keys = torch.tensor([7, 3, 7, 9, 3])[:, None]
    assert table.enter(keys, mix(keys[:, 0])).tolist() == [0, 1, 0, 2, 1]
    assert table.enter(keys.flip(0), mix(keys.flip(0)[:, 0])).tolist() == [1, 2, 0, 1, 0]
    table.settle()
    assert table.count == 3 and table.keys[:3, 0].tolist() == [7, 3, 9]


@pytest.mark.parametrize("form", ["tensor", INTERPRETED])
@pytest.mark.parametrize("many", [51, 200], ids=["more than the capacity", "more than the slots"])
def test_what_does_not_fit_on_a_device_is_refused_when_the_host_asks(form: str, many: int) -> None:
    table = KeyTable(backend_of(RULES, form), 50, 1, "capacity")
    keys = torch.arange(many)[:, None]
    entries = table.enter(keys, mix(keys[:, 0]))
    assert ((entries >= 0) & (entries < 50)).all()
    with pytest.raises(ProbZeroError, match=r"capacity: expected at most 50 positions, found \d+ needed"):
        table.settle()
