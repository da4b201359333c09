"""The compiled trunk in training: its gradients, its running statistics, and that misuse is refused."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from test_network import FIVE, OBLONG, SQUARE, random_positions, trained_looking
from torch import Tensor

from probzero.games.base import Game
from probzero.network.compiled import halves, trunk
from probzero.network.compiled.layers import ROWS
from probzero.network.compiled.target import VARIABLE, available
from probzero.network.model import ProbZeroNet

CASES = [(FIVE, 2, 48, 13), (FIVE, 1, 7, 150), (SQUARE[0], 2, 16, 40), (SQUARE[3], 1, 10, 9), (OBLONG[0], 1, 12, 16)]
every_case = pytest.mark.parametrize(("game", "blocks", "channels", "batch"), CASES, ids=str)
pytestmark = pytest.mark.usefixtures("one_thread")
Relu = Callable[[Tensor], Tensor]


def planes_of(game: Game, batch: int) -> Tensor:
    return game.encode(random_positions(game, batch)[0])


def loss_of(x: Tensor) -> Tensor:
    """Some smooth function of a trunk's output [H·W, B, C]."""
    weight = torch.linspace(-1, 1, x.numel(), dtype=x.dtype).view_as(x)
    return (x * weight + x * x * weight.flip(0) / 8).sum() / x.shape[1]


def slow_trunk(model: ProbZeroNet, planes: Tensor, relu: Relu) -> Tensor:
    """Plain convolutions in float64, with the statistics of the batch."""
    state = dict(model.named_parameters())

    def convolution(x: Tensor, name: str) -> Tensor:
        y = F.conv2d(x, state[f"{name}.weight"], padding=1)
        return F.batch_norm(y, None, None, state[f"{name}_norm.weight"], state[f"{name}_norm.bias"], training=True)

    x = relu(convolution(planes.double(), "stem"))
    for block in range(len(model.blocks)):
        inner = relu(convolution(x, f"blocks.{block}.first"))
        x = relu(x + convolution(inner, f"blocks.{block}.second"))
    return x.flatten(2).permute(2, 0, 1)


def sides_of(out: Tensor, game: Game, batch: int) -> Iterator[Tensor]:
    """Where the compiled trunk's numbers are above 0, layer by layer, as [B, C, H, W]."""
    for layer in out.grad_fn.layers:
        scale, shift = layer.affine.array
        z = layer.y.array * scale + shift if layer.z is None else layer.z.array
        packs, squares, rows, channels = z.shape
        boards = torch.from_numpy(z).permute(0, 2, 3, 1).reshape(packs * rows, channels, squares)[:batch] > 0
        yield boards.reshape(batch, channels, game.shape.height, game.shape.width)


@every_case
def test_gradients_are_those_of_plain_convolutions(game: Game, blocks: int, channels: int, batch: int) -> None:
    """Rounding may put a number on the other side of a ReLU; so the exact network takes the sides of the compiled."""
    model, planes = trained_looking(game, blocks, channels).train(), planes_of(game, batch)
    exact = copy.deepcopy(model).double()
    out = model._compiled_trunk(planes)
    sides = sides_of(out, game, batch)
    expected = slow_trunk(exact, planes, lambda x: x * next(sides))
    torch.testing.assert_close(out.double(), expected, rtol=0, atol=2e-4)
    loss_of(expected).backward()
    loss_of(out).backward()
    compared = 0
    for (name, mine), wanted in zip(model.named_parameters(), exact.parameters(), strict=True):
        if name.startswith(("stem", "blocks")):
            assert mine.grad is not None and wanted.grad is not None
            assert (mine.grad - wanted.grad).norm() < 5e-5 * wanted.grad.norm(), name
            compared += 1
    assert compared == 3 * (1 + 2 * blocks)


@every_case
def test_running_statistics_are_torch_s(game: Game, blocks: int, channels: int, batch: int) -> None:
    model, planes = trained_looking(game, blocks, channels).train(), planes_of(game, batch)
    other = copy.deepcopy(model)
    model._compiled_trunk(planes)
    other._trunk(planes)
    for (name, mine), wanted in zip(model.named_buffers(), other.buffers(), strict=True):
        torch.testing.assert_close(mine, wanted, rtol=1e-5, atol=1e-5, msg=name)


def test_training_on_a_processor_takes_it_and_evaluation_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    plain = trunk.Trunk.apply
    monkeypatch.setattr(trunk.Trunk, "apply", lambda *given: taken.append(len(given)) or plain(*given))
    model, planes = trained_looking(FIVE, 1, 8), planes_of(FIVE, 9)
    taken.clear()
    model(planes)
    assert not taken
    model.train()(planes)
    assert taken == [3 + 9]
    model.double()(planes.double())
    assert len(taken) == 1


def test_a_parameter_changed_before_the_way_back_is_refused() -> None:
    for part in ("stem.weight", "blocks.0.second.weight", "blocks.0.first_norm.weight"):
        model = trained_looking(FIVE, 1, 8).train()
        loss = loss_of(model._compiled_trunk(planes_of(FIVE, 10)))
        with torch.no_grad():
            model.get_parameter(part).add_(1e-3)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


def test_going_back_twice_is_refused() -> None:
    loss = loss_of(trained_looking(FIVE, 1, 8).train()._compiled_trunk(planes_of(FIVE, 10)))
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="goes back only once"):
        loss.backward()


def test_two_passes_forward_before_the_first_goes_back_do_not_mix() -> None:
    model, (one, other) = trained_looking(FIVE, 1, 8).train(), planes_of(FIVE, 40).split(20)
    alone = [torch.autograd.grad(loss_of(model._compiled_trunk(part)), model.stem.weight)[0] for part in (one, other)]
    losses = [loss_of(model._compiled_trunk(part)) for part in (one, other)]
    together = [torch.autograd.grad(loss, model.stem.weight)[0] for loss in losses]
    assert all(torch.equal(a, b) for a, b in zip(alone, together, strict=True))


def test_blocks_of_the_batch_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for block in (1, 3, 16):
        monkeypatch.setattr(halves, "BLOCK", block)
        monkeypatch.setattr(halves, "POOL", halves.Pool())
        model = trained_looking(FIVE, 1, 16).train()
        loss_of(model._compiled_trunk(planes_of(FIVE, 8 * ROWS - 3))).backward()
        found.append(model.blocks[0].first.weight.grad)
    assert all(torch.equal(gradient, found[0]) for gradient in found)


def learned(game: Game, blocks: int, channels: int, batch: int, threads: int = 1) -> list[bytes]:
    """The gradients and the running statistics that a batch leaves behind, from the same network each time."""
    model = trained_looking(game, blocks, channels).train()
    model.threads = threads
    loss_of(model._compiled_trunk(planes_of(game, batch))).backward()
    gradients = [parameter.grad for name, parameter in model.named_parameters() if name.startswith(("stem", "blocks"))]
    return [tensor.numpy().tobytes() for tensor in (*gradients, *model.buffers())]


@every_case
def test_two_threads_share_a_batch_and_change_no_bit(
    game: Game, blocks: int, channels: int, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, plain = set(), halves.Half.back

    def back(half: halves.Half, *given: Any) -> Any:
        seen.add(threading.get_ident())
        return plain(half, *given)

    monkeypatch.setattr(halves.Half, "back", back)
    for whole in (batch, ROWS - 1):  # a single pack has one half
        seen.clear()
        alone = learned(game, blocks, channels, whole)
        assert len(seen) == 1
        assert learned(game, blocks, channels, whole, threads=2) == alone
        assert len(seen) == (2 if whole > ROWS else 1)


@pytest.mark.skipif(
    len(IEEE := [name for name in available() if name != "plain"]) < 2, reason="one set of instructions"
)
def test_instructions_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for name in IEEE:
        monkeypatch.setenv(VARIABLE, name)
        found.append(learned(*CASES[0]))
    assert all(bits == found[0] for bits in found)
