"""The ceiling: the same network trained with supervision on exact labels, to show how much can be learned at all."""

from __future__ import annotations

from typing import Any

import numpy as np

from probzero import wdl
from probzero.arena.names import CEILING as CEILING
from probzero.config import Config
from probzero.devices import resolve_device
from probzero.games.base import Game, list_moves
from probzero.learning.dataset import Samples
from probzero.learning.training import train
from probzero.network.checkpoint import OptimizerState
from probzero.network.model import ProbZeroNet, build
from probzero.random_keys import key
from probzero.truth.labels import Lookup, Solver, check_solvable, keeps_result
from probzero.truth.positions import from_random_play

ROUNDS = 10  # steps of the learning-rate schedule


def exact_samples(game: Game, states: np.ndarray, threads: int, lookup: Lookup | None = None) -> Samples:
    """Return samples of states [n, words] with exact values; all moves that keep the result share the policy."""
    check_solvable(game)
    labels = Solver(game, threads=threads, lookup=lookup).label(states, margins=False)
    legal = game.legal(states)
    moves, real = list_moves(legal, game.most_moves), np.arange(game.most_moves) < legal.sum(1, keepdims=True)
    keeps = (np.take_along_axis(keeps_result(labels), moves, axis=1) & real).astype(np.float32)
    outcome = wdl.from_result(labels.result)
    ones = np.ones(len(states), dtype=np.float32)
    return Samples(
        states=states,
        policy=keeps / keeps.sum(1, keepdims=True),
        mask=real.astype(np.float32),
        value=outcome,
        reward=outcome,
        valid=ones,
        weight=ones,
    )


def without(game: Game, states: np.ndarray, held_out: np.ndarray) -> np.ndarray:
    """Return states [n, words] less those that are, up to symmetry, among the held-out ones [m, words]."""
    known = {row.tobytes() for row in game.canonical(held_out)}
    fresh = [row.tobytes() not in known for row in game.canonical(states)]
    return states[np.array(fresh, dtype=bool)]


def train_ceiling(
    game: Game, config: Config, held_out: np.ndarray, seed_key: int, lookup: Lookup | None = None
) -> tuple[ProbZeroNet, dict[str, Any]]:
    """Train a new network on exact labels of random positions; none of the held-out states [m, words] is among them."""
    states = without(game, from_random_play(game, config.truth.ceiling_per_stratum, seed_key), held_out)
    data = exact_samples(game, states, config.training.threads, lookup)
    return train_on(data, game, config, config.truth.ceiling_samples, seed_key)


def train_on(
    data: Samples, game: Game, config: Config, draws: int, seed_key: int
) -> tuple[ProbZeroNet, dict[str, Any]]:
    """Train a new network with so many draws of these samples; return it and the metrics of the last round."""
    settings = config.training
    model = build(game.shape, config.network, seed_key)
    changes = {"iterations": ROUNDS, "samples": draws // ROUNDS, "visit_exponent": 1.0}
    schedule, device = settings.model_copy(update=changes), resolve_device(settings.device)
    state: OptimizerState = {}
    metrics: dict[str, Any] = {}
    for turn in range(1, ROUNDS + 1):
        state, metrics = train(model, state, [data], schedule, game, turn, key("ceiling", seed_key, turn), device)
    return model, {**metrics, "positions": len(data), "samples": draws // ROUNDS * ROUNDS}
