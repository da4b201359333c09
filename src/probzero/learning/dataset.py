"""Training samples: their arrays, their file format, and the merging of equal positions.

A file is an int32 sample count followed, for each sample, by float32 numbers, everything little-endian, for a game with
planes F·H·W and actions A:

    planes F·H·W | policy A | mask A | value 3 | reward 3 | valid 1 | weight 1        (110 in all as published)

Positions are states everywhere else: here alone they are turned into planes and back.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from probzero import files, wdl
from probzero.errors import ProbZeroError, bad
from probzero.games.base import Game

TOLERANCE = 1e-4  # of probabilities that must sum to 1


@dataclass(frozen=True)
class Samples:
    """What the search says of n positions, each seen by the player to move. All arrays but the first are float32."""

    states: np.ndarray  # [n, W] int64
    policy: np.ndarray  # [n, A] target over the explored moves
    mask: np.ndarray  # [n, A] 1 where a move was explored
    value: np.ndarray  # [n, 3] target in the order of `wdl`; zeros where there is none
    reward: np.ndarray  # [n, 3] target in the order of `wdl`, where valid
    valid: np.ndarray  # [n] 1 where a finished game lies below
    weight: np.ndarray  # [n] visits

    def __len__(self) -> int:
        return len(self.weight)

    def take(self, rows: np.ndarray) -> Samples:
        """Return the samples with these indices."""
        return Samples(*(column.take(rows, axis=0) for column in self.columns()))

    def columns(self) -> tuple[np.ndarray, ...]:
        """Return the seven arrays, in the order above."""
        return tuple(getattr(self, field.name) for field in fields(self))


def concatenate(parts: list[Samples]) -> Samples:
    """Return the samples of all parts (at least one), in order."""
    if len(parts) == 1:
        return parts[0]
    return Samples(*(np.concatenate(column) for column in zip(*(part.columns() for part in parts), strict=True)))


def write_samples(path: str | Path, samples: Samples, game: Game) -> None:
    """Write samples of a game, whole or not at all; refuse what `read_samples` would refuse."""
    _verify(samples, game, path)
    planes = game.encode(samples.states)
    columns = zip((planes, *samples.columns()[1:]), _widths(game), strict=True)
    table = np.concatenate([column.reshape(len(samples), width) for column, width in columns], axis=1)
    with files.replacing(path) as temporary, temporary.open("wb") as out:
        out.write(np.array(len(samples), dtype="<i4").tobytes())
        out.write(table.astype("<f4", copy=False).tobytes())


def read_samples(path: str | Path, game: Game) -> Samples:
    """Read a file of samples of a game, verifying all of it."""
    path = Path(path)
    if not path.is_file():
        raise bad("dataset", path, "a file", "nothing")
    data = path.read_bytes()
    if len(data) < 4:
        raise bad("dataset", path, "a sample count of 4 bytes", f"{len(data)} bytes")
    count = int(np.frombuffer(data, "<i4", count=1)[0])
    widths = _widths(game)
    expected = 4 + 4 * sum(widths) * count
    if count < 0 or len(data) != expected:
        wanted = f"{expected} bytes for {count} samples of {game.identity}" if count >= 0 else "a sample count ≥ 0"
        raise bad("dataset", path, wanted, f"{len(data)} bytes" if count >= 0 else count)
    table = np.frombuffer(data, "<f4", offset=4).reshape(count, sum(widths))
    columns = [np.ascontiguousarray(part, np.float32) for part in np.split(table, np.cumsum(widths)[:-1], axis=1)]
    states = game.decode(columns[0].reshape(count, *game.shape[:3]))
    same = game.encode(states).reshape(columns[0].shape) == columns[0]
    _require(path, "planes", same, columns[0], "the planes of a position")
    samples = Samples(states, *columns[1:-2], *(column[:, 0] for column in columns[-2:]))
    _verify(samples, game, path)
    return samples


def merge(parts: list[Samples]) -> Samples:
    """Merge equal positions of all parts; return them sorted by state. With samples s of one position:

        mask      = union of the masks
        policy_a  ∝ Σ_s∋a weight_s · policy_s,a / Σ_s∋a weight_s        over the samples s that have a in their mask
        value     = Σ_s weight_s · value_s / Σ_s weight_s                over the samples s that have a value
        reward    = the same over the valid samples; valid if any is
        weight    = Σ_s weight_s

    A game that never tried a move says nothing of it, so its zero must not pull the move's share down.
    """
    samples = concatenate(parts)
    if not len(samples):
        return samples
    order = np.lexsort(samples.states.view(np.uint64).T[::-1])
    states = samples.states[order]
    starts = np.flatnonzero(np.r_[True, (states[1:] != states[:-1]).any(axis=1)])
    counts = np.diff(starts, append=len(states))
    shared = counts > 1
    merged = _alone(samples.take(order[starts]))
    if shared.any():
        together = _averaged(samples.take(order[np.repeat(shared, counts)]), counts[shared])
        for column, average in zip(merged.columns(), together.columns(), strict=True):
            column[shared] = average
    return merged


def _alone(samples: Samples) -> Samples:
    """Return the merged form of samples that share their position with no other, as most do."""
    policy = samples.policy * samples.mask
    return replace(samples, policy=_normalised(policy), reward=samples.reward * samples.valid[:, None])


def _averaged(samples: Samples, counts: np.ndarray) -> Samples:
    """Return one sample for each run of counts [k] samples of one position."""
    from scipy.sparse import csr_array  # here, because training mostly finds nothing to merge and starts sooner

    has_value = samples.value.any(axis=1, keepdims=True)
    valid = samples.valid[:, None]
    columns = (
        samples.mask,
        samples.mask * samples.policy,
        has_value,
        has_value * samples.value,
        valid,
        valid * samples.reward,
        np.ones_like(valid),
    )
    weights = samples.weight.astype(np.float64)
    sums = csr_array((weights, np.arange(len(samples)), np.append(0, np.cumsum(counts))))  # [k, n]
    totals = sums @ np.concatenate(columns, axis=1, dtype=np.float64)
    ends = np.cumsum([column.shape[1] for column in columns])[:-1]
    tried, policy, valued, value, validity, reward, weight = np.split(totals, ends, axis=1)
    return Samples(
        states=samples.states[np.cumsum(counts) - counts],
        policy=_normalised(_ratio(policy, tried)),
        mask=tried > 0,
        value=_ratio(value, valued),
        reward=_ratio(reward, validity),
        valid=validity[:, 0] > 0,
        weight=weight[:, 0],
    )


def _widths(game: Game) -> tuple[int, ...]:
    """Return how many numbers each field of a sample holds in a file, in the order of `Samples`."""
    return game.shape.planes * game.shape.squares, game.actions, game.actions, wdl.SIZE, wdl.SIZE, 1, 1


def _normalised(policy: np.ndarray) -> np.ndarray:
    return (policy / policy.sum(axis=1, keepdims=True, dtype=np.float64)).astype(np.float32)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return above / below, 0 where below is 0."""
    return np.divide(above, below, out=np.zeros_like(above), where=np.broadcast_to(below > 0, above.shape))


def _verify(samples: Samples, game: Game, path: str | Path) -> None:
    """Refuse samples that cannot be right, naming the file, the first such sample and the field."""
    for field, column, width in zip(fields(samples), samples.columns(), (game.words, *_widths(game)[1:]), strict=True):
        shape = (len(samples), width) if field.name not in ("valid", "weight") else (len(samples),)
        if column.shape != shape:
            raise bad("dataset", f"{path}: {field.name}", f"shape {shape}", column.shape)
        _require(path, field.name, np.isfinite(column), column, "a finite number")
    states, policy, mask, value, reward, valid, weight = samples.columns()
    try:
        game.check_states(states)
    except ProbZeroError as error:
        raise ProbZeroError(f"dataset: {path}: states: {error}") from None
    _require(path, "mask", (mask == 0) | (mask == 1), mask, "0 or 1")
    _require(path, "mask", mask.max(axis=1) > 0, mask.sum(axis=1), "an explored move")
    _require(path, "policy", policy >= 0, policy, "a number ≥ 0")
    _require(path, "policy", (policy == 0) | (mask == 1), policy, "0 for moves outside the mask")
    _require(path, "policy", *_sums_to_one(policy))
    _require(path, "value", value >= 0, value, "a number ≥ 0")
    holds, sums, expected = _sums_to_one(value)
    _require(path, "value", holds | (value == 0).all(axis=1), sums, f"{expected}, or zeros for none")
    _require(path, "valid", (valid == 0) | (valid == 1), valid, "0 or 1")
    _require(path, "reward", (reward >= 0) | (valid == 0)[:, None], reward, "a number ≥ 0 where valid")
    holds, sums, expected = _sums_to_one(reward)
    _require(path, "reward", holds | (valid == 0), sums, f"{expected} where valid")
    _require(path, "weight", weight > 0, weight, "a number > 0")


def _sums_to_one(column: np.ndarray) -> tuple[np.ndarray, np.ndarray, str]:
    sums = column.sum(axis=1, dtype=np.float64)
    return np.abs(sums - 1) <= TOLERANCE, sums, "a sum of 1"


def _require(path: str | Path, field: str, holds: np.ndarray, found: np.ndarray, expected: str) -> None:
    """Raise the error for the first sample where `holds` [n] or [n, k] fails; `found` is shown at that place."""
    if not holds.all():
        place = tuple(int(index[0]) for index in np.nonzero(~holds))
        raise bad("dataset", f"{path}: sample {place[0]}: {field}", expected, f"{found[place]:g}")
