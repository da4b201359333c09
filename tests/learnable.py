"""Made-up samples that a small network can learn, and settings to learn them with."""

from __future__ import annotations

import numpy as np

from probzero import games
from probzero.bits import popcount
from probzero.config import Network, Training
from probzero.games.base import Game
from probzero.games.random_play import play_by_seed
from probzero.learning.dataset import Samples
from probzero.network.model import ProbZeroNet, build

GAME = games.make("othello", size=5)
SETTINGS = Training(
    iterations=10, batch_size=32, samples=0, learning_rate=3e-3, final_learning_rate=1e-4, weight_decay=1e-4,
    gradient_clip=1.0, symmetries=True, replay_window=1, visit_exponent=0.5, device="cpu", threads=1,
)  # fmt: skip


def some_samples(count: int = 96, game: Game = GAME) -> Samples:
    """Positions of random play with made-up but learnable targets: the first legal move; win if ahead in discs."""
    states = play_by_seed(game, 20, 12, seed=1).states[2:].reshape(-1, 2)
    states = states[game.legal(states).any(1)][:count]
    assert len(states) == count
    ahead = popcount(states[:, 0]) - popcount(states[:, 1])
    value = np.eye(3, dtype=np.float32)[1 - np.sign(ahead)]
    valid = (np.arange(count) % 2).astype(np.float32)
    weight = np.arange(1, count + 1, dtype=np.float32)
    return Samples(states, *first_moves(states, game), value, value, valid, weight)


def first_moves(states: np.ndarray, game: Game) -> tuple[np.ndarray, np.ndarray]:
    """Policy and mask [n, M] that want the first legal move and have explored all."""
    moves = game.legal(states).sum(1)
    slots = np.arange(game.most_moves)
    policy = np.tile(slots == 0, (len(states), 1))
    return policy.astype(np.float32), (slots < moves[:, None]).astype(np.float32)


def small(game: Game = GAME) -> ProbZeroNet:
    return build(game.shape, Network(blocks=1, channels=8), 7)
