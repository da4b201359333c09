"""The 3×3 convolution of the training form, as products of tensors; see `winograd`."""

from __future__ import annotations

import math
from functools import cache

import torch
from torch import Tensor, nn

from probzero.games.base import Shape
from probzero.network import winograd


class Convolution(nn.Module):
    """3×3 convolution of whole boards, [H·W, B, I] → [H·W, B, O], zeros around the board.

    It has no bias: the batch norm that follows has one.
    """

    def __init__(self, shape: Shape, inputs: int, outputs: int) -> None:
        super().__init__()
        self.height, self.width = shape.height, shape.width
        self.weight = nn.Parameter(torch.empty(outputs, inputs, winograd.TAPS, winograd.TAPS))
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))

    def forward(self, x: Tensor) -> Tensor:
        squares, batch, inputs = x.shape
        evaluate, kernels, interpolate = transforms(self.height, self.width, x.device, x.dtype)
        values = (evaluate @ x.view(squares, -1)).view(-1, batch, inputs)
        weights = (kernels @ self.weight.flatten(2).permute(2, 1, 0).flatten(1)).view(len(kernels), inputs, -1)
        products = values @ weights
        return (interpolate @ products.view(len(products), -1)).view(squares, batch, -1)


@cache
def transforms(height: int, width: int, device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Return `winograd.transforms` as tensors."""
    with torch.inference_mode(False):  # or gradients could not flow through them
        matrices = (torch.tensor(matrix, dtype=dtype, device=device) for matrix in winograd.transforms(height, width))
        inputs, kernels, outputs = matrices
    return inputs, kernels, outputs
