"""3×3 convolutions of whole H×W boards by products of values (Winograd 1980), with fewer multiplications.

Along one axis, a row x of N squares with zeros around it and a kernel k of three weights give

    y_i = Σ_m k_m · x_{i+m−1},   i = 0 … N − 1,

which are coefficients of a product of two polynomials, x(z) · k(z) with k reversed. One with N + 2 coefficients is
fixed by its values at N + 2 points: evaluate both factors there, multiply value by value, interpolate. Rounding errors
grow with the number of points, so a row of more than five squares is cut into pieces, whose products add up. Let P be
the points of all pieces of a row, Q those of a column. In two dimensions the three matrices are the Kronecker products
of those of the axes; with many channels the product of two values becomes a product of matrices, one for each of Q·P
points:

    y = outputs · [(inputs · x) ∘ (kernels · k)]

A point is a direction (cos θ, sin θ), at which a polynomial has the value Σ_j x_j cos^j θ sin^(n−1−j) θ. Equal angles
keep rounding errors close to the least that any choice of points can give.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

TAPS = 3
LONGEST_PIECE = 5
DIGITS = 12  # of the matrices: zeros and ones are then exact and cost nothing, and every machine has the same numbers


class Transforms(NamedTuple):
    """The three matrices for the squares of one axis or of a board, in float64."""

    inputs: np.ndarray  # [P, N] evaluates squares
    kernels: np.ndarray  # [P, 3] evaluates a kernel; of a board [Q·P, 9]
    outputs: np.ndarray  # [N, P] interpolates


@cache
def axis(length: int) -> Transforms:
    """Return the matrices for rows of that length: 7 points for 5 squares."""
    inputs, kernels, outputs = [], [], []
    for piece in np.array_split(np.arange(length), -(-length // LONGEST_PIECE)):
        points = len(piece) + TAPS - 1
        inputs.append(_evaluation(points, len(piece)) @ np.eye(length)[piece])
        kernels.append(_evaluation(points, TAPS)[:, ::-1])
        # The product's coefficients belong to the squares from one before the piece to one after it.
        squares = piece[0] - 1 + np.arange(points)
        outputs.append((squares == np.arange(length)[:, None]) @ np.linalg.inv(_evaluation(points, points)))
    whole = np.concatenate(inputs), np.concatenate(kernels), np.concatenate(outputs, axis=1)
    return Transforms(*(np.round(matrix, DIGITS) for matrix in whole))


@cache
def transforms(height: int, width: int) -> Transforms:
    """Return the matrices for H×W boards: 49 points for 5×5, where the board has 25 squares and 9 · 25 products."""
    return Transforms(*(np.kron(down, across) for down, across in zip(axis(height), axis(width), strict=True)))


def transform_kernels(weight: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return the values float64 [Q·P, I, O] at every point of the kernels weight [O, I, 3, 3].

    Written as sums of three terms, in order: the same bits on every machine, which no library of products promises.
    """
    down, across = axis(height).kernels, axis(width).kernels
    taps = weight.astype(np.float64).transpose(2, 3, 1, 0)  # [3, 3, I, O]
    rows = _sum_of_three(down, taps)  # [Q, 3, I, O]
    values = _sum_of_three(across, rows.transpose(1, 0, 2, 3))  # [P, Q, I, O]
    return values.transpose(1, 0, 2, 3).reshape(-1, *taps.shape[2:])


def _sum_of_three(matrix: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """Return matrix [P, 3] · terms [3, ...]."""
    first, second, third = (
        matrix[:, k].reshape(-1, *[1] * (terms.ndim - 1)) * terms[k] for k in range(matrix.shape[1])
    )
    return first + second + third


def _evaluation(points: int, terms: int) -> np.ndarray:
    """Return [points, terms]: the values of each power at each point."""
    angle = np.arange(points)[:, None] * np.pi / points
    power = np.arange(terms)
    return np.cos(angle) ** power * np.sin(angle) ** (terms - 1 - power)
