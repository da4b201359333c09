"""3×3 convolutions of whole N×N boards by matrix products (Winograd 1980), with fewer multiplications.

Along one axis, a row x of N squares with zeros around it and a kernel k of three weights give

    y_i = Σ_m k_m · x_{i+m−1},   i = 0 … N − 1,

which are coefficients of a product of two polynomials, x(z) · k(z) with k reversed. One with N + 2 coefficients is
fixed by its values at N + 2 points: evaluate both factors there, multiply value by value, interpolate. Rounding errors
grow with the number of points, so a row of more than five squares is cut into pieces, whose products add up. Let P be
the points of all pieces of a row. In two dimensions the three matrices are the Kronecker squares of those of one axis;
with many channels the product of two values becomes a product of matrices, one for each of the P² points:

    y = outputs · [(inputs · x) ∘ (kernels · k)]

A point is a direction (cos θ, sin θ), at which a polynomial has the value Σ_j x_j cos^j θ sin^(n−1−j) θ. Equal angles
keep rounding errors close to the least that any choice of points can give.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

TAPS = 3
LONGEST_PIECE = 5


class Transforms(NamedTuple):
    """The three matrices for one board size, in float64."""

    inputs: np.ndarray  # [P², N²] evaluates a board
    kernels: np.ndarray  # [P², 9] evaluates a kernel
    outputs: np.ndarray  # [N², P²] interpolates


@cache
def transforms(size: int) -> Transforms:
    """Return the matrices for N×N boards: 49 points for N = 5, where the board has 25 squares and 9 · 25 products."""
    inputs, kernels, outputs = [], [], []
    for piece in np.array_split(np.arange(size), -(-size // LONGEST_PIECE)):
        points = len(piece) + TAPS - 1
        inputs.append(_evaluation(points, len(piece)) @ np.eye(size)[piece])
        kernels.append(_evaluation(points, TAPS)[:, ::-1])
        # The product's coefficients belong to the squares from one before the piece to one after it.
        squares = piece[0] - 1 + np.arange(points)
        outputs.append((squares == np.arange(size)[:, None]) @ np.linalg.inv(_evaluation(points, points)))
    axis = np.concatenate(inputs), np.concatenate(kernels), np.concatenate(outputs, axis=1)
    return Transforms(*(np.kron(matrix, matrix) for matrix in axis))


@cache
def tensors(size: int, device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Return `transforms` as tensors."""
    with torch.inference_mode(False):  # or gradients could not flow through them
        inputs, kernels, outputs = (torch.tensor(matrix, dtype=dtype, device=device) for matrix in transforms(size))
    return inputs, kernels, outputs


def transform_kernels(weight: Tensor, size: int) -> Tensor:
    """Return the values [P², I, O] at every point of the kernels weight [O, I, 3, 3]."""
    outputs, inputs = weight.shape[:2]
    _, kernels, _ = tensors(size, weight.device, weight.dtype)
    return (kernels @ weight.flatten(2).permute(2, 1, 0).flatten(1)).view(-1, inputs, outputs)


def _evaluation(points: int, terms: int) -> np.ndarray:
    """Return [points, terms]: the values of each power at each point."""
    angle = np.arange(points)[:, None] * np.pi / points
    power = np.arange(terms)
    return np.cos(angle) ** power * np.sin(angle) ** (terms - 1 - power)
