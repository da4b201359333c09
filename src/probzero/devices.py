"""Where to compute: the processor, which needs no torch, so that none is imported for it, or a GPU that torch knows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from probzero.drivers import has_driver
from probzero.errors import bad

CPU = "cpu"


def resolve_device(name: str, threads: int | None = None) -> Any:
    """Return the device of that name, or fail if this machine has none such; auto is CUDA where there is any.

    The processor is the word `CPU`, a GPU a device of torch's, which then takes so many threads of the processor."""
    if name == CPU or (name == "auto" and not has_driver()):
        return CPU
    import torch

    present = torch.cuda.is_available()
    if name == "cuda" and not present:
        raise bad("device", name, "a CUDA device of this machine", "none")
    if threads is not None:
        torch.set_num_threads(threads)
    return torch.device("cuda") if present else CPU


@contextmanager
def one_thread() -> Iterator[None]:
    """Leave what torch computes inside to one thread of the processor: more share sums in ways of their own."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def on(array: np.ndarray, device: Any) -> Any:
    """Return a numpy array as what computes on a device takes: itself on a processor, else a tensor there."""
    if str(device) == CPU:
        return array
    import torch

    return torch.from_numpy(array).to(device)
