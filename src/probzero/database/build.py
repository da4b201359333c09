"""Making a database: forward to find the positions of each layer, backward to solve them.

Forward, slabs of a layer are expanded one by one: what follows is sorted and freed of repetitions, slab by slab and
then all together, by ranges of keys. Backward, a layer is solved by look-up in the one after it, through an index of
the keys' leading bits. A layer that is on the disk is not made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from probzero.database.form import Form
from probzero.database.layers import KEYS, LAYER, describe, is_there, path_of, read_layer, write_layer
from probzero.errors import bad

SLAB = 1 << 21  # positions at a time
RANGE = 1 << 24  # keys that are brought together at a time
Item = TypeVar("Item")
Made = TypeVar("Made")
Say = Callable[..., None]


def build(form: Form, folder: Path, threads: int, say: Say) -> list[dict[str, Any]]:
    """Make what is missing of a database; return the descriptions of its layers, the first one first."""
    first = int(form.game.phase(form.game.start()[None])[0])
    last = _generate(form, folder, first, threads, say)
    for phase in range(last, first - 1, -1):
        if not is_there(folder, LAYER, phase):
            about = _solve(form, folder, phase, phase == last, threads)
            say(f"solved {phase}", f"{about['positions']:,} positions", f"{about['wins']:,} won by the player to move")
        path = path_of(folder, KEYS, phase)
        for left in (describe(path), path):
            left.unlink(missing_ok=True)
    return [read_layer(folder, form.game, LAYER, phase).about for phase in range(first, last + 1)]


def keys_at(form: Form, folder: Path, phase: int) -> np.ndarray:
    """Return the sorted keys of a layer that was found."""
    return read_layer(folder, form.game, LAYER if is_there(folder, LAYER, phase) else KEYS, phase).keys


def _generate(form: Form, folder: Path, first: int, threads: int, say: Say) -> int:
    """Find the positions of all layers; return the phase of the last one."""
    if not is_there(folder, KEYS, first) and not is_there(folder, LAYER, first):
        start = _with_passes(form, form.keys(form.game.start()[None]))
        write_layer(folder, form.game, KEYS, first, [np.unique(np.concatenate(start))])
    phase = first
    while True:
        if not is_there(folder, KEYS, phase + 1) and not is_there(folder, LAYER, phase + 1):
            runs = _runs(form, keys_at(form, folder, phase), threads)
            pieces = _together(form, runs, threads)
            try:
                begin = next(pieces)
            except StopIteration:
                return phase
            if form.game.phase(form.states(begin[:1]))[0] != phase + 1:
                raise bad("database", form.game.identity, "moves that raise the phase by one", "others")
            about = write_layer(folder, form.game, KEYS, phase + 1, chain([begin], pieces))
            say(f"found {phase + 1}", f"{about['positions']:,} positions")
        phase += 1


def in_threads(threads: int, work: Callable[[Item], Made], items: Sequence[Item]) -> Iterator[Made]:
    """Yield what `work` makes of the items, in their order."""
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, items)


def slabs(keys: np.ndarray) -> list[slice]:
    return [slice(begin, min(begin + SLAB, len(keys))) for begin in range(0, len(keys), SLAB)]


def _runs(form: Form, keys: np.ndarray, threads: int) -> list[np.ndarray]:
    """Return what follows in the next layer from a layer's keys, as sorted arrays that may overlap."""

    def follow(slab: slice) -> list[np.ndarray]:
        out = np.empty((slab.stop - slab.start) * form.game.most_moves, dtype=np.int64)
        count = form.loops.expand(keys[slab], form.turned, out)
        if count == form.loops.UNKNOWN:
            raise bad("database", form.game.identity, "moves that lead on, or are forced", "others")
        out[:count].sort()
        return _with_passes(form, out[: form.loops.unique(out[:count])].copy())

    return list(chain.from_iterable(in_threads(threads, follow, slabs(keys))))


def _with_passes(form: Form, keys: np.ndarray) -> list[np.ndarray]:
    """Return the keys and, sorted, those that follow from them within their layer."""
    out = np.empty(len(keys), dtype=np.int64)
    more = out[: form.loops.passed(keys, form.turned, out)].copy()
    more.sort()
    return [keys, more]


def _together(form: Form, runs: list[np.ndarray], threads: int) -> Iterator[np.ndarray]:
    """Yield the distinct keys of sorted runs in rising order, part by part."""
    total = sum(map(len, runs))
    if not total:
        return
    sample = np.sort(np.concatenate([run[:: max(1, total >> 20)] for run in runs]))
    cuts = np.unique(sample[np.linspace(0, len(sample) - 1, total // RANGE + 2).astype(int)[1:-1]])
    bounds = np.stack([np.concatenate([[0], np.searchsorted(run, cuts), [len(run)]]) for run in runs])

    def join(place: int) -> np.ndarray:
        keys = np.concatenate([run[bound[place] : bound[place + 1]] for run, bound in zip(runs, bounds, strict=True)])
        keys.sort()
        return keys[: form.loops.unique(keys)].copy()

    for part in in_threads(threads, join, range(len(cuts) + 1)):
        if len(part):
            yield part


def index_of(form: Form, keys: np.ndarray) -> tuple[np.ndarray, int]:
    """Return index [m + 1] and shift for `fill_index`: about as many places as a quarter of the keys."""
    most = int(keys[-1]) if len(keys) else 0
    shift = max(0, most.bit_length() - max(1, len(keys) // 2).bit_length())
    index = np.empty((most >> shift) + 2, dtype=np.uint32)
    form.loops.fill_index(keys, shift, index)
    return index, shift


def follow_up(
    form: Form, phase: int, later: np.ndarray, known: np.ndarray, threads: int,
    settle: Callable[[slice, np.ndarray, np.ndarray], Made], keys: np.ndarray,
) -> list[Made]:  # fmt: skip
    """Return what `settle` makes of each slab of a layer's keys, of where its rows begin and of what is known of them.

    `known` [m] belongs to the keys of the layer behind, `later` [m]."""
    index, shift = index_of(form, later)

    def work(slab: slice) -> Made:
        begins = np.empty(slab.stop - slab.start + 1, dtype=np.int64)
        asked = np.empty((slab.stop - slab.start) * form.game.most_moves, dtype=np.int64)
        form.loops.followers(keys[slab], form.turned, asked, begins)
        asked = asked[: begins[-1]]
        worth = np.empty(len(asked), dtype=known.dtype)
        if form.loops.answer(asked, later, known, index, shift, worth) != form.loops.UNKNOWN:
            raise bad("database", f"layer {phase}", "all that follows in the next layer", "a gap")
        return settle(slab, begins, worth)

    return list(in_threads(threads, work, slabs(keys)))


def _solve(form: Form, folder: Path, phase: int, last: bool, threads: int) -> dict[str, Any]:
    """Solve a layer by look-up in the one after it, write it and return its description."""
    later, values = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int8)
    if not last:  # copied, because look-ups are faster in memory of large pages
        later, values = (part.copy() for part in read_layer(folder, form.game, LAYER, phase + 1)[:2])
    keys = keys_at(form, folder, phase)
    solved = np.empty(len(keys), dtype=np.int8)

    def settle(slab: slice, begins: np.ndarray, worth: np.ndarray) -> np.ndarray:
        counts = np.zeros(len(form.loops.COUNTS), dtype=np.int64)
        form.loops.settle(keys[slab], begins, worth, solved[slab], counts)
        return counts

    counts = np.sum(follow_up(form, phase, later, values, threads, settle, keys), axis=0)
    named = {name: int(count) for name, count in zip(form.loops.COUNTS, counts, strict=True)}
    total = int(solved.sum(dtype=np.int64))
    return write_layer(folder, form.game, LAYER, phase, [keys, solved], **named, sum_of_values=total)
