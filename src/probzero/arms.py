"""The arms: which search, which record of its games and which targets belong together, as plain data.

A further search is a class and an entry here. Imports nothing heavy, as the Snakefile reads it; `load` brings the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Arm:
    """What is fixed by `search.algorithm`."""

    search: str  # module:class of the search
    record: str  # module:class of what is kept of its games, for their samples
    learns: bool  # whether it has a network
    merges: bool  # whether a position that several games of an iteration have met is one sample
    explores_by: str  # the key of `selfplay` that makes it try other moves; the other must be 0
    nodes: tuple[str, ...]  # the targets it can give, by the keys of `targets`
    policy: tuple[str, ...]
    value: tuple[str, ...]


_PLAYED: dict[str, Any] = {
    "record": "probzero.learning.played_moves:PlayedMoves",
    "merges": False,
    "explores_by": "noise",
    "nodes": ("roots",),
    "policy": ("visits",),
    "value": ("search", "outcome", "steps", "mixed"),
}

ARMS: dict[str, Arm] = {
    "particle": Arm(
        search="probzero.search.particle:ParticleSearch",
        record="probzero.learning.targets:SearchedGraph",
        learns=True,
        merges=True,
        explores_by="exploration",
        nodes=("tree", "roots"),
        policy=("winner", "visits"),
        value=("bootstrap", "search", "outcome"),
    ),
    "puct": Arm(search="probzero.search.mcts:PuctSearch", learns=True, **_PLAYED),
    "ucb1": Arm(search="probzero.search.playouts:UctSearch", learns=False, **_PLAYED),
}
EXPLORATIONS = ("exploration", "noise")


def load(reference: str) -> Any:
    """Return the class that module:class names."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
