"""Checkpoints: network weights and optimiser state in safetensors files that say what they are.

The metadata hold one key, a JSON object with sorted keys (safetensors does not keep the order of several keys, and
equal contents must give equal bytes): format version, kind, game with the version of its rules, network, experiment,
seed, iteration and a checksum of all tensors. Reading verifies all of it: a file damaged after it was written goes
unnoticed otherwise.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from probzero import files, games
from probzero.config import Network, parse_part
from probzero.errors import ProbZeroError, bad
from probzero.games.base import Game
from probzero.network.model import ProbZeroNet

FORMAT_VERSION = 2
METADATA_KEY = "probzero"

OptimizerState = dict[str, Tensor]  # see `optimizer_shapes`; empty before the first step


@dataclass(frozen=True)
class CheckpointInfo:
    """What a checkpoint is of."""

    experiment: str
    seed: int
    iteration: int
    game: dict[str, Any]  # name and options, as in a configuration
    network: Network


def save_checkpoint(path: str | Path, model: ProbZeroNet, info: CheckpointInfo) -> None:
    """Write the weights of `model`, whole or not at all; equal weights and info give equal bytes."""
    _same_network(path, model, info)
    _save(path, "network", model.state_dict(), info)


def load_checkpoint(path: str | Path, game: Game | None = None) -> tuple[ProbZeroNet, CheckpointInfo]:
    """Return the network, in evaluation mode on the CPU, and what the file says of it; refuse anything unexpected.

    A game that is given must be the checkpoint's."""
    tensors, info = _load(path, "network")
    if game is not None and info.game != game.described:
        raise bad("checkpoint", f"{path}: game", game.described, info.game)
    with torch.device("meta"):
        model = ProbZeroNet(games.make(**info.game).shape, info.network)
    _check(path, tensors, {name: (tuple(value.shape), value.dtype) for name, value in model.state_dict().items()})
    model.load_state_dict(tensors, assign=True)
    for parameter in model.parameters():
        parameter.requires_grad_(True)
    return model.eval(), info


def save_optimizer(path: str | Path, state: OptimizerState, info: CheckpointInfo) -> None:
    """Write the optimiser's state, whole or not at all."""
    _save(path, "optimizer", state, info)


def load_optimizer(path: str | Path, model: ProbZeroNet) -> tuple[OptimizerState, CheckpointInfo]:
    """Return the optimiser's state, which must fit `model`, and what the file says of it."""
    tensors, info = _load(path, "optimizer")
    _same_network(path, model, info)
    if tensors:
        _check(path, tensors, optimizer_shapes(model))
    return tensors, info


def optimizer_shapes(model: ProbZeroNet) -> dict[str, tuple[tuple[int, ...], torch.dtype]]:
    """Return shape and type of the state's entries: the step, and two moments for each parameter."""
    shapes: dict[str, tuple[tuple[int, ...], torch.dtype]] = {"step": ((), torch.float32)}
    for name, parameter in model.named_parameters():
        for moment in ("first", "second"):
            shapes[f"{moment}.{name}"] = (tuple(parameter.shape), torch.float32)
    return shapes


def _save(path: str | Path, kind: str, tensors: Mapping[str, Tensor], info: CheckpointInfo) -> None:
    stored = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    description = {
        "format_version": FORMAT_VERSION,
        "game_version": games.make(**info.game).version,
        "kind": kind,
        "checksum": _checksum(stored),
        **vars(info),
        "network": info.network.model_dump(),
    }
    data = safetensors.torch.save(stored, {METADATA_KEY: json.dumps(description, sort_keys=True)})
    with files.replacing(path) as temporary:
        temporary.write_bytes(data)


def _load(path: str | Path, kind: str) -> tuple[dict[str, Tensor], CheckpointInfo]:
    """Return tensors and info of a file of this kind, whole and unchanged since it was written."""
    path = Path(path)
    if not path.is_file():
        raise bad("checkpoint", path, "a file", "nothing")
    try:
        with safetensors.safe_open(path, "pt") as opened:
            metadata = opened.metadata() or {}
            tensors = {name: opened.get_tensor(name).clone() for name in opened.keys()}  # noqa: SIM118
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise bad("checkpoint", path, "a whole safetensors file", " ".join(str(error).split())) from None
    try:
        description = json.loads(metadata.get(METADATA_KEY, ""))
    except ValueError:
        raise bad("checkpoint", f"{path}: metadata", f"a JSON object at {METADATA_KEY!r}", metadata) from None
    _expect(path, description, "format_version", FORMAT_VERSION)
    _expect(path, description, "kind", kind)
    info = _info(path, description)
    _expect(path, description, "game_version", games.make(**info.game).version)
    _expect(path, description, "checksum", _checksum(tensors))
    return tensors, info


def _info(path: Path, description: dict[str, Any]) -> CheckpointInfo:
    kinds: dict[str, type] = {"experiment": str, "seed": int, "iteration": int, "game": dict, "network": dict}
    entries = {name: _entry(path, description, name) for name in kinds}
    for name, kind in kinds.items():
        if type(entries[name]) is not kind:
            raise bad("checkpoint", f"{path}: {name}", f"a value of type {kind.__name__}", entries[name])
    parts = {}
    for name in ("game", "network"):
        try:
            parts[name] = parse_part(name, entries[name], str(path))
        except ProbZeroError:
            raise bad("checkpoint", f"{path}: {name}", f"the settings of a {name}", entries[name]) from None
    return CheckpointInfo(**{**entries, "network": parts["network"]})


def _expect(path: Path, description: dict[str, Any], name: str, expected: Any) -> None:
    found = _entry(path, description, name)
    if found != expected:
        raise bad("checkpoint", f"{path}: {name}", expected, found)


def _entry(path: Path, description: Any, name: str) -> Any:
    if not isinstance(description, dict) or name not in description:
        raise bad("checkpoint", f"{path}: {name}", "an entry of the metadata", "none")
    return description[name]


def _check(
    path: str | Path, tensors: Mapping[str, Tensor], expected: dict[str, tuple[tuple[int, ...], torch.dtype]]
) -> None:
    """Refuse tensors that are not exactly those expected, or not finite."""
    for name in sorted(expected.keys() | tensors.keys()):
        where = f"{path}: {name}"
        if name not in tensors or name not in expected:
            wanted, found = ("a tensor", "none") if name in expected else ("no such tensor", "one")
            raise bad("checkpoint", where, wanted, found)
        tensor = tensors[name]
        if (tuple(tensor.shape), tensor.dtype) != expected[name]:
            shape, dtype = expected[name]
            raise bad(
                "checkpoint", where, f"{dtype} of shape {shape}", f"{tensor.dtype} of shape {tuple(tensor.shape)}"
            )
        if not tensor.isfinite().all():
            raise bad("checkpoint", where, "finite numbers", "NaN or infinity")


def _checksum(tensors: Mapping[str, Tensor]) -> str:
    """Return the SHA-256 of names and bytes of all tensors, in the order of their names."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].contiguous().numpy().tobytes())
    return digest.hexdigest()


def _same_network(path: str | Path, model: ProbZeroNet, info: CheckpointInfo) -> None:
    """Refuse a network that is not the one described."""
    if (model.shape, model.config) != (games.make(**info.game).shape, info.network):
        found = f"one for {info.game} with {info.network.model_dump()}"
        raise bad("checkpoint", path, f"a network for {tuple(model.shape)} with {model.config.model_dump()}", found)
