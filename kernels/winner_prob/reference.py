"""winner_prob in plain torch: the oracle of the tests.

For the children i of a node, with the child's own (win, draw, loss) = (p0, p1, p2) and eps = 1e-12,

    raw_i = p1_i · Π_{j≠i}(p0_j + eps)  +  p2_i · Π_{j≠i}(p0_j + p1_j + eps)        w = raw^(1/τ) normalised.

Weights don't change when a row is divided by a common factor. Dividing by Π_j(p0_j + p1_j + eps) leaves

    raw_i ∝ a_i · R + b_i,   a_i = p1_i / (p0_i + eps),   b_i = p2_i / (p0_i + p1_i + eps),
                             R   = Π_j (p0_j + eps) / (p0_j + p1_j + eps)  ≤ 1,

which is exact without a logarithm: a and b are at most 1e12, and only R can underflow. In float64 it may be floored at
1e-200 without harm: the a-terms of such a row are then below 1e-187, nothing beside any b > 0 (the smallest float32
is 1e-45), and where every b is 0 the factor R cancels. Working with logarithms gives the same weights to float32
rounding, but log and logaddexp make it twice as slow on the CPU.
"""

from __future__ import annotations

import torch

from probzero import wdl
from probzero.kernels.winner_prob.constants import EPS, LOST_RAW, RATIO_FLOOR, SUM_FLOOR


def winner_prob(values: torch.Tensor, present: torch.Tensor, temperature: float = 1.0) -> torch.Tensor:
    """Return the weights float32 [n, K] for children's triples [n, K, 3].

    `present` [n, K] is True (or 1 in any type) where there is a child. It works by multiplication, several times faster
    than a masked fill, so the values of absent children must be finite and not negative: 0 will do.
    """
    # One contiguous [n, K] plane per outcome; a copy, as it is changed in place.
    planes = values.permute(2, 0, 1).to(torch.float64, copy=True, memory_format=torch.contiguous_format)
    planes.mul_(present)  # all zero for an absent child: its ratio is eps / eps = 1 and its raw 0
    win, draw, loss = planes[wdl.WIN].add_(EPS), planes[wdl.DRAW], planes[wdl.LOSS]
    not_loss = win + draw
    ratio = (win / not_loss).prod(-1, keepdim=True).clamp_(min=RATIO_FLOOR)  # R [n, 1]
    raw = (draw / win).mul_(ratio).addcdiv_(loss, not_loss)
    if temperature != 1.0:
        raw = (raw / raw.amax(-1, keepdim=True).clamp_(min=SUM_FLOOR)).pow_(1.0 / temperature)
    raw.add_(present, alpha=LOST_RAW)
    return (raw / raw.sum(-1, keepdim=True).clamp_(min=SUM_FLOOR)).float()
