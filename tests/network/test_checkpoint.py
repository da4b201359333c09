"""Checkpoints: what is saved is loaded again, and every kind of damage is one clear line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from sealed import checkpoint_info, rearrange, redescribe
from torch import Tensor

from probzero import games
from probzero.config import Network
from probzero.errors import ProbZeroError
from probzero.games.base import Game
from probzero.network.checkpoint import (
    load_checkpoint,
    load_optimizer,
    optimizer_shapes,
    save_checkpoint,
    save_optimizer,
)
from probzero.network.model import ProbZeroNet, build
from probzero.tensor_files import METADATA_KEY

GAME = games.make("othello", size=5)
INFO = checkpoint_info(GAME, Network(blocks=2, channels=8), seed=3, iteration=17)


def small() -> ProbZeroNet:
    return build(GAME.shape, INFO.network, seed_key=9)


def moments(model: ProbZeroNet) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(1)
    return {name: torch.rand(shape, generator=generator) for name, (shape, _) in optimizer_shapes(model).items()}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "0017.safetensors"
    save_checkpoint(path, small(), INFO)
    return path


def refusal(path: Path, game: Game | None = None) -> str:
    with pytest.raises(ProbZeroError) as error:
        load_checkpoint(path, game)
    message = str(error.value)
    assert message.startswith(f"checkpoint: {path}") and "\n" not in message
    return message


def test_weights_and_description_survive_the_file(saved: Path) -> None:
    model, info = load_checkpoint(saved, GAME)
    assert info == INFO and not model.training
    expected = small().state_dict()
    assert model.state_dict().keys() == expected.keys()
    assert all(torch.equal(value, expected[name]) for name, value in model.state_dict().items())


@pytest.mark.parametrize(("width", "height"), [(5, 4), (6, 5), (4, 4)])
def test_networks_for_oblong_boards_survive_the_file(width: int, height: int, tmp_path: Path) -> None:
    game, path = games.make("connect_four", width=width, height=height), tmp_path / "a.safetensors"
    model, info = build(game.shape, INFO.network, seed_key=4), replace(INFO, game=game)
    save_checkpoint(path, model, info)
    found, said = load_checkpoint(path, game)
    assert said == info and found.shape == game.shape
    assert all(torch.equal(value, model.state_dict()[name]) for name, value in found.state_dict().items())
    turned = games.make("connect_four", width=height, height=width)
    if turned != game:  # as many squares, another board
        assert f": game: expected {turned.described}, found " in refusal(path, turned)
        with pytest.raises(ProbZeroError, match="expected a network for"):
            save_checkpoint(path, model, replace(INFO, game=turned))


def test_a_loaded_network_can_be_trained(saved: Path) -> None:
    model, _ = load_checkpoint(saved)
    model.train()(torch.zeros(4, 2, 5, 5)).value.sum().backward()
    assert all(parameter.requires_grad and parameter.is_leaf for parameter in model.parameters())


def test_equal_contents_give_equal_bytes_even_in_another_process(saved: Path, tmp_path: Path) -> None:
    program = (
        "import sys; sys.path[:0] = sys.argv[2:]\n"
        "from test_checkpoint import INFO, save_checkpoint, small\n"
        "save_checkpoint(sys.argv[1], small(), INFO)\n"
    )
    again = tmp_path / "again.safetensors"
    subprocess.run([sys.executable, "-c", program, str(again), str(Path(__file__).parent), *sys.path], check=True)
    assert again.read_bytes() == saved.read_bytes()


def test_a_network_that_is_not_what_its_description_says_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ProbZeroError, match=r"a network for \(2, 5, 5, 26\) with .*'blocks': 2.*found .*'blocks': 3"):
        save_checkpoint(tmp_path / "a.safetensors", small(), replace(INFO, network=Network(blocks=3, channels=8)))
    assert not list(tmp_path.iterdir())


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none").endswith("expected a file, found nothing")


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        lambda data: data[:4],
        lambda data: data[:200],
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda data: b"not a checkpoint at all, only a line of text",
        lambda data: data[:9] + b"\xff" + data[10:],
    ],
    ids=["empty", "4 bytes", "header cut", "truncated", "over-long", "text", "header damaged"],
)
def test_a_file_that_is_not_whole_is_refused(saved: Path, change: Callable[[bytes], bytes]) -> None:
    saved.write_bytes(change(saved.read_bytes()))
    assert "expected a whole safetensors file" in refusal(saved)


@pytest.mark.parametrize("place", [-1, -5000])
def test_one_changed_bit_is_noticed(saved: Path, place: int) -> None:
    data = bytearray(saved.read_bytes())
    data[place] ^= 1
    saved.write_bytes(data)
    assert ": checksum: expected that of the file's contents" in refusal(saved)


@pytest.mark.parametrize(
    "changes", [{"network": {"blocks": 2, "channels": 9}}, {"origin": {"command": "train", "seed": 4}}, {"extra": 1}]
)
def test_a_changed_description_is_noticed(saved: Path, changes: dict[str, Any]) -> None:
    redescribe(saved, signed=False, **changes)
    assert ": checksum: expected that of the file's contents" in refusal(saved)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "format: expected 3, found 2"),
        ({"game_version": 0}, "game_version: expected 1, found 0"),
        ({"kind": "dataset"}, "kind: expected checkpoint, found dataset"),
        ({"format": None}, "format: expected 3, found nothing"),
        ({"checksum": "0"}, "checksum: expected that of the file's contents, found 0"),
        ({"origin": None}, "origin: expected the origin of a file"),
        ({"origin": {"command": "train", "iteration": "17"}}, "origin.iteration: expected the origin of a file"),
        ({"origin": {"command": "train", "author": "me"}}, "origin.author: expected the origin of a file"),
        ({"game": {"name": "othello", "size": 7}}, "game: expected the settings of a game, found {'name': 'othello'"),
        ({"game": {"name": "ludo"}}, "game: expected the settings of a game, found {'name': 'ludo'}"),
        ({"game": {"name": "othello"}}, "game: expected the settings of a game, found {'name': 'othello'}"),
        ({"game": 5}, "game: expected the settings of a game, found 5"),
        ({"network": None}, "network: expected the settings of a network, found None"),
        ({"network": {"blocks": 2}}, "network: expected the settings of a network, found {'blocks': 2}"),
        ({"network": {"blocks": 2, "channels": 0}}, "network: expected the settings of a network"),
    ],
)
def test_a_wrong_description_is_refused(saved: Path, changes: dict[str, Any], message: str) -> None:
    redescribe(saved, **changes)
    assert message in refusal(saved)


def test_tensors_of_the_wrong_size_number_or_name_are_refused(saved: Path) -> None:
    redescribe(saved, game={"name": "othello", "size": 6})
    assert "policy.bias: expected float32 of shape (37,), found float32 of shape (26,)" in refusal(saved)
    redescribe(saved, game=GAME.described, network={"blocks": 3, "channels": 8})
    assert "blocks.2.first.weight: expected a tensor, found none" in refusal(saved)
    redescribe(saved, network={"blocks": 1, "channels": 8})
    assert "blocks.1.first.weight: expected no such tensor, found one" in refusal(saved)


def test_a_safetensors_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    safetensors.torch.save_file({"weight": torch.zeros(3)}, path)
    assert "metadata: expected an entry 'probzero', found none" in refusal(path)
    for text in ("[1", "[" * 100_000, '{"seed": NaN}'):
        safetensors.torch.save_file({"weight": torch.zeros(3)}, path, {METADATA_KEY: text})
        assert "metadata: expected readable JSON" in refusal(path)
    safetensors.torch.save_file({"weight": torch.zeros(3)}, path, {METADATA_KEY: "[1]"})
    assert "metadata: expected a JSON object, found list" in refusal(path)


@pytest.mark.parametrize("number", [torch.nan, torch.inf])
def test_weights_that_are_not_numbers_are_neither_written_nor_read(saved: Path, number: float) -> None:
    model, before = small(), saved.read_bytes()
    with torch.no_grad():
        model.stem.weight[0, 0, 0, 0] = number
    with pytest.raises(ProbZeroError, match=r"stem\.weight: expected finite numbers to write, found NaN or infinity"):
        save_checkpoint(saved, model, INFO)
    assert saved.read_bytes() == before
    rearrange(saved, **{"stem.weight": model.stem.weight.detach().numpy()})
    assert "stem.weight: expected finite numbers, found NaN or infinity" in refusal(saved)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"iteration": 16}, "iteration: expected iteration 16, found iteration 17"),
        ({"seed": 4}, "seed: expected seed 4, found seed 3"),
        ({"subject": "ceiling"}, "subject: expected subject ceiling, found no subject"),
        (
            {"settings": {"game": "b"}},
            r"game: expected a file made with the settings at hand \(b\), found one made",
        ),
    ],
)
def test_a_checkpoint_from_elsewhere_is_refused(saved: Path, wanted: dict[str, Any], message: str) -> None:
    save_checkpoint(saved, small(), checkpoint_info(GAME, INFO.network, seed=3, iteration=17, settings={"game": "a"}))
    load_checkpoint(saved, GAME, seed=3, iteration=17, subject=None, settings={"game": "a", "truth": "c"})
    with pytest.raises(ProbZeroError, match=message):
        load_checkpoint(saved, GAME, **wanted)
    save_optimizer(
        saved, small(), {}, checkpoint_info(GAME, INFO.network, seed=3, iteration=17, settings={"game": "a"})
    )
    with pytest.raises(ProbZeroError, match=message):
        load_optimizer(saved, small(), **wanted)


def test_a_network_of_another_game_is_refused(saved: Path) -> None:
    found = "found {'name': 'othello', 'size': 5}"
    assert refusal(saved, games.make("othello", size=6)).endswith(f"expected {{'name': 'othello', 'size': 6}}, {found}")
    other = games.make("connect_four", width=5, height=5)
    assert refusal(saved, other).endswith(f": game: expected {other.described}, {found}")


def test_a_network_of_another_version_of_its_game_is_refused(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(GAME), "version", GAME.version + 1)  # as if the rules had changed since
    assert refusal(saved, GAME).endswith(f"game_version: expected {GAME.version}, found {GAME.version - 1}")
    save_checkpoint(saved, small(), INFO)
    assert load_checkpoint(saved, GAME)[1] == INFO


def test_the_optimiser_state_survives_the_file(tmp_path: Path) -> None:
    model, path = small(), tmp_path / "o.safetensors"
    state = moments(model)
    save_optimizer(path, model, state, INFO)
    found, info = load_optimizer(path, model)
    assert info == INFO and found.keys() == state.keys()
    assert all(torch.equal(found[name], value) for name, value in state.items())
    save_optimizer(path, model, {}, INFO)
    assert load_optimizer(path, model) == ({}, INFO)


def test_an_optimiser_state_that_does_not_fit_is_refused(saved: Path, tmp_path: Path) -> None:
    model, path = small(), tmp_path / "o.safetensors"
    state = moments(model)
    with pytest.raises(ProbZeroError, match="kind: expected optimiser, found checkpoint"):
        load_optimizer(saved, model)
    save_optimizer(path, model, {name: value for name, value in state.items() if name != "step"}, INFO)
    with pytest.raises(ProbZeroError, match="step: expected a tensor, found none"):
        load_optimizer(path, model)
    save_optimizer(path, model, state | {"first.stem.weight": torch.zeros(1)}, INFO)
    with pytest.raises(ProbZeroError, match=r"first\.stem\.weight: expected float32 of shape \(8, 2, 3, 3\)"):
        load_optimizer(path, model)
    save_optimizer(path, model, state, INFO)
    with pytest.raises(ProbZeroError, match=r"a network for \(2, 5, 5, 26\) with .*'blocks': 1.*found .*'blocks': 2"):
        load_optimizer(path, build(GAME.shape, Network(blocks=1, channels=8), seed_key=0))
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(ProbZeroError, match="expected a whole safetensors file"):
        load_optimizer(path, model)


def test_a_refused_save_leaves_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()
    monkeypatch.setattr(Path, "write_bytes", lambda path, data: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save_checkpoint(saved, small(), checkpoint_info(GAME, INFO.network, iteration=18))
    assert saved.read_bytes() == before and [path.name for path in saved.parent.iterdir()] == [saved.name]
