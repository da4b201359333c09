"""3×3 convolutions of whole N×N boards by matrix products (Winograd 1980), at less than half the multiplications.

Along one axis, a row x of N squares with zeros around it and a kernel k of three weights give

    y_i = Σ_m k_m · x_{i+m−1},   i = 0 … N−1,

which are N of the N + 2 coefficients of a product of two polynomials, x(z) · k(z) with k reversed. A product is fixed
by its values at P = N + 2 points: evaluate both factors there, multiply value by value, interpolate. In two dimensions
the three matrices below are the Kronecker squares of those of one axis; with many channels the product of two values
becomes a product of matrices, one for each of the P² points:

    y = outputs · [(inputs · x) ∘ (kernels · k)]

A point is a direction (cos θ, sin θ), a polynomial being Σ_j x_j cos^j θ sin^(n−1−j) θ. Equal angles keep the rounding
errors close to the least that any choice of points can give; no point is large, and infinity is one of them (θ = 0).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

TAPS = 3


class Transforms(NamedTuple):
    """The three matrices for one board size, in float64. P² is the number of points."""

    inputs: np.ndarray  # [P², N²] evaluates a board
    kernels: np.ndarray  # [P², 9] evaluates a kernel
    outputs: np.ndarray  # [N², P²] interpolates the N² coefficients that are squares of the board


@cache
def transforms(size: int) -> Transforms:
    """Return the matrices for N×N boards."""
    points = size + TAPS - 1
    angle = np.arange(points) * np.pi / points

    def evaluation(terms: int) -> np.ndarray:  # [P, terms]
        power = np.arange(terms)
        return np.cos(angle)[:, None] ** power * np.sin(angle)[:, None] ** (terms - 1 - power)

    inputs = evaluation(size)
    kernels = evaluation(TAPS)[:, ::-1]
    outputs = np.linalg.inv(evaluation(points))[1:-1]
    return Transforms(np.kron(inputs, inputs), np.kron(kernels, kernels), np.kron(outputs, outputs))
