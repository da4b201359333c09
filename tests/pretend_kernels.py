"""The launchers of the Triton kernels on the pretended device: each launch is counted, and an oracle or Triton's
interpreter does its work.

What a launcher prepares and what it hands to its kernel is as on a GPU; oracle and interpreter see the memory behind
the tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from pretend_device import Elsewhere, told

from probzero.kernels.backup import reference as backup
from probzero.kernels.backup import triton_kernel as backup_launcher
from probzero.kernels.descend import reference as descend
from probzero.kernels.descend import triton_kernel as descend_launcher
from probzero.kernels.place import reference as place
from probzero.kernels.place import triton_kernel as place_launcher
from probzero.kernels.winner_prob import reference as winner_prob
from probzero.kernels.winner_prob import triton_kernel as winner_prob_launcher


def _placed(slots: Any, held: Any, keys: Any, hashes: Any, places: Any, n: int, count: int, **_: Any) -> None:
    assert (n, count) == (len(keys), len(slots))
    places.copy_(place.place(slots, held, keys, hashes))


def _descended(roots: Any, particles: Any, *rest: Any, SCHEME: int, **_: Any) -> None:
    names = (
        "key", "rank", "evaluated", "closed", "visits", "volume", "first_edge", "edge_count", "edge_child",
        "edge_policy", "edge_visits", "scratch", "rank_heads", "touched", "leaves", "salt", "most", "ranks",
    )  # fmt: skip
    graph = SimpleNamespace(**dict(zip(names, rest, strict=True)))
    scheme = {number: name for name, number in descend_launcher.SCHEMES.items()}[SCHEME]
    touched, leaves = descend.descend(graph, roots, particles, graph.most, scheme, graph.salt)
    graph.touched.copy_(touched)
    graph.leaves.copy_(leaves)


def _backed_up(touched: Any, *rest: Any, **_: Any) -> None:
    names = (
        "scratch", "first_edge", "edge_count", "edge_child", "edge_policy", "search", "net", "closed", "first_parent",
        "next_parent", "exponent", "most_moves",
    )  # fmt: skip
    graph: Any = SimpleNamespace(**dict(zip(names, rest, strict=True)))
    steps, node = [], touched
    while len(node := node[node >= 0]):
        steps.append(node)
        node = graph.scratch[node]
    for nodes in steps:  # of different games
        backup.backup(graph, nodes, [len(nodes)], 1.0 / graph.exponent)
    closed = torch.cat([touched[:0], *steps])
    backup.close(graph, closed[graph.closed[closed]], 1.0 / graph.exponent)


def _weighed(values: Any, mask: Any, weights: Any, n: int, K: int, exponent: float, **_: Any) -> None:
    assert (n, K) == mask.shape
    weights.copy_(winner_prob.winner_prob(values, mask, 1.0 / exponent))


class Launched:
    """In the place of a kernel: `kernel[grid](…)`."""

    def __init__(self, name: str, kernel: Any) -> None:
        self.name, self.kernel = name, kernel

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        def launch(*args: Any, **named: Any) -> None:
            assert not any(type(x) is torch.Tensor for x in args), f"{self.name}: a tensor that is not on the device"
            told(self.name)
            self.kernel[grid](*(x.inner if isinstance(x, Elsewhere) else x for x in args), **named)

        return launch


class Oracle:
    """What does the work of a kernel."""

    def __init__(self, work: Callable[..., None]) -> None:
        self.work = work

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        return self.work


ORACLES = {_placed: (place_launcher, "place_kernel"), _descended: (descend_launcher, "descend_kernel")}
ORACLES |= {_backed_up: (backup_launcher, "backup_kernel"), _weighed: (winner_prob_launcher, "winner_prob_kernel")}


def use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the kernels of a search launched on the pretended device and done by the oracles."""
    for oracle, (module, name) in ORACLES.items():
        monkeypatch.setattr(module, name, Launched(name, Oracle(oracle)))


def interpret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have all kernels launched on the pretended device and done by Triton's interpreter."""
    for module, name in ORACLES.values():
        monkeypatch.setattr(module, name, Launched(name, getattr(module, name)))
