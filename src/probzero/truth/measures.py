"""How a network measures up to exact truth: moves that keep the result, and calibrated values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch

from probzero import wdl
from probzero.games.othello import Othello
from probzero.network.inference import Evaluator
from probzero.random_keys import key
from probzero.search.build import SearchFactory
from probzero.search.choice import best
from probzero.truth.positions import boards, move_masks

RELIABILITY_BINS = 10
SMALLEST = 1e-7  # log loss of a sure and wrong prediction is taken at this probability


def raw_moves(evaluator: Evaluator, rules: Othello, own: torch.Tensor, opp: torch.Tensor) -> torch.Tensor:
    """Return the legal action [n] with the largest prior."""
    return evaluator(own, opp, rules.legal(own, opp)).prior.argmax(1)


def searched_moves(
    factory: SearchFactory, own: torch.Tensor, opp: torch.Tensor, particles: int, batches: Sequence[int], seed: int
) -> list[torch.Tensor]:
    """Return the actions [n] chosen after each number of batches (rising) of one search from every position [n]."""
    keys = torch.tensor([key("truth", seed, int(mine), int(theirs)) for mine, theirs in zip(own, opp, strict=True)])
    search = factory.start(own, opp, keys)
    games = torch.arange(len(own), device=own.device)
    chosen, done = [], 0
    for count in batches:
        search.run(games, particles, count - done, done)
        chosen.append(best(search.moves(games)))
        done = count
    return chosen


def kept_table(
    factory: SearchFactory,
    evaluator: Evaluator | None,
    positions: pd.DataFrame,
    particles: int,
    batches: Sequence[int],
    seed: int,
) -> pd.DataFrame:
    """Count moves that keep the exact result, over decisive positions, by source, phase and particles a move.

    Columns: source, phase, particles (0 is the raw policy, if there is a network), positions, kept.
    """
    decisive = positions[positions.decisive == 1].reset_index(drop=True)
    own, opp = (torch.from_numpy(side).to(factory.device) for side in boards(decisive))
    keeping = torch.from_numpy(move_masks(factory.rules, decisive.keeping)).to(factory.device)
    batches = sorted(batches)
    moves = dict(
        zip(
            [particles * count for count in batches],
            searched_moves(factory, own, opp, particles, batches, seed),
            strict=True,
        )
    )
    if evaluator is not None:
        moves = {0: raw_moves(evaluator, factory.rules, own, opp), **moves}
    parts = []
    for budget, action in moves.items():
        kept = keeping.gather(1, action[:, None])[:, 0].cpu().numpy()
        counted = decisive[["source", "phase"]].assign(particles=budget, kept=kept.astype(int))
        grouped = counted.groupby(["source", "phase", "particles"]).kept
        parts.append(grouped.agg(positions="size", kept="sum").reset_index())
    return pd.concat(parts, ignore_index=True)


def calibration_table(evaluator: Evaluator, rules: Othello, positions: pd.DataFrame) -> pd.DataFrame:
    """Compare the value and the reward head with exact results, by source, outcome predicted and bin of probability.

    Columns: source, head, outcome, bin, predictions, mean_prediction, frequency, brier, log_loss. `brier` is the sum of
    (p − y)² over the bin's predictions and `log_loss` that of −log p where the outcome is the true one; divided by the
    number of positions and summed over bins and outcomes they are the usual scores.
    """
    own, opp = (torch.from_numpy(side).to(evaluator.device) for side in boards(positions))
    evaluation = evaluator(own, opp, rules.legal(own, opp))
    truth = wdl.from_result(positions.result.to_numpy())  # [n, 3]
    rows = []
    for head, predicted in (("value", evaluation.value), ("reward", evaluation.reward)):
        chance = predicted.cpu().numpy().astype(np.float64)
        for outcome, name in enumerate(wdl.NAMES):
            p, y = chance[:, outcome], truth[:, outcome]
            bins = np.minimum((p * RELIABILITY_BINS).astype(int), RELIABILITY_BINS - 1)
            rows.append(
                pd.DataFrame(
                    {
                        "source": positions.source,
                        "head": head,
                        "outcome": name,
                        "bin": bins,
                        "p": p,
                        "y": y,
                        "brier": (p - y) ** 2,
                        "log_loss": np.where(y == 1, -np.log(np.maximum(p, SMALLEST)), 0.0),
                    }
                )
            )
    grouped = pd.concat(rows).groupby(["source", "head", "outcome", "bin"])
    return grouped.agg(
        predictions=("p", "size"),
        mean_prediction=("p", "mean"),
        frequency=("y", "mean"),
        brier=("brier", "sum"),
        log_loss=("log_loss", "sum"),
    ).reset_index()
