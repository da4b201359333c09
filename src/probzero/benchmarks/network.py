"""The network beside the machine: inference at several batch sizes, training, and the limit set by matrix products."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from probzero.benchmarks.positions import random_positions
from probzero.benchmarks.rows import Row, speed
from probzero.config import Network
from probzero.games.base import Game, Shape, list_moves
from probzero.learning.loss import Batch, losses
from probzero.network.inference import Evaluator, FoldedNet
from probzero.network.model import HEAD_CHANNELS, build

BATCHES = (48, 192, 768, 3072)
TRAINING_BATCH = 256
LAYOUT_BATCH = 48  # one chunk
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


def layouts(shape: Shape, network: Network) -> Iterator[Row]:
    """Our form of the network beside the library's convolutions in its two layouts, and beside more channels.

    One thread, one batch. The library's form is the convolutions and ReLUs of the trunk alone, ours is everything.
    Channels are padded to the next multiple of 16 and of 32.
    """
    torch.set_num_threads(1)
    ours = _folded_speed(shape, network)
    case = f"{network.blocks}x{network.channels}, batch {LAYOUT_BATCH}"
    yield Row("layout", case, "[square, channel, position], Winograd products", ours, "positions/s")
    for name, form in (
        ("[position, channel, row, column]", torch.contiguous_format),
        ("[position, row, column, channel]", torch.channels_last),
    ):
        rate = _library_speed(shape, network, form)
        yield Row("layout", case, f"{name}, library's convolutions, times ours", rate / ours)
    padded = {-(-network.channels // multiple) * multiple for multiple in (16, 32)}
    for channels in sorted(padded - {network.channels}):
        rate = _folded_speed(shape, network.model_copy(update={"channels": channels}))
        yield Row("layout", case, f"ours with {channels} channels, times ours", rate / ours)


def _library_speed(shape: Shape, network: Network, form: torch.memory_format) -> float:
    """Return positions per second of the trunk as the library's convolutions with tensors of this layout."""
    drawing = torch.Generator().manual_seed(0)
    inputs = [shape.planes] + [network.channels] * (2 * network.blocks)
    kernels = [torch.randn(network.channels, wide, 3, 3, generator=drawing) / 20 for wide in inputs]
    kernels = [kernel.to(memory_format=form) for kernel in kernels]
    planes = torch.rand(LAYOUT_BATCH, *shape[:3], generator=drawing).to(memory_format=form)

    @torch.inference_mode()
    def convolve() -> None:
        x = planes
        for kernel in kernels:
            x = torch.conv2d(x, kernel, padding=1).relu_()

    return speed(convolve, LAYOUT_BATCH)


def _folded_speed(shape: Shape, network: Network) -> float:
    """Return positions per second of the network in the form the search uses, without the search's probabilities."""
    folded = FoldedNet(build(shape, network, 0).eval(), LAYOUT_BATCH, torch.device("cpu"))
    planes = torch.rand(shape.planes * shape.squares, LAYOUT_BATCH, generator=torch.Generator().manual_seed(0))
    policy = torch.empty(shape.actions, LAYOUT_BATCH)
    outcomes = torch.empty(len(folded.widths), max(folded.widths), LAYOUT_BATCH)

    @torch.inference_mode()
    def evaluate() -> None:
        folded(planes, policy, outcomes)

    return speed(evaluate, LAYOUT_BATCH)


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
