"""Training samples: their arrays, their file, and the merging of equal positions.

Policies are by legal move, not by action: a game may have thousands of actions and some forty moves at a time. Column k
of a position is its k-th legal move by rising action; rows with fewer moves are filled up with zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from probzero import origin, tensor_files, wdl
from probzero.errors import ProbZeroError, bad
from probzero.games.base import Game, count_moves
from probzero.origin import Origin

KIND = "dataset"
TOLERANCE = 1e-4  # of probabilities that must sum to 1
STORED = {"mask": np.uint8, "valid": np.uint8}  # types in a file, where they are others than in memory


@dataclass(frozen=True)
class Samples:
    """What the search says of n positions, each seen by the player to move. All arrays but the first are float32."""

    states: np.ndarray  # [n, W] int64
    policy: np.ndarray  # [n, M] target over the explored moves
    mask: np.ndarray  # [n, M] 1 where a move was explored
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

    def widened(self, moves: int) -> Samples:
        """Return the samples with room for so many moves; columns that are cut off must be empty."""
        return replace(self, policy=_fitted(self.policy, moves), mask=_fitted(self.mask, moves))


def concatenate(parts: Sequence[Samples]) -> Samples:
    """Return the samples of all parts (at least one), in order."""
    if len(parts) == 1:
        return parts[0]
    widest = max(part.policy.shape[1] for part in parts)
    columns = zip(*(part.widened(widest).columns() for part in parts), strict=True)
    return Samples(*(np.concatenate(column) for column in columns))


def by_action(column: np.ndarray, moves: np.ndarray, actions: int) -> np.ndarray:
    """Return a column by move [n, M], 0 where there is no move, as one by action [n, A]; moves as of `list_moves`."""
    wide = np.zeros((len(column), actions), dtype=column.dtype)
    np.add.at(wide, (np.arange(len(column))[:, None], moves), column)  # rows are filled up with zeros
    return wide


def write_samples(path: str | Path, samples: Samples, game: Game, made: Origin) -> None:
    """Write samples of a game, whole or not at all; refuse what `read_samples` would refuse."""
    moves = _moves(samples.states, game, path)
    widest = int(moves.max(initial=0))
    lost = samples.mask[:, widest:].any(axis=1)
    if lost.any():
        raise bad(KIND, f"{path}: sample {int(lost.argmax())}: mask", f"at most {widest} moves", "more")
    samples = samples.widened(widest)
    _verify(samples, moves, path)
    named = zip((field.name for field in fields(samples)), samples.columns(), strict=True)
    arrays = {name: column.astype(STORED.get(name, column.dtype)) for name, column in named}
    tensor_files.save(path, KIND, arrays, game, made, {})


def read_samples(path: str | Path, game: Game, **wanted: Any) -> Samples:
    """Read a file of samples of a game, verifying all of it; `wanted` is what its origin must be."""
    return read_with_origin(path, game, **wanted)[0]


def read_with_origin(path: str | Path, game: Game, **wanted: Any) -> tuple[Samples, Origin]:
    """Read a file of samples and where they come from."""
    file = tensor_files.load(path, KIND, game)
    origin.expect(file.made, KIND, path, **wanted)
    return _samples(path, file), file.made


def read_any(path: str | Path) -> tuple[Samples, Game]:
    """Read a file of samples of whatever game it names."""
    file = tensor_files.load(path, KIND)
    return _samples(path, file), file.game


def _samples(path: str | Path, file: tensor_files.TensorFile) -> Samples:
    game = file.game
    states = file.arrays.get("states")
    if states is None or states.dtype != np.int64 or states.ndim != 2 or states.shape[1] != game.words:
        found = "none" if states is None else f"{states.dtype} of shape {states.shape}"
        raise bad(KIND, f"{path}: states", f"int64 of shape (n, {game.words})", found)
    moves = _moves(states, game, path)
    tensor_files.check_arrays(path, KIND, file.arrays, _stored_arrays(len(states), int(moves.max(initial=0)), game))
    columns = (file.arrays[field.name] for field in fields(Samples))
    samples = Samples(*(column if column.dtype == np.int64 else column.astype(np.float32) for column in columns))
    _verify(samples, moves, path)
    return samples


def verify(samples: Samples, game: Game, path: str | Path) -> None:
    """Refuse samples of a game that cannot be right; `path` is what errors call them."""
    _verify(samples, _moves(samples.states, game, path), path)


def merge(parts: Sequence[Samples]) -> Samples:
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


def _fitted(column: np.ndarray, width: int) -> np.ndarray:
    """Return a column [n, M] cut or filled up with zeros to [n, width]."""
    if column.shape[1] >= width:
        return column[:, :width]
    return np.pad(column, ((0, 0), (0, width - column.shape[1])))


def _normalised(policy: np.ndarray) -> np.ndarray:
    return (policy / policy.sum(axis=1, keepdims=True, dtype=np.float64)).astype(np.float32)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return above / below, 0 where below is 0."""
    return np.divide(above, below, out=np.zeros_like(above), where=np.broadcast_to(below > 0, above.shape))


def _stored_arrays(count: int, moves: int, game: Game) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Return shape and type of every array of a file."""
    widths = {
        "states": (game.words,),
        "policy": (moves,),
        "mask": (moves,),
        "value": (wdl.SIZE,),
        "reward": (wdl.SIZE,),
    }
    types = {"states": np.int64, **STORED}
    return {
        field.name: ((count, *widths.get(field.name, ())), types.get(field.name, np.float32))
        for field in fields(Samples)
    }


def _moves(states: np.ndarray, game: Game, path: str | Path) -> np.ndarray:
    """Return how many legal moves [n] positions have; refuse what is none."""
    if states.ndim != 2 or states.shape[1] != game.words:
        raise bad(KIND, f"{path}: states", f"shape (n, {game.words})", states.shape)
    try:
        game.check_states(states)
    except ProbZeroError as error:
        raise ProbZeroError(f"{KIND}: {path}: states: {error}") from None
    return count_moves(game, states)


def _verify(samples: Samples, moves: np.ndarray, path: str | Path) -> None:
    """Refuse samples that cannot be right, naming the file, the first such sample and the field.

    moves [n] are how many legal moves the positions have."""
    for field, column in zip(fields(samples), samples.columns(), strict=True):
        if len(column) != len(samples):
            raise bad(KIND, f"{path}: {field.name}", f"{len(samples)} rows", len(column))
        require(path, field.name, np.isfinite(column), column, "a finite number")
    _, policy, mask, value, reward, valid, weight = samples.columns()
    real = np.arange(mask.shape[1]) < moves[:, None]
    require(path, "mask", (mask == 0) | (mask == 1), mask, "0 or 1")
    require(path, "mask", (mask == 0) | real, mask, "0 beyond the legal moves")
    require(path, "mask", mask.max(axis=1, initial=0) > 0, mask.sum(axis=1), "an explored move")
    require(path, "policy", policy >= 0, policy, "a number ≥ 0")
    require(path, "policy", (policy == 0) | (mask == 1), policy, "0 for moves outside the mask")
    require(path, "policy", *_sums_to_one(policy))
    require(path, "value", value >= 0, value, "a number ≥ 0")
    holds, sums, expected = _sums_to_one(value)
    require(path, "value", holds | (value == 0).all(axis=1), sums, f"{expected}, or zeros for none")
    require(path, "valid", (valid == 0) | (valid == 1), valid, "0 or 1")
    require(path, "reward", (reward >= 0) | (valid == 0)[:, None], reward, "a number ≥ 0 where valid")
    holds, sums, expected = _sums_to_one(reward)
    require(path, "reward", holds | (valid == 0), sums, f"{expected} where valid")
    require(path, "weight", weight > 0, weight, "a number > 0")


def _sums_to_one(column: np.ndarray) -> tuple[np.ndarray, np.ndarray, str]:
    sums = column.sum(axis=1, dtype=np.float64)
    return np.abs(sums - 1) <= TOLERANCE, sums, "a sum of 1"


def require(path: str | Path, field: str, holds: np.ndarray, found: np.ndarray, expected: str) -> None:
    """Raise the error for the first sample where `holds` [n] or [n, k] fails; `found` is shown at that place."""
    if not holds.all():
        place = tuple(int(index[0]) for index in np.nonzero(~holds))
        raise bad(KIND, f"{path}: sample {place[0]}: {field}", expected, f"{found[place]:g}")
