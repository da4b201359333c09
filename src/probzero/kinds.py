"""Two kinds of arrays, numpy's and torch's, where they spell one thing differently.

On a processor searches, self-play, matches and measurements go over numpy arrays and import no torch; on a GPU the same
code goes over tensors. What it gets decides: every function gives arrays of the kind, and on the device, that it got.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any  # a numpy array or a torch tensor


def is_tensor(array: Array) -> bool:
    """Return whether an array is torch's."""
    return not isinstance(array, (np.ndarray, np.generic))


def space(array: Array) -> Any:
    """Return the library whose functions take the array: those that both have by the same name."""
    if not is_tensor(array):
        return np
    import torch

    return torch


def cast(array: Array, kind: str) -> Array:
    """Return the array with numbers of another type."""
    if is_tensor(array):
        return array.to(getattr(space(array), kind))
    return array.astype(np.dtype(kind), copy=False)


def pick(array: Array, columns: Array) -> Array:
    """Return from each row of an array [n, K] the numbers at its columns [n, k]."""
    return array.gather(1, columns) if is_tensor(array) else np.take_along_axis(array, columns, 1)


def repeat(array: Array, times: Array) -> Array:
    """Return each entry of an array [n] as often as times [n] say, side by side."""
    return array.repeat_interleave(times) if is_tensor(array) else array.repeat(times)


def tally(counts: Array, places: Array) -> None:
    """Add 1 to counts [k] at each of places [n], which may stand there several times."""
    if is_tensor(counts):
        counts.index_add_(0, places, space(counts).ones_like(places))
    else:
        counts += np.bincount(places, minlength=len(counts))


def count_up(like: Array, *bounds: int) -> Array:
    """Return `arange(*bounds)` of the kind and on the device of another array."""
    return space(like).arange(*bounds, device=like.device)


def plain(array: Array) -> np.ndarray:
    """Return a numpy array: of a tensor in the processor's memory the same memory, of others a copy."""
    return array.detach().cpu().numpy() if is_tensor(array) else np.asarray(array)


def like(array: np.ndarray, other: Array) -> Array:
    """Return a numpy array as the kind, and on the device, of another."""
    return space(other).from_numpy(array).to(other.device) if is_tensor(other) else array
