"""How a network measures up to exact truth: moves that keep the result, and calibrated values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from probzero import wdl
from probzero.arena.players import raw_moves
from probzero.config import Truth
from probzero.devices import on
from probzero.games.base import Game, list_moves
from probzero.kinds import Array, count_up, pick, plain
from probzero.network.inference import Evaluator
from probzero.random_keys import key
from probzero.search.base import GraphSearch
from probzero.search.build import SearchFactory
from probzero.search.move_choice import best
from probzero.truth.positions import move_masks, states_of

RELIABILITY_BINS = 10
SMALLEST = 1e-7  # log loss of a sure and wrong prediction is taken at this probability


def search_from(factory: SearchFactory, states: Array, seed: int) -> GraphSearch:
    """Return a new search from states [n, words] whose draws are keyed by position and seed."""
    return factory.start(states, np.array([key("truth", seed, *state) for state in states.tolist()], np.int64))


def searched_moves(
    factory: SearchFactory, states: Array, particles: int, batches: Sequence[int], seed: int
) -> list[Array]:
    """Return the actions [n] chosen after each number of batches (rising) of one search from every state [n, words].

    A search that plans its budget from the start begins anew for each."""
    search = search_from(factory, states, seed)
    games = count_up(search.graph.root, len(states))
    chosen, done = [], 0
    for count in batches:
        if done and not search.CONTINUES:
            search, done = search_from(factory, states, seed), 0
        search.run(games, particles, count - done, done)
        chosen.append(best(search.moves(games)))
        done = count
    return chosen


def kept_share(evaluator: Evaluator, game: Game, positions: pd.DataFrame) -> float:
    """Return the share of decisive positions in which the raw policy keeps the exact result."""
    decisive = positions[positions.decisive == 1]
    states, keeping = states_of(game, decisive), move_masks(game, decisive.keeping)
    action = plain(raw_moves(evaluator, game, on(states, evaluator.device)))
    return float(pick(keeping, action[:, None])[:, 0].mean())


def kept_by_orientation(evaluator: Evaluator, game: Game, positions: pd.DataFrame) -> pd.DataFrame:
    """Count the moves of the raw policy that keep the exact result, with the board turned by each of its symmetries.

    Columns: symmetry (0 is as the positions stand), positions, kept.
    """
    decisive = positions[positions.decisive == 1]
    states, keeping = states_of(game, decisive), move_masks(game, decisive.keeping)
    rows = []
    for symmetry, actions in enumerate(game.symmetries.actions):
        turned = game.turn(states, np.full(len(states), symmetry))
        action = raw_moves(evaluator, game, on(turned, evaluator.device))
        kept = pick(keeping, actions[action][:, None])[:, 0]  # the old action that fills the new one's place
        rows.append({"symmetry": symmetry, "positions": len(states), "kept": int(kept.sum())})
    return pd.DataFrame(rows)


def kept_table(
    factory: SearchFactory, evaluator: Evaluator | None, positions: pd.DataFrame, settings: Truth, seed: int
) -> pd.DataFrame:
    """Count moves that keep the exact result, over decisive positions, by source, phase and particles a move.

    Columns: source, phase, particles (0 is the raw policy, if there is a network), positions, kept, outcomes: a digit
    for each of these positions in their order, 1 if the result was kept, so that networks can be compared in pairs.
    """
    decisive = positions[positions.decisive == 1].reset_index(drop=True)
    states, keeping = states_of(factory.game, decisive), move_masks(factory.game, decisive.keeping)
    budgets = [settings.particles * count for count in settings.batches]
    found = searched_moves(factory, states, settings.particles, settings.batches, seed)
    moves = dict(zip(budgets, found, strict=True))
    if evaluator is not None:
        moves = {0: raw_moves(evaluator, factory.game, on(states, evaluator.device)), **moves}
    parts = []
    for budget, action in moves.items():
        kept = pick(keeping, plain(action)[:, None])[:, 0]
        counted = decisive[["source", "phase"]].assign(particles=budget, kept=kept.astype(int))
        grouped = counted.groupby(["source", "phase", "particles"]).kept
        parts.append(grouped.agg(positions="size", kept="sum", outcomes=_digits).reset_index())
    return pd.concat(parts, ignore_index=True)


def _digits(kept: pd.Series) -> str:
    return "".join(map(str, kept))


def calibration_table(evaluator: Evaluator, game: Game, positions: pd.DataFrame) -> pd.DataFrame:
    """Compare the value and the reward head with exact results, by source, outcome predicted and bin of probability.

    Columns: source, head, outcome, bin, predictions, mean_prediction, frequency, brier, log_loss. `brier` is the sum of
    (p − y)² over the bin's predictions and `log_loss` that of −log p where the outcome is the true one; divided by the
    number of positions and summed over bins and outcomes they are the usual scores.
    """
    states = on(states_of(game, positions), evaluator.device)
    evaluation = evaluator(states, list_moves(game.legal(states), game.most_moves))
    truth = wdl.from_result(positions.result.to_numpy())  # [n, 3]
    rows = []
    for head, predicted in (("value", evaluation.value), ("reward", evaluation.reward)):
        chance = plain(predicted).astype(np.float64)
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
