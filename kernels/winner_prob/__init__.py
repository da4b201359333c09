"""winner_prob: the chance of each child to be the one best move of its parent."""

from __future__ import annotations

import torch

from probzero.errors import bad
from probzero.kernels.dispatch import takes_triton
from probzero.kernels.winner_prob import reference


def winner_prob(
    values: torch.Tensor, mask: torch.Tensor, temperature: float = 1.0, *, use_triton: bool | None = None
) -> torch.Tensor:
    """Return the weights [n, K] (float32) of the children of n nodes; the equations are in `reference`.

    values       float32 [n, K, 3]  the children's own (win, draw, loss); absent children hold any finite values ≥ 0
    mask         bool    [n, K]     True where there is a child
    temperature  w is proportional to raw^(1/temperature)
    use_triton   force the kernel (True) or the reference (False); by default the device of `values` decides
    """
    if not temperature > 0:
        raise bad("winner_prob", "temperature", "a number above 0", temperature)
    if takes_triton(values, use_triton):
        from probzero.kernels.winner_prob import triton_kernel

        return triton_kernel.winner_prob(values, mask, temperature)
    return reference.winner_prob(values, mask, temperature)
