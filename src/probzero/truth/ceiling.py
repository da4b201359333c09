"""The ceiling: the same network trained with supervision on exact labels, to show how much can be learned at all."""

from __future__ import annotations

from typing import Any

import numpy as np

from probzero import wdl
from probzero.config import Network, Training
from probzero.games.othello import Othello
from probzero.games.symmetry import canonical_bitboards
from probzero.learning.dataset import Samples
from probzero.learning.training import train
from probzero.network.checkpoint import OptimizerState
from probzero.network.inference import resolve_device
from probzero.network.model import ProbZeroNet, build
from probzero.random_keys import key
from probzero.truth.labels import keeps_result, label
from probzero.truth.positions import from_random_play

ROUNDS = 10  # steps of the learning-rate schedule


def exact_samples(rules: Othello, own: np.ndarray, opp: np.ndarray, threads: int) -> Samples:
    """Return samples of positions [n]: all moves that keep the result share the policy, value and reward are exact."""
    labels = label(rules.size, own, opp, margins=False, threads=threads, progress=False)
    keeps = keeps_result(labels).astype(np.float32)
    outcome = wdl.from_result(labels.result)
    ones = np.ones(len(own), dtype=np.float32)
    return Samples(
        board=rules.encode(own, opp).reshape(len(own), -1),
        policy=keeps / keeps.sum(1, keepdims=True),
        mask=rules.legal(own, opp).astype(np.float32),
        value=outcome,
        reward=outcome,
        valid=ones,
        weight=ones,
    )


def without(
    rules: Othello, own: np.ndarray, opp: np.ndarray, held_out: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return positions [n] less those that are, up to symmetry, among the held-out ones."""
    mine, theirs = (
        np.stack(canonical_bitboards(rules.size, *pair), axis=1).view([("own", "i8"), ("opp", "i8")])[:, 0]
        for pair in ((own, opp), held_out)
    )
    fresh = ~np.isin(mine, theirs)
    return own[fresh], opp[fresh]


def train_ceiling(
    rules: Othello,
    network: Network,
    settings: Training,
    held_out: tuple[np.ndarray, np.ndarray],
    per_stratum: int,
    samples: int,
    seed_key: int,
) -> tuple[ProbZeroNet, dict[str, Any]]:
    """Train a new network on exact labels of random positions; none of the held-out ones (own, opp) is among them."""
    own, opp = without(rules, *from_random_play(rules, per_stratum, seed_key), held_out)
    data = exact_samples(rules, own, opp, settings.threads)
    model = build(rules.size, network, seed_key)
    changes = {"iterations": ROUNDS, "samples": samples // ROUNDS, "visit_exponent": 1.0}
    schedule, device = settings.model_copy(update=changes), resolve_device(settings.device)
    state: OptimizerState = {}
    metrics: dict[str, Any] = {}
    for turn in range(1, ROUNDS + 1):
        state, metrics = train(model, state, [data], schedule, turn, key("ceiling", seed_key, turn), device)
    return model, {**metrics, "positions": len(own), "samples": samples // ROUNDS * ROUNDS}
