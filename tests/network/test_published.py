"""Published networks: ours gives the same numbers, and no file is believed or run without need."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import torch
from published_form import Exported, PublishedNet, published_logits, published_state
from sealed import checkpoint_info
from torch import Tensor

from probzero import games, wdl
from probzero.config import Network
from probzero.errors import ProbZeroError
from probzero.games.base import list_moves
from probzero.games.random_play import play_by_seed
from probzero.network.checkpoint import load_checkpoint, save_checkpoint
from probzero.network.inference import Evaluator
from probzero.network.published import convert, read_published
from probzero.tensor_files import METADATA_KEY

SMALL = (2, 8, 5)  # blocks, channels, board


def saved(path: Path, state: Any) -> Path:
    torch.save(state, path)
    return path


def refusal(path: Path, trusted: bool = False) -> str:
    with pytest.raises(ProbZeroError) as error:
        read_published(path, trusted)
    message = str(error.value)
    assert message.startswith(("published network: ", "configuration: ")) and str(path) in message
    assert "\n" not in message and "weights_only" not in message and len(message) < 400 + len(str(path))
    return message


def softmax(logits: np.ndarray) -> np.ndarray:
    raised = np.exp(logits - logits.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


def positions(size: int) -> np.ndarray:
    """Return positions [B, 2] of random games that are not over."""
    game = games.make("othello", size=size)
    states = play_by_seed(game, 5, size * size - 6, seed=1).states.reshape(-1, 2)
    return states[game.legal(states).any(1)]


def boards(states: np.ndarray, size: int) -> np.ndarray:
    """Return the published planes [B, 2, N, N] of states [B, 2]: own and opposing discs, square by square."""
    squares = [[[int(word) >> square & 1 for square in range(size * size)] for word in state] for state in states]
    return np.array(squares, dtype=np.float64).reshape(-1, 2, size, size)


@pytest.mark.parametrize(("blocks", "channels", "size"), [(1, 4, 4), SMALL, (3, 32, 4), (2, 16, 6), (10, 50, 5)])
def test_our_network_gives_the_published_numbers(blocks: int, channels: int, size: int, tmp_path: Path) -> None:
    state = published_state(blocks, channels, size)
    model, info = read_published(saved(tmp_path / "weights.pth", state))
    assert info.network == Network(blocks=blocks, channels=channels)
    game = games.make("othello", size=size)
    assert info.game == game and not model.training
    states = positions(size)
    policy, value, reward = published_logits(state, boards(states, size))
    assert min(part.std(0).max() for part in (policy, value, reward)) > 0.02  # it sees the boards
    with torch.no_grad():
        ours = model(torch.from_numpy(boards(states, size)).float())
    np.testing.assert_allclose(ours.policy, policy, atol=1e-4)
    for found, theirs in ((ours.value, value), (ours.reward, reward)):
        for outcome, place in ((wdl.LOSS, 0), (wdl.DRAW, 1), (wdl.WIN, 2)):
            np.testing.assert_allclose(found[:, outcome], theirs[:, place], atol=1e-4)


def test_the_search_sees_the_published_probabilities(tmp_path: Path) -> None:
    state, game = published_state(*SMALL), games.make("othello", size=5)
    model, info = read_published(saved(tmp_path / "weights.pth", state))
    save_checkpoint(tmp_path / "a.safetensors", model, info)
    model, _ = load_checkpoint(tmp_path / "a.safetensors", game, imported=True)
    states = positions(5)
    moves = list_moves(game.legal(torch.from_numpy(states)), game.most_moves)
    found = Evaluator(model, game, "cpu")(torch.from_numpy(states), moves)
    policy, value, reward = published_logits(state, boards(states, 5))
    legal = game.legal(states)
    prior = softmax(np.where(legal, policy, -np.inf))
    np.testing.assert_allclose(found.prior, np.take_along_axis(prior, moves.numpy(), 1), atol=1e-5)
    np.testing.assert_allclose(found.value, softmax(value)[:, ::-1], atol=1e-5)
    np.testing.assert_allclose(found.reward, softmax(reward)[:, ::-1], atol=1e-5)


def test_an_imported_network_says_where_it_comes_from(tmp_path: Path) -> None:
    path = saved(tmp_path / "weights_iter_150.pth", published_state(*SMALL))
    model, info = read_published(path)
    assert info.imported is not None
    assert info.imported["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert info.imported["file"] == "weights_iter_150.pth" and info.imported["form"] == "state dict"
    assert info.imported["iteration"] == info.made.iteration == 150
    assert info.imported["project"] == "chrono-motz/ProbZero" and "other rules" in info.imported["rules"]
    save_checkpoint(tmp_path / "a.safetensors", model, info)
    found, said = load_checkpoint(tmp_path / "a.safetensors", imported=True)
    assert said == info
    assert all(torch.equal(value, model.state_dict()[name]) for name, value in found.state_dict().items())


def test_a_file_name_without_an_iteration_gives_none(tmp_path: Path) -> None:
    _, info = read_published(saved(tmp_path / "weights.pth", published_state(1, 4, 4)))
    assert info.imported is not None and info.imported["iteration"] is None and info.made.iteration is None
    assert "5×5" not in info.imported["rules"] and "S-shaped" not in info.imported["rules"]


def test_an_imported_network_is_refused_unless_asked_for(tmp_path: Path) -> None:
    model, info = read_published(saved(tmp_path / "weights.pth", published_state(*SMALL)))
    path = tmp_path / "a.safetensors"
    save_checkpoint(path, model, info)
    expected = (
        "imported: expected a network of our own runs, found one imported from weights.pth of chrono-motz/ProbZero"
    )
    with pytest.raises(ProbZeroError, match=expected):
        load_checkpoint(path, games.make("othello", size=5))


def test_a_network_of_our_own_says_nothing_of_imports(tmp_path: Path) -> None:
    model, info = read_published(saved(tmp_path / "weights.pth", published_state(*SMALL)))
    own = checkpoint_info(info.game, info.network)
    save_checkpoint(tmp_path / "a.safetensors", model, own)
    with safetensors.safe_open(tmp_path / "a.safetensors", "pt") as opened:
        assert "imported" not in json.loads(opened.metadata()[METADATA_KEY])
    assert load_checkpoint(tmp_path / "a.safetensors")[1] == own


def changed(name: str, value: Any) -> dict[str, Any]:
    """Return a state dict with another value at `name`, or with none."""
    state: dict[str, Any] = {**published_state(*SMALL), name: value}
    return {name: value for name, value in state.items() if value is not None}


def with_number(name: str, number: float) -> dict[str, Any]:
    state = published_state(*SMALL)
    state[name].view(-1)[-1] = number
    return state


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (changed("p_fc.bias", None), "p_fc.bias: expected a tensor, found none"),
        (changed("conv_input.weight", None), "conv_input.weight: expected a tensor, found none"),
        (changed("v_bn.running_var", None), r"v_bn.running_var: expected torch.float32 of shape (32,), found none"),
        (changed("res_blocks.0.conv1.weight", None), "res_blocks.0.conv1.weight: expected torch.float32 of shape (8, "),
        (changed("res_blocks.1.bn2.bias", None), "res_blocks.1.bn2.bias: expected torch.float32 of shape (8,), found"),
        (changed("p_fc2.weight", torch.zeros(3)), "'p_fc2.weight': expected no such tensor, found one"),
        (changed("conv_input.bias", torch.zeros(8)), "'conv_input.bias': expected no such tensor, found one"),
        (changed("a\nb\x1b[1m", torch.zeros(8)), r"'a\nb\x1b[1m': expected no such tensor, found one"),
        (changed("p_fc.bias", torch.zeros(27)), "p_fc.bias: expected N² + 1 moves for N one of 4, 5, 6, 8, found 27"),
        (changed("p_fc.bias", torch.zeros(50)), "p_fc.bias: expected N² + 1 moves for N one of 4, 5, 6, 8, found 50"),
        (changed("p_fc.bias", torch.zeros(17)), "p_fc.weight: expected torch.float32 of shape (17, 512), found"),
        (changed("p_fc.bias", torch.tensor(1.0)), "p_fc.bias: expected a tensor, found torch.float32 of shape ()"),
        (
            changed("v_fc2.weight", torch.zeros(8, 3)),
            "v_fc2.weight: expected torch.float32 of shape (3, 8), found torch.float32 of shape (8, 3)",
        ),
        (changed("v_fc2.bias", torch.zeros(3).double()), "v_fc2.bias: expected torch.float32 of shape (3,), found"),
        (
            changed("v_fc2.bias", torch.zeros(3).to_sparse()),
            "found torch.float32 of shape (3,) (torch.sparse_coo, cpu)",
        ),
        (changed("v_fc2.bias", [0.0, 0.0, 0.0]), "v_fc2.bias: expected torch.float32 of shape (3,), found a value of"),
        (changed("r_bn.num_batches_tracked", torch.tensor(7)), "p_bn, v_bn, r_bn: expected one number, found [123, 12"),
        (with_number("r_fc1.weight", torch.nan), "r_fc1.weight: expected finite numbers, found NaN or infinity"),
        (with_number("bn_input.bias", torch.inf), "bn_input.bias: expected finite numbers, found NaN or infinity"),
        (with_number("bn_input.running_var", -1), "bn_input.running_var: expected no negative variance, found -1"),
        (published_state(0, 8, 5), "network.blocks: expected a whole number from 1 to 64, found 0"),
        ({}, "conv_input.weight: expected a tensor, found none"),
        ({1: torch.zeros(3)}, "expected a state dict: tensors by name, found a value of type dict"),
        ([torch.zeros(3)], "expected a state dict: tensors by name, found a value of type list"),
        (torch.zeros(3), "expected a state dict: tensors by name, found a value of type Tensor"),
    ],
)
def test_tensors_that_are_not_those_of_a_published_network_are_refused(
    state: Any, message: str, tmp_path: Path
) -> None:
    assert message in refusal(saved(tmp_path / "a.pth", state))


def test_tensors_that_lie_in_memory_in_another_way_are_the_same_network() -> None:
    state = published_state(*SMALL)
    turned = {name: value.T.contiguous().T if value.dim() == 2 else value for name, value in state.items()}
    assert not turned["p_fc.weight"].is_contiguous()
    ours, same = convert(state, "a test")[0].state_dict(), convert(turned, "a test")[0].state_dict()
    assert all(torch.equal(value, same[name]) for name, value in ours.items())


class Code:
    """Pickled as a call of `os.system`."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> Any:
        return os.system, (self.command,)


@pytest.mark.parametrize("trusted", [False, True])
def test_pickled_code_is_not_run(trusted: bool, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    state: dict[str, Any] = {**published_state(*SMALL), "code": Code(f"touch {mark}")}
    message = refusal(saved(tmp_path / "a.pth", state), trusted)
    assert message.endswith("found posix.system, which is not called")
    assert "expected a state dict" in message and not mark.exists()
    (tmp_path / "b.pth").write_bytes(pickle.dumps(Code(f"touch {mark}")))
    assert "expected a whole zip archive" in refusal(tmp_path / "b.pth", trusted)
    torch.save(Code(f"touch {mark}"), tmp_path / "c.pth", _use_new_zipfile_serialization=False)
    assert "expected a whole zip archive" in refusal(tmp_path / "c.pth", trusted)
    assert not mark.exists()
    with pytest.raises(pickle.UnpicklingError, match="posix"):  # the file is what the test says it is
        torch.load(tmp_path / "a.pth", weights_only=True)


def test_a_whole_pickled_module_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.pth", torch.nn.Linear(2, 2))
    assert refusal(path).endswith("found torch.nn.modules.linear.Linear, which is not called")


def test_a_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "a.pth").endswith("expected a file, found nothing")
    assert refusal(tmp_path).endswith("expected a file, found nothing")


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize(
    "data", [b"", b"PK", b"a line of text, and no network\n", bytes(1000)], ids=["empty", "two bytes", "text", "zeros"]
)
def test_a_file_that_is_no_archive_is_refused(data: bytes, trusted: bool, tmp_path: Path) -> None:
    (tmp_path / "a.pth").write_bytes(data)
    assert "expected a whole zip archive, as torch writes them" in refusal(tmp_path / "a.pth", trusted)


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.pth", published_state(*SMALL))
    data = path.read_bytes()
    for length in (4, 100, len(data) // 2, len(data) - 100, len(data) - 1):
        path.write_bytes(data[:length])
        assert "expected a whole zip archive, as torch writes them" in refusal(path)


def test_one_changed_bit_is_noticed(tmp_path: Path) -> None:
    state = published_state(*SMALL)
    path = saved(tmp_path / "a.pth", state)
    data = bytearray(path.read_bytes())
    data[data.find(state["p_fc.weight"].numpy().tobytes()) + 17] ^= 1
    path.write_bytes(data)
    assert refusal(path).endswith("expected the bytes that were written, found others")


def rewritten(path: Path, contents: dict[str, bytes]) -> None:
    """Write an archive anew with other contents of some members, and their checksums right."""
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, contents.get(name.partition("/")[2], old.read(name)))


@pytest.mark.parametrize(
    "data", [b"", b"\x80\x02", b"not a pickle", b"\x80\x02}q\x00(X\xff", b"\x80\x02cposix\nsystem\n."]
)
def test_an_archive_with_a_damaged_pickle_is_refused(data: bytes, tmp_path: Path) -> None:
    path = saved(tmp_path / "a.pth", published_state(1, 4, 4))
    rewritten(path, {"data.pkl": data})
    assert "expected a state dict: tensors by name and nothing else, found " in refusal(path)


def test_an_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.pth", "w") as archive:
        archive.writestr("letter.txt", "a line of text")
    assert "expected a state dict: tensors by name and nothing else, found " in refusal(tmp_path / "a.pth")


def program(path: Path, module: torch.nn.Module, size: int = 4) -> Path:
    with warnings.catch_warnings(action="ignore"):
        torch.jit.save(torch.jit.trace(module.eval(), torch.rand(1, 2, size, size)), path)
    return path


def network(state: dict[str, Tensor]) -> PublishedNet:
    model = PublishedNet(1, 8, 4)
    model.load_state_dict(state)
    return model


@pytest.mark.parametrize("policy_softmax", [False, True])
@pytest.mark.filterwarnings("error")
def test_a_trusted_program_is_the_network_of_its_tensors(policy_softmax: bool, tmp_path: Path) -> None:
    state = published_state(1, 8, 4)
    path = program(tmp_path / "model_iter_20.pt", Exported(network(state), policy_softmax))
    model, info = read_published(path, trusted=True)
    expected, _ = convert(state, "a test")
    assert all(torch.equal(value, expected.state_dict()[name]) for name, value in model.state_dict().items())
    assert info.imported is not None and info.imported["form"] == "TorchScript" and info.made.iteration == 20


def test_a_program_is_not_run_unless_it_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(tmp_path / "a.pt", Exported(network(published_state(1, 8, 4))))
    monkeypatch.setattr(torch.jit, "load", lambda *args, **options: pytest.fail("it was run"))
    monkeypatch.setattr(torch, "load", lambda *args, **options: pytest.fail("it was read"))
    assert refusal(path).endswith("expected a state dict, or --trusted, found TorchScript, a program that reading runs")


def test_a_program_that_computes_something_else_is_refused(tmp_path: Path) -> None:
    expected = "expected the outputs of the published layers: policy, value, reward, found "
    model = network(published_state(1, 8, 4))
    assert expected + "others" in refusal(program(tmp_path / "a.pt", Exported(model, swapped=True)), trusted=True)
    model.bn_input.eps = 0.1
    assert expected + "others" in refusal(program(tmp_path / "b.pt", Exported(model)), trusted=True)


def test_a_program_of_another_network_is_refused(tmp_path: Path) -> None:
    path = program(tmp_path / "a.pt", torch.nn.Conv2d(2, 2, 3))
    assert "conv_input.weight: expected a tensor, found none" in refusal(path, trusted=True)


def test_a_damaged_program_is_refused(tmp_path: Path) -> None:
    path = program(tmp_path / "a.pt", Exported(network(published_state(1, 8, 4))))
    rewritten(path, {"data.pkl": b"not a pickle"})
    assert "expected a TorchScript module, found " in refusal(path, trusted=True)
    path.write_bytes(path.read_bytes()[:-30])
    assert "expected a whole zip archive" in refusal(path, trusted=True)
