"""Checkpoints: network weights and optimiser state in files that say what they are (see `tensor_files`).

Who plays reads `load_weights`, which needs no torch; who trains reads `load_checkpoint`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probzero import origin, tensor_files
from probzero.config import Network, parse_part
from probzero.errors import ProbZeroError, bad
from probzero.games.base import Game
from probzero.network.weights import Weights, forms
from probzero.origin import Origin

if TYPE_CHECKING:
    from torch import Tensor

    from probzero.network.model import ProbZeroNet

CHECKPOINT, OPTIMIZER = "checkpoint", "optimiser"
OptimizerState = dict[str, "Tensor"]  # see `optimizer_shapes`; empty before the first step
Form = tuple[tuple[int, ...], type]


@dataclass(frozen=True)
class CheckpointInfo:
    """What a checkpoint is of."""

    made: Origin
    game: Game
    network: Network
    imported: dict[str, Any] | None = None  # where a network that is not of our runs comes from, see `published`


def save_checkpoint(path: str | Path, model: ProbZeroNet, info: CheckpointInfo) -> None:
    """Write the weights of `model`, whole or not at all; equal weights and info give equal bytes."""
    _save(path, CHECKPOINT, model, model.weights().arrays, info)


def load_weights(
    path: str | Path, game: Game | None = None, *, imported: bool = False, **wanted: Any
) -> tuple[Weights, CheckpointInfo]:
    """Return the network as arrays and what the file says of it; refuse anything unexpected.

    A game that is given must be the checkpoint's; `wanted` is what its origin must be. An imported network, which is
    of no run of ours, is refused unless the caller asks for such."""
    arrays, info = _load(path, CHECKPOINT, game, wanted, imported)
    _check(path, CHECKPOINT, arrays, forms(info.game.shape, info.network))
    return Weights(info.game.shape, info.network, arrays), info


def load_checkpoint(
    path: str | Path, game: Game | None = None, *, imported: bool = False, **wanted: Any
) -> tuple[ProbZeroNet, CheckpointInfo]:
    """Return the same as a network of torch's, in evaluation mode on the processor."""
    import torch

    from probzero.network.model import ProbZeroNet

    weights, info = load_weights(path, game, imported=imported, **wanted)
    with torch.device("meta"):
        model = ProbZeroNet(info.game.shape, info.network)
    model.load_state_dict({name: torch.tensor(array) for name, array in weights.arrays.items()}, assign=True)
    for parameter in model.parameters():
        parameter.requires_grad_(True)
    return model.eval(), info


def save_optimizer(path: str | Path, model: ProbZeroNet, state: OptimizerState, info: CheckpointInfo) -> None:
    """Write the optimiser's state, whole or not at all."""
    _save(path, OPTIMIZER, model, {name: tensor.detach().cpu().numpy() for name, tensor in state.items()}, info)


def load_optimizer(path: str | Path, model: ProbZeroNet, **wanted: Any) -> tuple[OptimizerState, CheckpointInfo]:
    """Return the optimiser's state, which must fit `model`, and what the file says of it."""
    import torch

    arrays, info = _load(path, OPTIMIZER, None, wanted)
    _same_network(path, OPTIMIZER, model, info)
    if arrays:
        _check(path, OPTIMIZER, arrays, optimizer_shapes(model))
    return {name: torch.tensor(array) for name, array in arrays.items()}, info


def optimizer_shapes(model: ProbZeroNet) -> dict[str, Form]:
    """Return shape and type of the state's entries: the step, and two moments for each parameter."""
    shapes: dict[str, Form] = {"step": ((), np.float32)}
    for name, parameter in model.named_parameters():
        for moment in ("first", "second"):
            shapes[f"{moment}.{name}"] = (tuple(parameter.shape), np.float32)
    return shapes


def _save(path: str | Path, kind: str, model: ProbZeroNet, arrays: tensor_files.Arrays, info: CheckpointInfo) -> None:
    _same_network(path, kind, model, info)
    extra = {"network": info.network.model_dump()} | ({"imported": info.imported} if info.imported else {})
    tensor_files.save(path, kind, arrays, info.game, info.made, extra)


def _load(
    path: str | Path, kind: str, game: Game | None, wanted: dict[str, Any], imported: bool = False
) -> tuple[dict[str, np.ndarray], CheckpointInfo]:
    file = tensor_files.load(path, kind, game)
    elsewhere = file.extra.get("imported")
    if elsewhere is None:
        origin.expect(file.made, kind, path, **wanted)
    elif not isinstance(elsewhere, dict):
        raise bad(kind, f"{path}: imported", "where a network comes from", elsewhere)
    elif not imported:
        found = f"one imported from {elsewhere.get('file')} of {elsewhere.get('project')}"
        raise bad(kind, f"{path}: imported", "a network of our own runs", found)
    try:
        network = parse_part("network", file.extra.get("network"), str(path))
    except ProbZeroError:
        raise bad(kind, f"{path}: network", "the settings of a network", file.extra.get("network")) from None
    return file.arrays, CheckpointInfo(file.made, file.game, network, elsewhere)


def _check(path: str | Path, kind: str, arrays: tensor_files.Arrays, expected: dict[str, Form]) -> None:
    """Refuse arrays that are not exactly those expected, or not finite."""
    tensor_files.check_arrays(path, kind, arrays, expected)
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise bad(kind, f"{path}: {name}", "finite numbers", "NaN or infinity")


def _same_network(path: str | Path, kind: str, model: ProbZeroNet, info: CheckpointInfo) -> None:
    """Refuse a network that is not the one described."""
    if (model.shape, model.config) != (info.game.shape, info.network):
        found = f"one for {info.game.identity} with {info.network.model_dump()}"
        raise bad(kind, path, f"a network for {tuple(model.shape)} with {model.config.model_dump()}", found)
