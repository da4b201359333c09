"""Training: the loss worked out by hand, learning that happens, and steps that repeat to the bit."""

from __future__ import annotations

import copy
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from learnable import GAME, SETTINGS, small, some_samples
from sealed import checkpoint_info

from probzero import games
from probzero.config import Network
from probzero.learning.dataset import Samples
from probzero.learning.loss import Batch, agreements, losses
from probzero.learning.training import _AdamW, learning_rate, train
from probzero.network.checkpoint import load_checkpoint, load_optimizer, save_checkpoint, save_optimizer
from probzero.network.model import Outputs, build

pytestmark = pytest.mark.usefixtures("one_thread")


def test_the_loss_is_the_one_worked_out_by_hand() -> None:
    # Two samples of weights 1 and 3; logits are logarithms, so that softmax gives round numbers.
    # Policy 1: explored moves 0, 1 with probabilities 1/4, 3/4, target (1, 0): −log 1/4. Policy 2: only move 2: 0.
    # Value 1: (1/2, 1/4, 1/4), target (1, 0, 0): log 2. Value 2: the same, target (0, ½, ½): log 4.
    # Reward: only sample 1 is valid: (1/4, 1/4, 1/2), target (0, 0, 1): log 2.
    log = torch.log
    outputs = Outputs(
        policy=log(torch.tensor([[1.0, 3.0, 5.0], [2.0, 9.0, 4.0]])),
        value=log(torch.tensor([[2.0, 1.0, 1.0], [2.0, 1.0, 1.0]])),
        reward=log(torch.tensor([[1.0, 1.0, 2.0], [5.0, 1.0, 1.0]])),
    )
    batch = Batch(
        planes=torch.zeros(2, 2, 1, 1),
        policy=torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
        mask=torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        value=torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]),
        reward=torch.tensor([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
        valid=torch.tensor([1.0, 0.0]),
        weight=torch.tensor([1.0, 3.0]),
        drawn=torch.ones(2),
    )
    found = losses(outputs, batch)
    assert float(found.policy) == pytest.approx(math.log(4) / 4)
    assert float(found.value) == pytest.approx((math.log(2) + 3 * math.log(4)) / 4)
    assert float(found.reward) == pytest.approx(math.log(2))
    assert float(found.total()) == pytest.approx(float(found.policy + found.value + found.reward))
    assert float(found.total(4.0)) == pytest.approx(float(4 * found.policy + found.value + found.reward))
    # Drawn half and three times as often as the others: for the values sample 1 counts twice, sample 2 a third of 3.
    found = losses(outputs, batch._replace(drawn=torch.tensor([0.5, 3.0])))
    assert float(found.policy) == pytest.approx(math.log(4) / 4)
    assert float(found.value) == pytest.approx((2 * math.log(2) + math.log(4)) / 3)
    assert float(found.reward) == pytest.approx(math.log(2))
    agreed = agreements(outputs, batch)
    assert agreed["policy"].tolist() == [0, 1] and agreed["value"].tolist() == [1, 0]


def test_a_sample_without_a_value_agrees_with_none() -> None:
    outputs = Outputs(torch.zeros(2, 3), torch.tensor([[3.0, 0.0, 0.0], [0.0, 0.0, 3.0]]), torch.zeros(2, 3))
    one = torch.tensor([[1.0, 0.0, 0.0]] * 2)
    batch = Batch(torch.zeros(2, 2, 1, 1), one, torch.ones(2, 3), one * 0, one, *[torch.ones(2)] * 3)
    assert not agreements(outputs, batch)["value"].any()


def test_without_a_valid_reward_its_loss_and_gradient_are_zero() -> None:
    outputs = Outputs(*(torch.zeros(1, 3, requires_grad=True) for _ in range(3)))
    one = torch.tensor([[1.0, 0.0, 0.0]])
    batch = Batch(torch.zeros(1, 2, 1, 1), one, torch.ones(1, 3), one, one * 0, torch.zeros(1), *[torch.ones(1)] * 2)
    losses(outputs, batch).total().backward()
    assert float(losses(outputs, batch).reward.detach()) == 0
    assert outputs.reward.grad is not None and not outputs.reward.grad.any()


def test_the_optimiser_takes_the_steps_of_the_one_in_torch() -> None:
    ours, theirs = small(), small()
    groups = [
        {"params": [parameter for parameter in theirs.parameters() if parameter.dim() > 1], "weight_decay": 0.1},
        {"params": [parameter for parameter in theirs.parameters() if parameter.dim() <= 1], "weight_decay": 0.0},
    ]
    published = torch.optim.AdamW(groups, lr=3e-3, fused=True)
    drawing = torch.Generator().manual_seed(5)
    state: dict[str, torch.Tensor] = {}
    for _ in range(4):
        optimizer = _AdamW(ours, state, 3e-3, 0.1)  # made anew from what the last one left, as from a file
        for _ in range(2):
            for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
                mine.grad = torch.randn(mine.shape, generator=drawing)
                other.grad = mine.grad.clone()
            optimizer.step()
            published.step()
        state = optimizer.state()
    assert state["step"] == 8
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert mine.equal(other)


def test_before_the_first_step_the_optimiser_has_no_state() -> None:
    assert _AdamW(small(), {}, 3e-3, 0.1).state() == {}


def test_the_first_steps_of_a_run_grow_to_the_whole_rate_across_iterations() -> None:
    # Adam's first steps are as long as the rate; with gradients that stay the same, so are all others.
    model, state, lengths = small(), {}, []
    for _ in range(2):
        optimizer = _AdamW(model, state, 1e-3, 0.0, warm_up=4)
        for _ in range(3):
            before = model.value.output.bias.detach().clone()
            for parameter in model.parameters():
                parameter.grad = torch.ones_like(parameter)
            optimizer.step()
            lengths.append(float((before - model.value.output.bias).detach().mean()))
        state = optimizer.state()
    assert lengths == pytest.approx([0.25e-3, 0.5e-3, 0.75e-3, 1e-3, 1e-3, 1e-3], rel=1e-3)


def test_a_network_learns_a_small_set_by_heart() -> None:
    model, state = build(GAME.shape, Network(blocks=2, channels=32), 7), {}
    settings = SETTINGS.model_copy(update={"symmetries": False})
    for iteration in range(1, 41):
        state, metrics = train(model, state, [some_samples()], settings, GAME, 1, iteration)
    assert metrics["policy_agreement"] > 0.95 and metrics["value_accuracy"] > 0.95
    assert metrics["policy_loss"] < 0.3 and metrics["steps"] == 3 and metrics["samples"] == 96


@pytest.mark.parametrize(("width", "height"), [(5, 4), (7, 6)])
def test_networks_for_oblong_boards_learn_too(width: int, height: int) -> None:
    game = games.make("connect_four", width=width, height=height)
    model, state, losses = build(game.shape, Network(blocks=2, channels=16), 7), {}, []
    settings = SETTINGS.model_copy(update={"symmetries": False})
    for iteration in range(1, 16):
        before = {name: value.clone() for name, value in model.named_parameters()}
        state, metrics = train(model, state, [some_samples(96, game)], settings, game, 1, iteration)
        assert not any(torch.equal(before[name], value) for name, value in model.named_parameters())
        losses.append(metrics["policy_loss"])
    assert losses[-1] < 0.5 * losses[0] and metrics["policy_agreement"] > 0.9


def test_equal_inputs_give_equal_bytes_and_another_key_does_not() -> None:
    models = [small() for _ in range(3)]
    for model, key in zip(models, (5, 5, 6), strict=True):
        train(model, {}, [some_samples()], SETTINGS, GAME, 1, key)
    first, second, third = (model.state_dict() for model in models)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not all(torch.equal(first[name], third[name]) for name in first)


def test_neither_our_threads_nor_those_of_torch_change_a_bit() -> None:
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        model = small()
        train(model, {}, [some_samples()], SETTINGS.model_copy(update={"threads": threads}), GAME, 1, 1)
        assert torch.get_num_threads() == threads
        found.append(model.state_dict())
    assert all(torch.equal(found[0][name], found[1][name]) for name in found[0])


def test_carrying_the_optimiser_state_matters_and_is_lossless() -> None:
    model = small()
    state, _ = train(model, {}, [some_samples()], SETTINGS, GAME, 1, 1)
    kept, reloaded, fresh = copy.deepcopy(model), copy.deepcopy(model), copy.deepcopy(model)
    copied = {name: tensor.clone() for name, tensor in state.items()}
    for network, moments in ((kept, state), (reloaded, copied), (fresh, {})):
        train(network, moments, [some_samples()], SETTINGS, GAME, 2, 2)
    name = "policy.weight"
    assert torch.equal(kept.state_dict()[name], reloaded.state_dict()[name])
    assert not torch.equal(kept.state_dict()[name], fresh.state_dict()[name])
    assert float(state["step"]) == 3


def test_heavier_samples_pull_harder() -> None:
    # Two samples of one position that contradict each other: the value goes to the heavier one.
    part = some_samples(1)
    other = np.roll(part.value, 1, axis=1)
    data = Samples(*(np.repeat(column, 2, axis=0) for column in vars(part).values()))
    data.value[1], data.weight[:] = other, [1, 100]
    model, state = small(), {}
    settings = SETTINGS.model_copy(update={"symmetries": False, "visit_exponent": 1.0, "batch_size": 2})
    for turn in range(60):
        state, _ = train(model, state, [data], settings, GAME, 1, turn)
    planes = torch.from_numpy(GAME.encode(data.states[:1]))
    assert int(model(planes).value.argmax()) == int(other.argmax())


def test_the_learning_rate_falls_by_a_half_cosine() -> None:
    rates = [learning_rate(SETTINGS, iteration) for iteration in range(1, 11)]
    assert rates[0] == pytest.approx(3e-3) and rates[-1] == pytest.approx(1e-4)
    assert all(later < earlier for earlier, later in pairwise(rates))
    middle = learning_rate(SETTINGS.model_copy(update={"iterations": 11}), 6)
    assert middle == pytest.approx((3e-3 + 1e-4) / 2)


def test_a_run_resumed_from_its_files_goes_on_bit_for_bit(tmp_path: Path) -> None:
    model, info = small(), checkpoint_info(GAME, Network(blocks=1, channels=8))
    state, _ = train(model, {}, [some_samples()], SETTINGS, GAME, 1, 1)
    save_checkpoint(tmp_path / "model", model, info)
    save_optimizer(tmp_path / "state", model, state, info)
    state, _ = train(model, state, [some_samples()], SETTINGS, GAME, 2, 2)
    resumed, _ = load_checkpoint(tmp_path / "model")
    reloaded, _ = load_optimizer(tmp_path / "state", resumed)
    reloaded, _ = train(resumed, reloaded, [some_samples()], SETTINGS, GAME, 2, 2)
    for names, found, expected in (
        (state, reloaded, state),
        (model.state_dict(), resumed.state_dict(), model.state_dict()),
    ):
        assert all(torch.equal(found[name], expected[name]) for name in names)


def test_weight_decay_shrinks_weights_but_neither_biases_nor_norms() -> None:
    # A step of exactly 0 learning signal is impossible, so compare two runs that differ in the decay alone.
    plain, decayed = small(), small()
    settings = SETTINGS.model_copy(update={"batch_size": 96, "learning_rate": 0.1, "weight_decay": 0.0})
    train(plain, {}, [some_samples()], settings, GAME, 1, 1)
    train(decayed, {}, [some_samples()], settings.model_copy(update={"weight_decay": 0.5}), GAME, 1, 1)
    start = dict(small().named_parameters())
    for (name, without), with_decay in zip(plain.named_parameters(), decayed.parameters(), strict=True):
        shrunk = 0.1 * 0.5 * start[name] if start[name].dim() > 1 else torch.zeros_like(start[name])
        torch.testing.assert_close(without - with_decay, shrunk, rtol=1e-3, atol=1e-6)


def test_metrics_are_those_of_the_table_and_sane() -> None:
    _, metrics = train(
        small(), {}, [some_samples(), some_samples(40)], SETTINGS.model_copy(update={"samples": 100}), GAME, 3, 1
    )
    assert set(metrics) == {
        "iteration", "learning_rate", "samples", "window_positions", "steps", "policy_loss", "value_loss",
        "reward_loss", "total_loss", "policy_agreement", "value_accuracy", "reward_accuracy", "gradient_norm",
    }  # fmt: skip
    assert (metrics["iteration"], metrics["samples"], metrics["window_positions"], metrics["steps"]) == (3, 100, 136, 4)
    assert metrics["value_loss"] == pytest.approx(math.log(3), rel=0.3)  # an untrained network knows nothing
    assert metrics["total_loss"] == pytest.approx(
        sum(metrics[f"{head}_loss"] for head in ("policy", "value", "reward"))
    )
    assert all(0 <= metrics[name] <= 1 for name in ("policy_agreement", "value_accuracy", "reward_accuracy"))
    assert metrics["gradient_norm"] > 0
