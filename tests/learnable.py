"""Made-up samples that a small network can learn, and settings to learn them with."""

from __future__ import annotations

import numpy as np

from probzero.config import Network, Training
from probzero.games.othello import othello
from probzero.games.random_play import play_randomly
from probzero.learning.dataset import Samples
from probzero.network.model import ProbZeroNet, build

SETTINGS = Training(
    iterations=10, batch_size=32, samples=0, learning_rate=3e-3, final_learning_rate=1e-4, weight_decay=1e-4,
    gradient_clip=1.0, symmetries=True, replay_window=1, visit_exponent=0.5, device="cpu", threads=1,
)  # fmt: skip


def some_samples(count: int = 96) -> Samples:
    """Positions of random play with made-up but learnable targets: the first legal move; win if ahead in discs."""
    rules = othello(5)
    played = play_randomly(rules, 20, 12, seed=1)
    own, opp = played.own[2:].ravel(), played.opp[2:].ravel()
    going = np.flatnonzero(rules.legal(own, opp).any(1))[:count]
    own, opp = own[going], opp[going]
    mask = rules.legal(own, opp).astype(np.float32)
    policy = np.eye(26, dtype=np.float32)[mask.argmax(1)]
    value = np.eye(3, dtype=np.float32)[1 - rules.result(own, opp)]
    valid = (np.arange(count) % 2).astype(np.float32)
    weight = np.arange(1, count + 1, dtype=np.float32)
    return Samples(rules.encode(own, opp).reshape(count, -1), policy, mask, value, value, valid, weight)


def small() -> ProbZeroNet:
    return build(5, Network(blocks=1, channels=8), 7)
