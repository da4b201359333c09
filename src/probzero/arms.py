"""The arms: which search, which record of its games and which targets belong together, as plain data.

A further search is a class and an entry here; the loss is one for all. Who has a configuration asks its `search.arm`;
nobody asks for an algorithm's name. Imports nothing heavy, as the Snakefile reads it: classes are loaded when needed.
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
    draws: str  # what is random in its search: nothing, splitting or playouts
    merges: bool  # whether a position that several games of an iteration have met is one sample
    explores_by: str  # the key of `selfplay` that makes it try other moves; the other must be 0
    nodes: tuple[str, ...]  # the targets it can give, by the keys of `targets`
    policy: tuple[str, ...]
    value: tuple[str, ...]

    @property
    def search_class(self) -> Any:
        return _load(self.search)

    @property
    def record_class(self) -> Any:
        return _load(self.record)


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
        draws="splitting",
        merges=True,
        explores_by="exploration",
        nodes=("tree", "roots"),
        policy=("winner", "visits"),
        value=("bootstrap", "search", "outcome"),
    ),
    "puct": Arm(search="probzero.search.mcts:PuctSearch", learns=True, draws="nothing", **_PLAYED),
    "gumbel": Arm(
        search="probzero.search.gumbel:GumbelSearch",
        learns=True,
        draws="nothing",
        **{**_PLAYED, "policy": ("improved",)},
    ),
    "ucb1": Arm(search="probzero.search.playouts:UctSearch", learns=False, draws="playouts", **_PLAYED),
}
EXPLORATIONS = ("exploration", "noise")


def offered(key: str) -> tuple[str, ...]:
    """Return all that any arm can give for a key of `targets`."""
    return tuple(dict.fromkeys(name for arm in ARMS.values() for name in getattr(arm, key)))


def _load(reference: str) -> Any:
    """Return the class that module:class names."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
