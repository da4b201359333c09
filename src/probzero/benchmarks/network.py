"""The network beside the machine: inference at several batch sizes, and the limit set by matrix products."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from probzero.benchmarks.rows import Row, speed
from probzero.benchmarks.search import random_positions
from probzero.config import Network
from probzero.games.base import Game, Shape, list_moves
from probzero.network.inference import Evaluator
from probzero.network.model import HEAD_CHANNELS, build

BATCHES = (48, 192, 768, 3072)
MATRIX = 1536


def peak() -> float:
    """Return floating-point operations per second of a large matrix product by one thread."""
    torch.set_num_threads(1)
    a, b = torch.rand(MATRIX, MATRIX), torch.rand(MATRIX, MATRIX)
    out = torch.empty(MATRIX, MATRIX)
    return speed(lambda: torch.mm(a, b, out=out), 2 * MATRIX**3)


def operations(shape: Shape, network: Network) -> int:
    """Return the operations of one position, a multiplication and an addition each, with plain 3×3 convolutions."""
    squares, actions, channels = shape.squares, shape.actions, network.channels
    trunk = 9 * channels * (shape.planes + 2 * network.blocks * channels)
    heads = channels * (3 if network.reward else 2) * HEAD_CHANNELS
    features = HEAD_CHANNELS * squares
    hidden = network.policy_hidden
    policy = features * hidden + hidden * actions if hidden else features * actions
    outcomes = (2 if network.reward else 1) * (features * channels + 3 * channels)
    return 2 * (squares * (trunk + heads) + policy + outcomes)


def inference(game: Game, network: Network) -> Iterator[Row]:
    """Positions per second by batch size, and their share of the peak of one thread if convolutions were plain."""
    limit = peak()
    case = f"{network.blocks}x{network.channels}, 1 thread"
    yield Row("network", case, "matrix product", limit / 1e9, "GFLOP/s")
    evaluator = Evaluator(build(game.shape, network, 0).eval(), game, "cpu")
    states = torch.from_numpy(random_positions(game, max(BATCHES), 0))
    moves = torch.from_numpy(list_moves(game.legal(states.numpy()), game.most_moves))
    for batch in BATCHES:
        part = states[:batch], moves[:batch]
        rate = speed(lambda part=part: evaluator(*part), batch)  # type: ignore[misc]
        yield Row("network", f"{case}, batch {batch}", "inference", rate, "positions/s")
        share = rate * operations(game.shape, network) / limit
        yield Row("network", f"{case}, batch {batch}", "share of matrix-product speed", share)
