"""Which move a simulation of MCTS tries next: PUCT and UCB1.

With N visits and W summed results of a move, seen by the player who makes it, n = Σ N over the moves of the node and
the network's prior P:

    PUCT  Q + c·P·√n / (1 + N)                  Q = W / N; for a move that was never tried: see below
    UCB1  (1 + W/N) / 2 + c·√(ln n / N)         a move that was never tried goes first

Results are in [−1, 1]. UCB1 is usual with rewards in [0, 1]: y = (x + 1) / 2 makes one of the other, so that the mean
reward of a move is (1 + W/N) / 2 and both scores share one record of results.

Options of PUCT: Q of a move never tried is 0, or that of its node less a reduction, Σ W / n − r (first-play urgency),
or the move goes first of all. Simulations on their way count in N and, as lost, in W (virtual loss). c may grow as
log((n + 19652 + 1) / 19652) + c₀, and Q may be scaled to [0, 1] by the least and the greatest Q met in the game's
present search.
"""

from __future__ import annotations

import torch

from probzero.search.arrays import Scoring

PUCT_BASE = 19652.0  # of the logarithmic growth of c


def scores(
    scoring: Scoring,
    visits: torch.Tensor,
    value: torch.Tensor,
    prior: torch.Tensor,
    low: torch.Tensor,
    high: torch.Tensor,
) -> torch.Tensor:
    """Return the scores [n, K] of moves with visits N, summed results W and priors P, all [n, K].

    low, high [n] are the least and the greatest Q of each game's search.
    """
    total = visits.sum(1, keepdim=True).double()
    q = value / visits.clamp(min=1)
    untried = visits == 0
    if scoring.ucb:
        score = (1 + q) / 2 + scoring.constant * (total.log() / visits.clamp(min=1)).sqrt()
        return score.masked_fill(untried, torch.inf)
    if scoring.untried_parent:
        mean = value.sum(1, keepdim=True) / total.clamp(min=1)
        q = torch.where(untried & (total > 0), mean - scoring.reduction, q)
    if scoring.minmax:
        low, high = low[:, None], high[:, None]
        q = torch.where((high > low) & ~untried, (q - low) / torch.where(high > low, high - low, 1.0), q)
    c = torch.full_like(total, scoring.constant)
    if scoring.logarithmic:
        c = c + ((total + PUCT_BASE + 1) / PUCT_BASE).log()
    score = q + c * prior.double() * total.sqrt() / (1 + visits)
    return score.masked_fill(untried, torch.inf) if scoring.untried_first else score
