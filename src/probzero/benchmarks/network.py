"""The network beside the machine: inference at several batch sizes, training, and the limit set by matrix products."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from probzero.benchmarks.positions import random_positions
from probzero.benchmarks.rows import Row, speed
from probzero.config import Network
from probzero.games.base import Game, Shape, list_moves
from probzero.learning.loss import Batch, losses
from probzero.network.inference import Evaluator
from probzero.network.model import HEAD_CHANNELS, build

BATCHES = (48, 192, 768, 3072)
TRAINING_BATCH = 256
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


def training(shape: Shape, network: Network, threads: int) -> Iterator[Row]:
    """Samples per second of a training step beside forward passes of the same form of the network."""
    torch.set_num_threads(threads)
    model = build(shape, network, 0).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    count, actions = TRAINING_BATCH, shape.actions
    drawing = torch.Generator().manual_seed(0)
    planes = (torch.rand(count, *shape[:3], generator=drawing) > 0.5).float()
    policy, outcome = (torch.rand(count, width, generator=drawing).softmax(-1) for width in (actions, 3))
    ones = torch.ones(count)
    batch = Batch(planes, policy, torch.ones(count, actions), outcome, outcome, ones, ones, ones)

    def step() -> None:
        optimizer.zero_grad()
        losses(model(planes), batch, network.value).total().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    def forward() -> None:
        with torch.no_grad():
            model(planes)

    case = f"{network.blocks}x{network.channels}, {threads} thread{'s' * (threads > 1)}, batch {count}"
    learned, passed = speed(step, count, 2.0), speed(forward, count)
    yield Row("training", case, "training", learned, "samples/s")
    yield Row("training", case, "forward pass", passed, "positions/s")
    yield Row("training", case, "share of the speed of three forward passes", learned / (passed / 3))
