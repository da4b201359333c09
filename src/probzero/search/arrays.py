"""Large arrays that cost nothing until they are used."""

from __future__ import annotations

import mmap
from math import prod

import numpy as np
import torch

LARGE = 1 << 20  # bytes from which on an array has memory of its own


def zeros(*shape: int, dtype: torch.dtype = torch.float32, device: torch.device) -> torch.Tensor:
    """Return zeros of that shape; on a processor a page of a large array takes memory when it is first touched.

    torch.zeros writes all of it, though a tree rarely fills its capacity; so does any allocator that hands out memory
    used before. Memory mapped anew is zero without being written.
    """
    if device.type != "cpu" or prod(shape) * dtype.itemsize < LARGE:
        return torch.zeros(*shape, dtype=dtype, device=device)
    numbers = np.dtype(str(dtype).removeprefix("torch."))
    return torch.from_numpy(np.frombuffer(mmap.mmap(-1, prod(shape) * numbers.itemsize), numbers).reshape(shape))
