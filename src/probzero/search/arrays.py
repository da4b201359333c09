"""Large arrays that cost nothing until they are used."""

from __future__ import annotations

import numpy as np
import torch


def zeros(*shape: int, dtype: torch.dtype = torch.float32, device: torch.device) -> torch.Tensor:
    """Return zeros of that shape. On a processor the operating system hands out each page when it is first touched:
    torch.zeros would write all of it, though a tree rarely fills its capacity.
    """
    if device.type != "cpu":
        return torch.zeros(*shape, dtype=dtype, device=device)
    return torch.from_numpy(np.zeros(shape, dtype=str(dtype).removeprefix("torch.")))
