"""3×3 convolutions of whole H×W boards by matrix products (Winograd 1980), with fewer multiplications.

Along one axis, a row x of N squares with zeros around it and a kernel k of three weights give

    y_i = Σ_m k_m · x_{i+m−1},   i = 0 … N − 1,

which are coefficients of a product of two polynomials, x(z) · k(z) with k reversed. One with N + 2 coefficients is
fixed by its values at N + 2 points: evaluate both factors there, multiply value by value, interpolate. Rounding errors
grow with the number of points, so a row of more than five squares is cut into pieces, whose products add up. Let P be
the points of all pieces of a row, Q those of a column. In two dimensions the three matrices are the Kronecker products
of those of the axes; with many channels the product of two values becomes a product of matrices, one for each of P·Q
points:

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
    """The three matrices for one size of board, in float64."""

    inputs: np.ndarray  # [Q·P, H·W] evaluates a board
    kernels: np.ndarray  # [Q·P, 9] evaluates a kernel
    outputs: np.ndarray  # [H·W, Q·P] interpolates


@cache
def transforms(height: int, width: int) -> Transforms:
    """Return the matrices for H×W boards: 49 points for 5×5, where the board has 25 squares and 9 · 25 products."""
    return Transforms(*(np.kron(down, across) for down, across in zip(_axis(height), _axis(width), strict=True)))


def _axis(length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the three matrices for rows of that length."""
    inputs, kernels, outputs = [], [], []
    for piece in np.array_split(np.arange(length), -(-length // LONGEST_PIECE)):
        points = len(piece) + TAPS - 1
        inputs.append(_evaluation(points, len(piece)) @ np.eye(length)[piece])
        kernels.append(_evaluation(points, TAPS)[:, ::-1])
        # The product's coefficients belong to the squares from one before the piece to one after it.
        squares = piece[0] - 1 + np.arange(points)
        outputs.append((squares == np.arange(length)[:, None]) @ np.linalg.inv(_evaluation(points, points)))
    return np.concatenate(inputs), np.concatenate(kernels), np.concatenate(outputs, axis=1)


@cache
def tensors(height: int, width: int, device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Return `transforms` as tensors."""
    with torch.inference_mode(False):  # or gradients could not flow through them
        matrices = (torch.tensor(matrix, dtype=dtype, device=device) for matrix in transforms(height, width))
        inputs, kernels, outputs = matrices
    return inputs, kernels, outputs


def transform_kernels(weight: Tensor, height: int, width: int) -> Tensor:
    """Return the values [Q·P, I, O] at every point of the kernels weight [O, I, 3, 3]."""
    outputs, inputs = weight.shape[:2]
    _, kernels, _ = tensors(height, width, weight.device, weight.dtype)
    return (kernels @ weight.flatten(2).permute(2, 1, 0).flatten(1)).view(-1, inputs, outputs)


def _evaluation(points: int, terms: int) -> np.ndarray:
    """Return [points, terms]: the values of each power at each point."""
    angle = np.arange(points)[:, None] * np.pi / points
    power = np.arange(terms)
    return np.cos(angle) ** power * np.sin(angle) ** (terms - 1 - power)
