"""The GPU of this machine, or where there is none a pretended one, whose kernels Triton's interpreter does."""

from __future__ import annotations

import os

import torch

REAL = torch.cuda.is_available() and os.environ.get("TRITON_INTERPRET", "0") in ("", "0")
if REAL:
    DEVICE = torch.device("cuda")
else:
    import interpreted  # noqa: F401 (before anything that imports triton)
    from pretend_device import DEVICE  # noqa: F401
