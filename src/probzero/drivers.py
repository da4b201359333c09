"""Whether this machine has what a GPU needs, asked without any library: planning wants to know it, too."""

from __future__ import annotations

import ctypes
from functools import cache


@cache
def has_driver() -> bool:
    """Return whether the machine has what torch's CUDA needs; asking torch itself takes a second."""
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False
