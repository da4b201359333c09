"""The network: its shape, its inference form, and that an evaluation depends on nothing but the position."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from probzero import devices, games, wdl
from probzero.config import Network
from probzero.devices import resolve_device
from probzero.errors import ProbZeroError
from probzero.games.base import Game, list_moves
from probzero.network.convolution import Convolution
from probzero.network.dense import CHUNK
from probzero.network.inference import Evaluator
from probzero.network.model import ProbZeroNet, build
from probzero.network.winograd import transforms

SQUARE = [games.make("othello", size=size) for size in (4, 5, 6, 8)]
OBLONG = [games.make("connect_four", width=width, height=height) for width, height in ((5, 4), (7, 6), (4, 6))]
GAMES = SQUARE + OBLONG
FIVE = games.make("othello", size=5)

every_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.identity)
pytestmark = pytest.mark.usefixtures("one_thread")


def slow_forward(model: ProbZeroNet, planes: Tensor) -> list[Tensor]:
    """The network of the specification with plain convolutions, in float64: logits of policy, value and reward."""
    state = {name: value.double() for name, value in model.state_dict().items()}

    def norm(x: Tensor, name: str) -> Tensor:
        mean, variance = state[f"{name}.running_mean"], state[f"{name}.running_var"]
        if model.training:
            mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)
        return F.batch_norm(x, mean, variance, state[f"{name}.weight"], state[f"{name}.bias"], eps=1e-5)

    def convolution(x: Tensor, name: str) -> Tensor:
        return norm(F.conv2d(x, state[f"{name}.weight"], padding=1), f"{name}_norm")

    def linear(x: Tensor, name: str) -> Tensor:
        return F.linear(x, state[f"{name}.weight"], state[f"{name}.bias"])

    x = convolution(planes.double(), "stem").relu()
    for block in range(len(model.blocks)):
        inner = convolution(x, f"blocks.{block}.first").relu()
        x = (x + convolution(inner, f"blocks.{block}.second")).relu()
    heads = norm(F.conv2d(x, state["heads.weight"][:, :, None, None]), "heads_norm").relu().chunk(3, dim=1)
    policy, value, reward = (head.permute(0, 2, 3, 1).flatten(1) for head in heads)
    return [
        linear(policy, "policy"),
        *(
            linear(linear(x, f"{name}.hidden").relu(), f"{name}.output")
            for name, x in (("value", value), ("reward", reward))
        ),
    ]


def trained_looking(game: Game, blocks: int, channels: int, **heads: Any) -> ProbZeroNet:
    """A network whose batch norms are far from the identity, in evaluation mode."""
    model = build(game.shape, Network(blocks=blocks, channels=channels, **heads), seed_key=5)
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, torch.nn.BatchNorm1d):
                module.weight.uniform_(0.5, 1.5, generator=generator)
                module.bias.normal_(0.0, 0.3, generator=generator)
        for _ in range(30):
            model((torch.rand(64, *game.shape[:3], generator=generator) < 0.4).float())
    return model.eval()


def random_positions(game: Game, count: int) -> tuple[Tensor, Tensor]:
    """Boards with random discs, and a random list of moves for each: one at least, its rows filled up."""
    draws = np.random.default_rng(3)
    squares = draws.integers(0, 3, (count, game.shape.squares)).astype(np.uint64)
    bits = np.left_shift(np.uint64(1), np.arange(game.shape.squares, dtype=np.uint64))
    boards = [((squares == disc) * bits).sum(1, dtype=np.uint64).view(np.int64) for disc in (1, 2)]
    legal = draws.random((count, game.actions)) < 0.3
    legal[np.arange(count), draws.integers(0, game.actions, count)] = True
    return torch.from_numpy(np.stack(boards, axis=1)), torch.from_numpy(list_moves(legal, game.most_moves))


@pytest.fixture(params=[1, 2, 3, 4], ids="{} threads".format)
def threads(request: pytest.FixtureRequest, one_thread: None) -> int:
    torch.set_num_threads(request.param)
    return request.param


@every_game
def test_winograd_products_are_the_convolution(game: Game) -> None:
    _, height, width, _ = game.shape
    draws = np.random.default_rng(1)
    board, kernel = draws.normal(size=(height, width)), draws.normal(size=(3, 3))
    padded = np.pad(board, 1)
    expected = [(padded[r : r + 3, c : c + 3] * kernel).sum() for r in range(height) for c in range(width)]
    inputs, kernels, outputs = transforms(height, width)
    np.testing.assert_allclose(outputs @ ((inputs @ board.ravel()) * (kernels @ kernel.ravel())), expected, atol=1e-12)


@every_game
def test_a_convolution_layer_is_the_library_s(game: Game) -> None:
    _, height, width, _ = game.shape
    layer = Convolution(game.shape, 3, 5).double()
    planes = torch.rand(7, 3, height, width, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    found = layer(planes.flatten(2).permute(2, 0, 1).contiguous())  # [H·W, 7, 5]
    expected = F.conv2d(planes, layer.weight, padding=1).flatten(2).permute(2, 0, 1)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("training", [False, True])
@every_game
def test_the_network_is_the_one_specified(game: Game, training: bool) -> None:
    model = trained_looking(game, blocks=3, channels=20).double().train(training)
    states, _ = random_positions(game, 40)
    planes = game.encode(states).double()
    expected = slow_forward(model, planes)
    for found, wanted in zip(model(planes), expected, strict=True):
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-10)


def test_parameters_number_what_the_paper_network_has() -> None:
    convolutions = 2 * 50 * 9 + 20 * 50 * 50 * 9 + 3 * 50 * 32
    norms = 2 * (21 * 50 + 3 * 32)
    heads = (800 * 26 + 26) + 2 * (800 * 50 + 50 + 50 * 3 + 3)
    model = build(FIVE.shape, Network(blocks=10, channels=50), seed_key=0)
    assert sum(parameter.numel() for parameter in model.parameters()) == convolutions + norms + heads


def test_weights_follow_from_the_key_alone_and_no_global_state_changes() -> None:
    before = torch.random.get_rng_state()
    first = build(FIVE.shape, Network(blocks=1, channels=8), seed_key=2**63 - 1)
    torch.rand(3)
    torch.random.set_rng_state(before)
    again = build(FIVE.shape, Network(blocks=1, channels=8), seed_key=2**63 - 1)
    other = build(FIVE.shape, Network(blocks=1, channels=8), seed_key=2**63 - 2)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))
    assert not torch.equal(first.stem.weight, other.stem.weight)


@every_game
@pytest.mark.parametrize(("blocks", "channels"), [(5, 32), (2, 50)])
def test_evaluations_are_the_probabilities_of_the_training_form(game: Game, blocks: int, channels: int) -> None:
    model = trained_looking(game, blocks, channels)
    states, moves = random_positions(game, 100)
    with torch.no_grad():
        policy, value, reward = slow_forward(model, game.encode(states))
    found = Evaluator(model, game, "cpu")(states, moves)
    for name, expected in (("value", value), ("reward", reward)):
        torch.testing.assert_close(getattr(found, name).double(), expected.softmax(1), rtol=0, atol=1e-5)
    for row, listed, logits in zip(found.prior.tolist(), moves.tolist(), policy.tolist(), strict=True):
        weights = {move: math.exp(logits[move]) for move in listed}
        assert row == pytest.approx([weights[move] / sum(weights.values()) for move in listed], abs=1e-5)


def test_building_an_evaluator_leaves_the_model_as_it_was() -> None:
    model = build(FIVE.shape, Network(blocks=1, channels=8), seed_key=1).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    evaluator = Evaluator(model, FIVE, "cpu")
    asked = random_positions(FIVE, 10)
    first = evaluator(*asked)
    assert model.training and all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    with torch.no_grad():
        for values in model.state_dict().values():
            values.zero_()
    for again, before_change in zip(evaluator(*asked), first, strict=True):
        assert torch.equal(again, before_change)


@pytest.mark.parametrize("game", [SQUARE[0], OBLONG[0]], ids=lambda game: game.identity)
def test_gradients_flow_after_an_evaluation(game: Game) -> None:
    model = build(game.shape, Network(blocks=1, channels=8), seed_key=1)
    states, moves = random_positions(game, 10)
    Evaluator(model, game, "cpu")(states, moves)
    model(game.encode(states)).value.sum().backward()
    assert model.stem.weight.grad is not None and model.stem.weight.grad.abs().sum() > 0


@pytest.mark.parametrize(
    ("game", "blocks", "channels"),
    [
        (FIVE, 3, 32), (FIVE, 2, 50), (FIVE, 1, 7), (FIVE, 1, 64), (SQUARE[0], 1, 16), (SQUARE[2], 1, 48),
        (SQUARE[3], 1, 24), *((game, 1, 32) for game in OBLONG),
    ],
    ids=lambda value: value.identity if isinstance(value, Game) else None,
)  # fmt: skip
def test_an_evaluation_is_the_same_bits_in_every_slot_and_company(
    game: Game, blocks: int, channels: int, threads: int
) -> None:
    assert_same_bits_everywhere(game, trained_looking(game, blocks, channels))


@pytest.mark.parametrize("channels", [1, 5, 9, 11, 13, 23, 45, 127, 129])
def test_the_same_bits_whatever_the_number_of_channels(channels: int) -> None:
    assert_same_bits_everywhere(FIVE, trained_looking(FIVE, 1, channels))


@pytest.mark.parametrize(
    "heads",
    [
        {"policy_hidden": 13},
        {"policy_hidden": 128},
        {"value": "support"},
        {"value": "support", "reward": False},
    ],
    ids=str,
)
@every_game
def test_the_same_bits_whatever_the_heads(game: Game, heads: dict[str, Any]) -> None:
    assert_same_bits_everywhere(game, trained_looking(game, 1, 16, **heads))


def assert_same_bits_everywhere(game: Game, model: ProbZeroNet) -> None:
    """Positions have the same numbers at the head and the tail of a chunk, alone and among others."""
    evaluator = Evaluator(model, game, "cpu")
    states, moves = random_positions(game, 3 * CHUNK)
    expected = evaluator(states, moves)
    draws = torch.Generator().manual_seed(11)
    rolled = [torch.arange(3 * CHUNK).roll(shift) for shift in range(1, CHUNK, 5)]
    sampled = [torch.randperm(3 * CHUNK, generator=draws)[:count] for count in (1, 2, 7, 47, 48, 49, 95, 100, 143)]
    for chosen in rolled + sampled:
        found = evaluator(states[chosen], moves[chosen])
        for name, numbers in found._asdict().items():
            assert torch.equal(numbers, getattr(expected, name)[chosen]), (name, len(chosen))


def test_an_evaluation_leaves_the_number_of_threads_as_it_was(threads: int) -> None:
    Evaluator(build(FIVE.shape, Network(blocks=1, channels=8), seed_key=0), FIVE, "cpu")(*random_positions(FIVE, 10))
    assert torch.get_num_threads() == threads


def test_no_positions_give_no_evaluations() -> None:
    evaluator = Evaluator(build(FIVE.shape, Network(blocks=1, channels=8), seed_key=0), FIVE, "cpu")
    found = evaluator(torch.zeros(0, 2, dtype=torch.int64), torch.zeros(0, 21, dtype=torch.int64))
    assert [tuple(part.shape) for part in found] == [(0, 21), (0, wdl.SIZE), (0, wdl.SIZE)]


def test_the_evaluator_counts_calls_and_real_positions() -> None:
    evaluator = Evaluator(build(FIVE.shape, Network(blocks=1, channels=8), seed_key=0), FIVE, "cpu")
    states, moves = random_positions(FIVE, 100)
    evaluator(states, moves)
    evaluator(states[:3], moves[:3])
    assert (evaluator.calls, evaluator.positions) == (2, 103)
    assert evaluator.seconds > 0


def test_the_length_of_the_lists_of_moves_changes_nothing() -> None:
    evaluator = Evaluator(trained_looking(FIVE, 1, 8), FIVE, "cpu")
    states, moves = random_positions(FIVE, 20)
    whole = evaluator(states, moves)
    wider = evaluator(states, torch.cat([moves, moves[:, :1].expand(-1, 4)], dim=1))
    assert torch.equal(wider.prior[:, :21], whole.prior)
    assert torch.equal(wider.prior[:, 21:], whole.prior[:, :1].expand(-1, 4))


@pytest.mark.parametrize("other", [SQUARE[2], OBLONG[0]], ids=lambda game: game.identity)
def test_a_network_for_another_board_is_refused(other: Game) -> None:
    expected = re.escape(f"expected {tuple(other.shape)}, found (2, 5, 5, 26)")
    with pytest.raises(ProbZeroError, match=expected):
        Evaluator(build(FIVE.shape, Network(blocks=1, channels=8), seed_key=0), other, "cpu")


def test_the_cpu_is_always_there() -> None:
    assert resolve_device("cpu") == "cpu"


@pytest.mark.parametrize(
    ("driver", "has_cuda", "device"), [(False, True, "cpu"), (True, False, "cpu"), (True, True, "cuda")]
)
def test_auto_is_cuda_where_there_is_any(
    driver: bool, has_cuda: bool, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "has_driver", lambda: driver)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_cuda)
    assert str(resolve_device("auto")) == device


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
def test_cuda_is_refused_where_there_is_none() -> None:
    with pytest.raises(ProbZeroError, match=r"^device: cuda: expected a CUDA device of this machine, found none$"):
        resolve_device("cuda")
