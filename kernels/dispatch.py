"""The one rule that says whether an operation runs as a Triton kernel or as its plain torch reference."""

from __future__ import annotations

import torch


def takes_triton(tensor: torch.Tensor, use_triton: bool | None) -> bool:
    """Return `use_triton` where it is given (tests force a path with it); else True for a CUDA or HIP tensor."""
    return tensor.is_cuda if use_triton is None else use_triton
