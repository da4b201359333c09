"""A network as a file that other programs read, ONNX or TorchScript: nothing of this package is needed to use it.

What planes, actions and outputs mean, and the outputs at the start of the game, stand inside the file as JSON.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from probzero import files, wdl
from probzero.errors import bad
from probzero.front_ends.plain_steps import INPUT, in_torch, steps
from probzero.games.base import list_moves
from probzero.games.random_play import play_by_seed
from probzero.network.checkpoint import CheckpointInfo
from probzero.network.inference import Evaluator
from probzero.network.weights import Weights

FORMAT = 1  # of what the file says of itself
KEY = "probzero"  # what that is called in an ONNX file
EXTRA = "probzero.json"  # and in a TorchScript file
TRIED = 64  # positions on which a file is tried, of random games of so many plies at most
PLIES = 40
TOLERANCE = 1e-5
OPSET, IR = 17, 8  # versions of ONNX that runtimes of the last years know

Outputs = dict[str, np.ndarray]
ONNX: dict[str, tuple[str, dict[str, Any]]] = {
    "convolution": ("Conv", {}),
    "linear": ("Gemm", {"transB": 1}),
    "relu": ("Relu", {}),
    "add": ("Add", {}),
    "flatten": ("Flatten", {"axis": 1}),
    "softmax": ("Softmax", {"axis": -1}),
}


def description(weights: Weights, info: CheckpointInfo) -> dict[str, Any]:
    """Return what a reader must know of the file, as plain data."""
    import torch

    game, (planes, height, width, actions) = info.game, weights.shape
    start = game.start()[None]
    with torch.no_grad():
        outputs = in_torch(weights, torch.from_numpy(game.encode(start)))
    return {
        "format": FORMAT,
        "game": game.described,
        "game_version": game.version,
        "network": info.network.model_dump(),
        "origin": info.made.as_dict(),
        "input": {
            "name": INPUT,
            "shape": ["n", planes, height, width],
            "meaning": " ".join((type(game).encode.__doc__ or "").split()),
        },
        "outputs": {
            "policy": f"[n, {actions}] logits by action; the chances of moves are their softmax over the legal ones",
            **{name: f"[n, 3] chances of {', '.join(wdl.NAMES)} for the player to move" for name in weights.outcomes()},
        },
        "actions": [game.move_name(action) for action in range(actions)],
        "start": {
            "position": game.to_text(start[0]),
            "legal": np.flatnonzero(game.legal(start)[0]).tolist(),
            INPUT: game.encode(start)[0].tolist(),
            **{name: output[0].tolist() for name, output in outputs.items()},
        },
    }


def write_onnx(path: Path, weights: Weights, told: dict[str, Any]) -> None:
    onnx = _needed("onnx")
    helper, single = onnx.helper, onnx.TensorProto.FLOAT
    listed, names = steps(weights)
    nodes, constants = [], []
    for step in listed:
        kind, options = ONNX[step.kind]
        if step.kind == "convolution":
            options = {"pads": [step.arrays[0].shape[-1] // 2] * 4}
        held = [f"{step.output}.{part}" for part in ("weight", "bias")[: len(step.arrays)]]
        constants += [onnx.numpy_helper.from_array(array, name) for array, name in zip(step.arrays, held, strict=True)]
        nodes.append(helper.make_node(kind, [*step.inputs, *held], [step.output], name=step.output, **options))
    planes, height, width, actions = weights.shape
    given = [helper.make_tensor_value_info(INPUT, single, ["n", planes, height, width])]
    sizes = {"policy": actions, **dict.fromkeys(weights.outcomes(), wdl.SIZE)}
    made = [helper.make_tensor_value_info(name, single, ["n", sizes[name]]) for name in names]
    graph = helper.make_graph(nodes, KEY, given, made, constants)
    model = helper.make_model(graph, producer_name=KEY, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    helper.set_model_props(model, {KEY: json.dumps(told)})
    onnx.checker.check_model(model, full_check=True)
    path.write_bytes(model.SerializeToString(deterministic=True))


def run_onnx(path: Path, planes: np.ndarray) -> Outputs:
    """Return what the file gives, by the reference of the package itself, which is slow and has no tricks."""
    run = _needed("onnx.reference").ReferenceEvaluator(str(path))
    return dict(zip(run.output_names, run.run(None, {INPUT: planes}), strict=True))


def write_torchscript(path: Path, weights: Weights, told: dict[str, Any]) -> None:
    import torch

    class Network(torch.nn.Module):
        def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return tuple(in_torch(weights, planes).values())

    example = torch.tensor(told["start"][INPUT])[None].repeat(2, 1, 1, 1)
    with warnings.catch_warnings(action="ignore"), torch.no_grad():  # torch would rather have us use another form
        script = torch.jit.freeze(torch.jit.trace(Network().eval(), example))
        torch.jit.save(script, path, _extra_files={EXTRA: json.dumps(told)})


def run_torchscript(path: Path, planes: np.ndarray) -> Outputs:
    """Return what the file gives."""
    import torch

    extra = {EXTRA: ""}
    with warnings.catch_warnings(action="ignore"), torch.no_grad():
        given = torch.jit.load(path, _extra_files=extra)(torch.from_numpy(planes))
    return dict(zip(json.loads(extra[EXTRA])["outputs"], (output.numpy() for output in given), strict=True))


class Form(NamedTuple):
    write: Callable[[Path, Weights, dict[str, Any]], None]
    run: Callable[[Path, np.ndarray], Outputs]


FORMS = {"onnx": Form(write_onnx, run_onnx), "torchscript": Form(write_torchscript, run_torchscript)}


def export(path: Path, form: str, weights: Weights, info: CheckpointInfo) -> float:
    """Write the network, whole or not at all; return by how much what the file gives differs from ours at most."""
    with files.replacing(path) as temporary:
        FORMS[form].write(temporary, weights, description(weights, info))
        differs = difference(weights, info, lambda planes: FORMS[form].run(temporary, planes))
        if not differs <= TOLERANCE:
            raise bad("export", path, f"a file that agrees to {TOLERANCE:g}", f"a difference of {differs:g}")
    return differs


def difference(weights: Weights, info: CheckpointInfo, run: Callable[[np.ndarray], Outputs]) -> float:
    """Return the largest difference of any chance, policy's over legal moves, on positions of random games."""
    game = info.game
    states = play_by_seed(game, TRIED, min(game.longest_game, PLIES), seed=0).states
    states = np.unique(states.reshape(-1, game.words), axis=0)
    states = states[~game.finished(states)]
    states = states[np.linspace(0, len(states) - 1, min(TRIED, len(states))).astype(int)]
    legal = game.legal(states)
    ours = Evaluator(weights, game)(states, list_moves(legal, game.most_moves))
    given = run(game.encode(states))
    logits = np.where(legal, given["policy"], -np.inf)
    chances = np.exp(logits - logits.max(1, keepdims=True))
    theirs = np.take_along_axis(chances / chances.sum(1, keepdims=True), list_moves(legal, game.most_moves), 1)
    parts = [theirs - ours.prior, given["value"] - ours.value]
    if "reward" in given:
        parts.append(given["reward"] - ours.reward)
    return max(float(np.abs(part).max()) for part in parts)


def _needed(name: str) -> Any:
    """Return a module of the optional package onnx, and those of its parts that are used here."""
    try:
        for part in ("onnx.checker", "onnx.helper", "onnx.numpy_helper"):
            import_module(part)
        return import_module(name)
    except ImportError:
        raise bad("export", "onnx", "the package onnx (pip install 'probzero[export]')", "none") from None
