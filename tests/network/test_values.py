"""Value heads: worked out on paper, folded away for the search, kept in checkpoints; and networks without a reward."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from learnable import first_moves
from sealed import checkpoint_info, redescribe
from torch import Tensor

from probzero import games
from probzero.config import Network, Training
from probzero.errors import ProbZeroError
from probzero.games.base import list_moves
from probzero.games.random_play import play_by_seed
from probzero.learning.dataset import Samples
from probzero.learning.loss import Batch, agreements, losses
from probzero.learning.training import train
from probzero.learning.window import tensors, turned
from probzero.network import values
from probzero.network.checkpoint import (
    OptimizerState,
    load_checkpoint,
    load_optimizer,
    save_checkpoint,
    save_optimizer,
)
from probzero.network.inference import Evaluation, Evaluator
from probzero.network.model import Outputs, ProbZeroNet, build
from probzero.network.weights import value_outputs

pytestmark = pytest.mark.usefixtures("one_thread")

GAME = games.make("othello", size=5)
HEADS = {
    "wdl": Network(blocks=1, channels=8),
    "support": Network(blocks=1, channels=8, value="support", support=21),
    "two points": Network(blocks=1, channels=8, value="support", support=2),  # fewer outputs than the reward head
    "wdl alone": Network(blocks=1, channels=8, reward=False),
    "support alone": Network(blocks=1, channels=8, value="support", support=21, reward=False),
    "hidden policy": Network(blocks=1, channels=8, policy_hidden=6),
    "hidden policy and support alone": Network(blocks=1, channels=8, policy_hidden=6, value="support", reward=False),
}
TRAINING = Training(
    iterations=2, batch_size=16, samples=0, learning_rate=3e-3, final_learning_rate=1e-4, weight_decay=1e-4,
    gradient_clip=1.0, symmetries=True, replay_window=1, visit_exponent=1.0, device="cpu", threads=1,
)  # fmt: skip


@pytest.fixture(params=HEADS)
def network(request: pytest.FixtureRequest) -> Network:
    return HEADS[request.param]


def positions(count: int) -> tuple[Tensor, Tensor]:
    """Positions of random play on 5×5 boards and their legal moves [count, A], one at least."""
    states = play_by_seed(GAME, 20, 12, seed=1).states[2:].reshape(-1, 2)
    states = states[GAME.legal(states).any(1)][:count]
    assert len(states) == count
    return torch.from_numpy(states), torch.from_numpy(GAME.legal(states))


def lively(network: Network) -> ProbZeroNet:
    """A network whose batch norms and heads are far from those of a new one, in evaluation mode."""
    model = build(GAME.shape, network, seed_key=5)
    draws = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, torch.nn.BatchNorm1d):
                module.weight.uniform_(0.5, 1.5, generator=draws)
                module.bias.normal_(0.0, 0.3, generator=draws)
        for head in (model.value, model.reward):
            if head is not None:
                head.output.weight.mul_(16)
        for _ in range(20):
            model((torch.rand(64, 2, 5, 5, generator=draws) < 0.4).float())
    return model.eval()


def triples(kind: str, output: Tensor) -> np.ndarray:
    """What outputs [n, K] of a value head stand for, one position after another."""
    found = []
    for row in output.double().tolist():
        total = sum(math.exp(logit) for logit in row)
        chances = [math.exp(logit) / total for logit in row]
        mean = sum(chance * (-1 + 2 * place / (len(row) - 1)) for place, chance in enumerate(chances))
        found.append(chances if kind == "wdl" else [(1 + mean) / 2, 0.0, (1 - mean) / 2])
    return np.array(found)


def row(*numbers: float) -> Tensor:
    return torch.tensor([numbers], dtype=torch.float64)


@settings(max_examples=60, deadline=None)
@given(st.floats(-1, 1), st.integers(2, 601))
def test_two_hot_has_the_mean_it_was_made_of_on_two_neighbours_at_most(value: float, count: int) -> None:
    spread = values.two_hot(row(value)[0], count)
    support = values.points(count, spread)
    assert float((spread[0] * support).sum()) == pytest.approx(value, abs=1e-12)
    assert float(spread.sum()) == pytest.approx(1, abs=1e-12) and bool((spread >= 0).all())
    places = spread[0].nonzero()[:, 0].tolist()
    assert len(places) <= 2 and places[-1] - places[0] == len(places) - 1
    assert all(abs(float(support[place]) - value) <= 2 / (count - 1) + 1e-12 for place in places)


@settings(max_examples=60, deadline=None)
@given(st.floats(-1, 1, width=32), st.integers(2, 601))
def test_two_hot_keeps_the_mean_in_the_numbers_that_training_uses(value: float, count: int) -> None:
    spread = values.two_hot(torch.tensor([value], dtype=torch.float32), count)
    assert spread.dtype == torch.float32
    assert float((spread[0].double() * values.points(count, row(0)[0])).sum()) == pytest.approx(value, abs=2e-6)


@pytest.mark.parametrize(
    ("value", "count", "expected"),
    [
        (0.05, 21, {10: 0.5, 11: 0.5}),  # between 0.0 and 0.1
        (0.0, 21, {10: 1.0}),
        (-1.0, 21, {0: 1.0}),
        (1.0, 21, {20: 1.0}),
        (0.98, 21, {19: 0.2, 20: 0.8}),
        (-0.5, 5, {1: 1.0}),
        (0.125, 5, {2: 0.75, 3: 0.25}),
        (0.3, 3, {1: 0.7, 2: 0.3}),
        (0.5, 2, {0: 0.25, 1: 0.75}),
        (1.25, 3, {2: 1.0}),  # beyond the support: its end
    ],
)
def test_two_hot_on_paper(value: float, count: int, expected: dict[int, float]) -> None:
    spread = values.two_hot(row(value)[0], count)[0]
    assert spread.tolist() == pytest.approx([expected.get(place, 0.0) for place in range(count)], abs=1e-12)


def test_the_points_of_a_support_go_evenly_from_a_loss_to_a_win() -> None:
    assert values.points(5, row(0)).tolist() == [-1, -0.5, 0, 0.5, 1]


def test_a_support_head_on_paper() -> None:
    # Chances ¼, ¼, ½ of −1, 0, 1: a mean of ¼. A target of ½ is half 0 and half 1.
    output = row(1, 1, 2).log()
    assert values.to_wdl("support", output)[0].tolist() == pytest.approx([0.625, 0, 0.375])
    loss = values.loss("support", output, row(0.5, 0.5, 0))
    assert float(loss) == pytest.approx((math.log(4) + math.log(2)) / 2)
    assert float(values.loss("support", output, row(0, 1, 0))) == pytest.approx(math.log(4))


def test_a_win_draw_loss_head_is_what_it_was() -> None:
    output = row(2, 1, 1).log()
    assert values.to_wdl("wdl", output)[0].tolist() == pytest.approx([0.5, 0.25, 0.25])
    loss = values.loss("wdl", output, row(0.5, 0, 0.5))
    assert float(loss) == pytest.approx((math.log(2) + math.log(4)) / 2)


def test_a_head_gives_as_many_numbers_as_it_says(network: Network) -> None:
    expected = {"wdl": 3, "support": network.support}[network.value]
    assert value_outputs(network) == expected == build(GAME.shape, network, 0)(torch.zeros(2, 2, 5, 5)).value.shape[1]


def made_batch(value: Tensor) -> Batch:
    """Samples with these value targets [n, 3] and weights 1, 2, …; one move, no valid reward."""
    count = len(value)
    one = torch.ones(count, 1)
    weight = torch.arange(1.0, count + 1)
    none = torch.zeros(count, 3)
    return Batch(torch.zeros(count, 2, 5, 5), one, one, value, none, none[:, 0], weight, one[:, 0])


@pytest.mark.parametrize("kind", ["wdl", "support"])
def test_a_triple_of_zeros_has_no_value_loss(kind: str) -> None:
    value = torch.tensor([[0.9, 0.0, 0.1], [0.0, 0.0, 0.0], [0.0, 0.2, 0.8]])
    output = torch.randn(3, {"wdl": 3, "support": 7}[kind], generator=torch.Generator().manual_seed(1))
    output.requires_grad_(True)
    found = losses(Outputs(torch.zeros(3, 1), output, None), made_batch(value), kind).value
    single = values.loss(kind, output.detach(), value)
    assert float(found.detach()) == pytest.approx(float(single[0] + 3 * single[2]) / 4)
    found.backward()
    assert output.grad is not None and output.grad[[0, 2]].any(1).all() and not output.grad[1].any()


@pytest.mark.parametrize("kind", ["wdl", "support"])
def test_without_any_value_target_the_loss_is_zero_and_nothing_is_learned_from_it(kind: str) -> None:
    output = torch.ones(2, {"wdl": 3, "support": 7}[kind], requires_grad=True)
    found = losses(Outputs(torch.zeros(2, 1), output, None), made_batch(torch.zeros(2, 3)), kind).value
    found.backward()
    assert float(found.detach()) == 0 and output.grad is not None and not output.grad.any()


def some_samples(count: int = 64) -> Samples:
    states = positions(count)[0].numpy()
    value = np.eye(3, dtype=np.float32)[1 - GAME.outcome(states)]
    ones = np.ones(count, np.float32)
    return Samples(states, *first_moves(states, GAME), value, value, ones, ones)


def test_a_network_without_a_reward_head_has_no_parameters_for_it() -> None:
    whole, without = (
        build(GAME.shape, Network(blocks=1, channels=8), 0),
        build(GAME.shape, Network(blocks=1, channels=8, reward=False), 0),
    )
    assert any(name.startswith("reward") for name, _ in whole.named_parameters())
    assert not any("reward" in name for name in without.state_dict())
    # The head's own layers (800 → 8 → 3), 32 of the 1×1 convolutions from 8 channels, and their norms.
    spared = (800 * 8 + 8) + (8 * 3 + 3) + 32 * 8 + 2 * 32
    counts = [sum(parameter.numel() for parameter in model.parameters()) for model in (whole, without)]
    assert counts[0] - counts[1] == spared


@pytest.mark.parametrize("kind", ["wdl", "support"])
def test_without_a_reward_head_its_loss_is_zero_and_everything_else_learns(kind: str) -> None:
    model = build(GAME.shape, HEADS[f"{kind} alone"], 3).train()
    samples = some_samples(16)
    batch = turned(tensors(samples, GAME, TRAINING, "cpu"), GAME, np.arange(16), np.zeros(16, int))
    outputs = model(batch.planes)
    assert outputs.reward is None
    found = losses(outputs, batch, kind)
    assert float(found.reward) == 0 and float(found.total().detach()) == float((found.policy + found.value).detach())
    assert not agreements(outputs, batch, kind)["reward"].any()
    found.total().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.any(), name


def test_every_kind_of_network_learns(network: Network) -> None:
    model = build(GAME.shape, network, 3)
    state: OptimizerState = {}
    first: dict[str, float] = {}
    for turn in range(1, 8):
        state, metrics = train(model, state, [some_samples()], TRAINING, GAME, 1, turn)
        first = first or metrics
    assert metrics["value_loss"] < 0.8 * first["value_loss"]
    assert (metrics["reward_loss"] > 0) == network.reward


def evaluated(model: ProbZeroNet, count: int = 100) -> Evaluation:
    """What the search would be told, the priors by action."""
    states, legal = positions(count)
    moves = list_moves(legal, GAME.most_moves)
    found = Evaluator(model, GAME, "cpu")(states, moves)
    return found._replace(prior=torch.zeros(legal.shape).scatter(1, moves, found.prior))


def test_an_evaluation_is_what_the_training_form_says(network: Network) -> None:
    model = lively(network)
    states, legal = positions(100)
    with torch.no_grad():
        outputs = model(GAME.encode(states))
    found = evaluated(model)
    value = triples(network.value, outputs.value)
    assert value.std(0)[0] > 0.02, "positions that all look alike show nothing"
    np.testing.assert_allclose(found.value, value, atol=1e-5)
    np.testing.assert_allclose(found.reward, triples("wdl", outputs.reward) if network.reward else value, atol=1e-5)
    weights = torch.where(legal, outputs.policy.double().exp(), 0.0)
    np.testing.assert_allclose(found.prior, weights / weights.sum(1, keepdim=True), atol=1e-5)


def test_every_kind_of_network_survives_its_file(network: Network, tmp_path: Path) -> None:
    model, info = lively(network), checkpoint_info(GAME, network, iteration=17)
    save_checkpoint(tmp_path / "a.safetensors", model, info)
    found, said = load_checkpoint(tmp_path / "a.safetensors", GAME)
    assert said == info and found.config == network
    assert found.state_dict().keys() == model.state_dict().keys()
    assert all(torch.equal(value, model.state_dict()[name]) for name, value in found.state_dict().items())
    for before, after in zip(evaluated(model), evaluated(found), strict=True):
        assert torch.equal(before, after)


def test_the_optimiser_of_every_kind_of_network_survives_its_file(network: Network, tmp_path: Path) -> None:
    model = build(GAME.shape, network, 3)
    state, _ = train(model, {}, [some_samples()], TRAINING, GAME, 1, 1)
    save_optimizer(tmp_path / "o.safetensors", model, state, checkpoint_info(GAME, network))
    found, _ = load_optimizer(tmp_path / "o.safetensors", model)
    assert found.keys() == state.keys() and all(torch.equal(found[name], state[name]) for name in state)


@pytest.mark.parametrize(
    "other",
    [
        Network(blocks=1, channels=8, reward=False),
        Network(blocks=1, channels=8, value="support", support=3),
        Network(blocks=1, channels=8, policy_hidden=4),
    ],
)
def test_a_network_with_other_heads_than_described_is_not_saved(other: Network, tmp_path: Path) -> None:
    path, model = tmp_path / "a.safetensors", build(GAME.shape, Network(blocks=1, channels=8), 0)
    found = re.escape(f"found one for {GAME.identity} with {other.model_dump()}")
    with pytest.raises(ProbZeroError, match=found):
        save_checkpoint(path, model, checkpoint_info(GAME, other))
    assert not path.exists()


@pytest.mark.parametrize(
    "other",
    [
        Network(blocks=1, channels=8, reward=False),
        Network(blocks=1, channels=8, value="support", support=5),
        Network(blocks=1, channels=8, policy_hidden=4),
    ],
)
def test_a_checkpoint_with_other_heads_than_it_says_is_refused(other: Network, tmp_path: Path) -> None:
    path, model = tmp_path / "a.safetensors", build(GAME.shape, Network(blocks=1, channels=8), 0)
    save_checkpoint(path, model, checkpoint_info(GAME, Network(blocks=1, channels=8)))
    redescribe(path, network=other.model_dump())
    with pytest.raises(ProbZeroError, match=r": (policy|value|reward|heads)[._a-z]*: expected "):
        load_checkpoint(path)


def test_a_checkpoint_from_before_there_were_kinds_of_heads_is_read_as_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "old.safetensors"
    model = lively(Network(blocks=1, channels=8))
    save_checkpoint(path, model, checkpoint_info(GAME, Network(blocks=1, channels=8)))
    redescribe(path, network={"blocks": 1, "channels": 8})
    found, info = load_checkpoint(path)
    assert info.network == Network(blocks=1, channels=8, policy_hidden=0, value="wdl", support=21, reward=True)
    assert torch.equal(evaluated(found).value, evaluated(model).value)
