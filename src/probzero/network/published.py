"""Networks of the published project (chrono-motz/ProbZero on GitHub), made ours.

Their layers are ours under other names, so that every tensor finds its place and no number changes. Planes (own,
opponent), squares (row·N + column), actions (pass last) and the batch norms' constants agree. What differs:

- each head has a 1×1 convolution and a batch norm of its own there; here one layer serves policy, value and reward;
- the heads' features are listed by channel and then by square there (c·N² + s), the other way round here (s·32 + c);
- value and reward are loss, draw, win there: the order of `wdl` turned round.

Weights come as *state dicts*, read by the part of torch that makes tensors and calls nothing that a file names, or as
*TorchScript*, programs that reading runs: those only where the user trusts the file. A checkpoint made of either says
where it comes from (`CheckpointInfo.imported`): it learned under the rules of other code.
"""

from __future__ import annotations

import hashlib
import io
import math
import re
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeGuard

import torch
from torch import Tensor

from probzero import games, wdl
from probzero.config import Network, parse_part
from probzero.errors import bad
from probzero.games.base import Game
from probzero.games.registry import GAMES
from probzero.network.checkpoint import CheckpointInfo
from probzero.network.model import HEAD_CHANNELS, ProbZeroNet
from probzero.origin import Origin

PROJECT = "chrono-motz/ProbZero"
GAME = "othello"  # the one game that the project has
RULES = {
    5: "other rules than ours: wrong shift masks (legal moves differ in more than 40 % of positions), S-shaped start",
}
OTHER_RULES = "those of the published code for this board, which the file does not show"

HEADS = ("p", "v", "r")  # in the order of our joint layer
NORM = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")
TRIED = 64  # boards on which a program and our network must agree
TOLERANCE = 1e-4  # of a probability

Shapes = dict[str, tuple[int, ...]]


def read_published(path: str | Path, trusted: bool = False) -> tuple[ProbZeroNet, CheckpointInfo]:
    """Return the network of a published file, in evaluation mode on the CPU, and what its checkpoint is to say of it.

    A TorchScript file is run, and so refused unless it is `trusted`."""
    path = Path(path)
    if not path.is_file():
        raise bad("published network", path, "a file", "nothing")
    data = path.read_bytes()
    program = _is_program(path, data)
    if program and not trusted:
        raise bad("published network", path, "a state dict, or --trusted", "TorchScript, a program that reading runs")
    script = _read_program(path, data) if program else None
    state = _program_tensors(script) if script is not None else _read_tensors(path, data)
    model, game = convert(state, path)
    if script is not None:
        _check_program(path, script, model)
    number = re.search(r"_iter_(\d+)", path.name)
    iteration = int(number[1]) if number else None
    imported = {
        "project": PROJECT,
        "file": path.name,
        "sha256": hashlib.sha256(data).hexdigest(),
        "form": "TorchScript" if program else "state dict",
        "iteration": iteration,
        "rules": RULES.get(model.shape.height, OTHER_RULES),
    }
    return model, CheckpointInfo(Origin(command="import", iteration=iteration), game, model.config, imported)


def convert(state: Mapping[str, Any], where: str | Path) -> tuple[ProbZeroNet, Game]:
    """Return our network of published tensors, and its game; `where` is for errors.

    Blocks, channels and board are read off the shapes; then every tensor must be there, no other, and of its shape."""
    channels = _shape(state, "conv_input.weight", where)[0]
    blocks = sum(re.fullmatch(r"res_blocks\.\d+\.conv1\.weight", name) is not None for name in state)
    size = _board_size(_shape(state, "p_fc.bias", where)[0], where)
    network: Network = parse_part("network", {"blocks": blocks, "channels": channels}, str(where))
    _check(state, _shapes(blocks, channels, size), where)
    game = games.make(GAME, size=size)
    with torch.device("meta"):
        model = ProbZeroNet(game.shape, network)
    model.load_state_dict(_renamed(state, blocks, size * size, where), assign=True)
    return model.requires_grad_(True).eval(), game


def _shapes(blocks: int, channels: int, size: int) -> Shapes:
    """Return name and shape of every tensor of a published network for size × size boards."""
    squares = size * size
    features = HEAD_CHANNELS * squares
    shapes: Shapes = {"conv_input.weight": (channels, 2, 3, 3), **_norm_shapes("bn_input", channels)}
    for block in range(blocks):
        for half in (1, 2):
            shapes[f"res_blocks.{block}.conv{half}.weight"] = (channels, channels, 3, 3)
            shapes |= _norm_shapes(f"res_blocks.{block}.bn{half}", channels)
    for head in HEADS:
        shapes[f"{head}_conv.weight"] = (HEAD_CHANNELS, channels, 1, 1)
        shapes |= _norm_shapes(f"{head}_bn", HEAD_CHANNELS)
    shapes |= _linear_shapes("p_fc", features, squares + 1)
    for head in ("v", "r"):
        shapes |= _linear_shapes(f"{head}_fc1", features, channels) | _linear_shapes(f"{head}_fc2", channels, wdl.SIZE)
    return shapes


def _norm_shapes(name: str, channels: int) -> Shapes:
    return {f"{name}.{part}": () if part == "num_batches_tracked" else (channels,) for part in NORM}


def _linear_shapes(name: str, inputs: int, outputs: int) -> Shapes:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _renamed(state: Mapping[str, Tensor], blocks: int, squares: int, where: str | Path) -> dict[str, Tensor]:
    """Return the tensors of our network, made of all those of a published one."""
    ours = {"stem.weight": state["conv_input.weight"], **_norm(state, "bn_input", "stem_norm")}
    for block in range(blocks):
        for half, name in (("1", "first"), ("2", "second")):
            theirs, target = f"res_blocks.{block}", f"blocks.{block}.{name}"
            ours[f"{target}.weight"] = state[f"{theirs}.conv{half}.weight"]
            ours |= _norm(state, f"{theirs}.bn{half}", f"{target}_norm")
    ours["heads.weight"] = torch.cat([state[f"{head}_conv.weight"].flatten(1) for head in HEADS])  # [3·32, C]
    ours |= _joint_norm(state, where)
    ours["policy.weight"] = _by_square(state["p_fc.weight"], squares)
    ours["policy.bias"] = state["p_fc.bias"]
    for head, name in (("v", "value"), ("r", "reward")):
        ours[f"{name}.hidden.weight"] = _by_square(state[f"{head}_fc1.weight"], squares)
        ours[f"{name}.hidden.bias"] = state[f"{head}_fc1.bias"]
        ours[f"{name}.output.weight"] = wdl.flip(state[f"{head}_fc2.weight"].T).T  # [3, C]
        ours[f"{name}.output.bias"] = wdl.flip(state[f"{head}_fc2.bias"])  # [3]
    return {name: tensor.detach().clone().contiguous() for name, tensor in ours.items()}


def _norm(state: Mapping[str, Tensor], theirs: str, ours: str) -> dict[str, Tensor]:
    return {f"{ours}.{part}": state[f"{theirs}.{part}"] for part in NORM}


def _joint_norm(state: Mapping[str, Tensor], where: str | Path) -> dict[str, Tensor]:
    """Return the one batch norm of our heads; those of theirs have seen the same batches."""
    parts = {part: [state[f"{head}_bn.{part}"] for head in HEADS] for part in NORM}
    counts = [int(count) for count in parts.pop("num_batches_tracked")]
    if len(set(counts)) > 1:
        names = f"{where}: num_batches_tracked of {', '.join(f'{head}_bn' for head in HEADS)}"
        raise bad("published network", names, "one number", counts)
    joint = {f"heads_norm.{part}": torch.cat(tensors) for part, tensors in parts.items()}  # [3·32] each
    return {**joint, "heads_norm.num_batches_tracked": torch.tensor(counts[0])}


def _by_square(weight: Tensor, squares: int) -> Tensor:
    """Return weight [O, 32·H·W] with its columns by square and then by channel, where they were the other way round."""
    return weight.reshape(-1, HEAD_CHANNELS, squares).transpose(1, 2).flatten(1)


def _shape(state: Mapping[str, Any], name: str, where: str | Path) -> tuple[int, ...]:
    """Return the shape of a tensor that sizes are read off, with one dimension at least."""
    tensor = state.get(name)
    if not isinstance(tensor, Tensor) or not tensor.dim():
        raise bad("published network", f"{where}: {name}", "a tensor", _described(tensor))
    return tuple(tensor.shape)


def _board_size(actions: int, where: str | Path) -> int:
    """Return N of a policy with N² + 1 moves."""
    sizes = GAMES[GAME].options["size"]
    size = math.isqrt(max(actions - 1, 0))
    if size not in sizes or size * size + 1 != actions:
        expected = f"N² + 1 moves for N one of {', '.join(map(str, sizes))}"
        raise bad("published network", f"{where}: p_fc.bias", expected, actions)
    return size


def _check(state: Mapping[str, Any], shapes: Shapes, where: str | Path) -> None:
    """Refuse tensors that are not exactly those of `shapes`, or hold what no training leaves."""
    for name in [*shapes, *(name for name in state if name not in shapes)]:
        if name not in shapes:
            raise bad("published network", f"{where}: {name!a}", "no such tensor", "one")
        place = f"{where}: {name}"
        tensor = state.get(name)
        wanted = torch.int64 if name.endswith("num_batches_tracked") else torch.float32
        expected = f"{wanted} of shape {shapes[name]}"
        if not _is_plain(tensor) or (tuple(tensor.shape), tensor.dtype) != (shapes[name], wanted):
            raise bad("published network", place, expected, _described(tensor))
        if not tensor.isfinite().all():
            raise bad("published network", place, "finite numbers", "NaN or infinity")
        if name.endswith("running_var") and tensor.min() < 0:
            raise bad("published network", place, "no negative variance", tensor.min().item())


def _is_plain(tensor: Any) -> TypeGuard[Tensor]:
    """Return whether this is an ordinary tensor with its numbers in memory."""
    return isinstance(tensor, Tensor) and tensor.layout == torch.strided and tensor.device.type == "cpu"


def _described(value: Any) -> str:
    if value is None:
        return "none"
    if not isinstance(value, Tensor):
        return f"a value of type {type(value).__name__}"
    kind = "" if _is_plain(value) else f" ({value.layout}, {value.device.type})"
    return f"{value.dtype} of shape {tuple(value.shape)}{kind}"


def _is_program(path: Path, data: bytes) -> bool:
    """Return whether a file's bytes are TorchScript; refuse anything but a whole zip archive, which both forms are."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            damaged = archive.testzip()
            names = archive.namelist()
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise bad("published network", path, "a whole zip archive, as torch writes them", _line(error)) from None
    if damaged is not None:
        raise bad("published network", f"{path}: {damaged}", "the bytes that were written", "others")
    return any(name.partition("/")[2] == "constants.pkl" for name in names)


def _read_tensors(path: Path, data: bytes) -> Mapping[str, Any]:
    """Return a state dict; whatever else the file names is neither made nor called."""
    try:
        with warnings.catch_warnings(action="ignore"):
            state = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged pickle can fail in any way
        named = re.search(
            r"GLOBAL ([\w.]+)", str(error)
        )  # torch's own message goes on to say how to run it all the same
        found = f"{named[1]}, which is not called" if named else f"something else ({type(error).__name__})"
        raise bad("published network", path, "a state dict: tensors by name and nothing else", found) from None
    if not isinstance(state, dict) or not all(isinstance(name, str) for name in state):
        raise bad("published network", path, "a state dict: tensors by name", f"a value of type {type(state).__name__}")
    return state


def _read_program(path: Path, data: bytes) -> torch.jit.ScriptModule:
    """Return a TorchScript module; this runs what the file says."""
    try:
        with warnings.catch_warnings(action="ignore"):  # torch would rather have us use another form
            return torch.jit.load(io.BytesIO(data), map_location="cpu").eval()
    except Exception as error:
        raise bad("published network", path, "a TorchScript module", _line(error)) from None


def _program_tensors(script: torch.jit.ScriptModule) -> dict[str, Tensor]:
    """Return the tensors by name; the published exporter wraps a network as `m`."""
    tensors = script.state_dict()
    wrapped = all(name.startswith("m.") for name in tensors)
    return {name.removeprefix("m.") if wrapped else name: tensor for name, tensor in tensors.items()}


@torch.inference_mode()
def _check_program(path: Path, script: torch.jit.ScriptModule, model: ProbZeroNet) -> None:
    """Refuse a program that computes anything else from its tensors than our network does."""
    generator = torch.Generator().manual_seed(0)
    discs = torch.randint(3, (TRIED, model.shape.height, model.shape.width), generator=generator)
    planes = torch.stack([discs == 1, discs == 2], dim=1).float()
    expected = "the outputs of the published layers: policy, value, reward"
    try:
        policy, value, reward = (_probabilities(output) for output in script(planes))
        theirs = torch.cat([policy, wdl.flip(value), wdl.flip(reward)], dim=1)
    except Exception as error:
        raise bad("published network", path, expected, _line(error)) from None
    ours = torch.cat([output.softmax(-1) for output in model(planes) if output is not None], dim=1)
    if theirs.shape != ours.shape or not torch.allclose(theirs, ours, rtol=0, atol=TOLERANCE):
        raise bad("published network", path, expected, "others")


def _probabilities(output: Tensor) -> Tensor:
    """Return an output [B, ·] as probabilities: exporters differ in which they leave as logits."""
    already = (output >= 0).all() and torch.allclose(output.sum(-1), torch.ones(len(output)), atol=TOLERANCE)
    return output if already else output.softmax(-1)


def _line(error: Exception) -> str:
    """Return the first sentence of an error, or its kind where it says nothing."""
    return " ".join(str(error).split()).partition(". ")[0] or type(error).__name__
