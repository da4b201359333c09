"""What an A100-class card should reach: a prediction on paper, from counts taken on a processor.

A simulation batch on a device takes

    T = leaves · F / (p·P)  +  bytes / (b·B)  +  launches · L  +  waits · W

with F operations a leaf, peak P and bandwidth B of the card, shares p and b of them that such work reaches, L a launch
of the search (those of the network hide behind its work) and W a wait of the host. Leaves, launches and the bytes that
backup moves are counted in a search by tensor operations, the form that a device takes, on a processor. Nothing here
was run on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from probzero import wdl
from probzero.benchmarks.network import operations
from probzero.benchmarks.rows import Row
from probzero.benchmarks.search import game_of
from probzero.config import Config
from probzero.games.base import Game
from probzero.kernels.backup.reference import listed
from probzero.network.inference import Evaluation
from probzero.random_keys import key
from probzero.search.backends.base import Descent
from probzero.search.backends.tensor import Kernels, TensorBackend, reference_kernels
from probzero.search.graph import Graph
from probzero.search.particle import ParticleSearch

WARM_BATCHES = 8  # before the one that is counted


# The data sheet of the card, and what share of it small kernels were taken to reach.
CARD = "A100, 40 GB"
PEAK = 19.5e12  # operations a second, float32
BANDWIDTH = 1.555e12  # bytes a second
LAUNCH = 5e-6  # seconds
WAIT, WAITS = 20e-6, 3  # seconds, and how many a batch has: tests count them
REACHED = 0.5  # of operations and of bandwidth


class Operations(TorchDispatchMode):
    """Counts tensor operations that would be a launch: views are none."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        self.count += not function.is_view
        return out


class Counted(TensorBackend):
    """The form that a card takes, on a processor: plain torch in the place of the kernels, launches as on the card."""

    def __init__(self, game: Game) -> None:
        self.operations = Operations()
        self.leaves, self.touched = 0, torch.empty(0)  # of the last batch
        kernels = {name: self._one_launch(work) for name, work in reference_kernels()._asdict().items()}
        super().__init__(game, torch.device("cpu"), Kernels(**kernels))

    def descend(self, graph: Graph, *arguments: Any) -> Descent:
        descent, before = super().descend(graph, *arguments), self.operations.count
        self.leaves, self.touched = int((descent.leaves >= 0).sum()), listed(graph.scratch, descent.nodes)
        self.operations.count = before
        return descent

    def _one_launch(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def launched(*given: Any) -> Any:
            before = self.operations.count
            found = work(*given)
            self.operations.count = before + 1
            return found

        return launched


def even(states: torch.Tensor, moves: torch.Tensor) -> Evaluation:
    """Evaluate all legal moves alike, and all results."""
    legal = 1 + (moves != moves[:, :1]).sum(1, keepdim=True)  # rows are filled up with their first
    third = torch.full((len(states), wdl.SIZE), 1 / wdl.SIZE)
    return Evaluation((1 / legal).expand_as(moves).contiguous(), third, third)


def backup_bytes(graph: Graph, nodes: torch.Tensor) -> tuple[int, int]:
    """Return the bytes that the kernel moves for touched nodes [T], and the least that any way of doing it must.

    The kernel reads a child's values once for each parent; at least each is read once, and each result written once.
    """
    edges = graph.edges_of(nodes)
    moves, explored = int(edges.real.sum()), int(edges.explored.sum())
    triple = graph.search.element_size() * 3
    # Both rows of net are read, those of search and closed are written.
    node = graph.first_edge.element_size() + graph.edge_count.element_size() + 2 * triple * 2 + 1
    edge = graph.edge_child.element_size() + graph.edge_policy.element_size()
    child = 2 * triple + 1 + graph.edge_policy.element_size()  # both rows, closed; the policy is written
    distinct = len(edges.child[edges.explored].unique())
    moved = len(nodes) * (8 + node) + moves * edge + explored * child
    return moved, moved - (explored - distinct) * (2 * triple + 1)


def predict(config: Config, games: int) -> Iterator[Row]:
    """Expected leaf evaluations per second of a batch of games on the card."""
    backend, particles = Counted(game_of(config)), config.selfplay.particles
    graph = Graph(backend, games, games * particles * (WARM_BATCHES + 2) * backend.game.most_moves, "bench")
    graph.game_key[:] = torch.tensor([key("roofline", game) for game in range(games)])
    search = ParticleSearch(graph, even, config.search.model_copy(update={"budget": "simulations"}))
    every = torch.arange(games)
    search.start(every, torch.from_numpy(backend.game.start()).repeat(games, 1))
    search.run(every, particles, WARM_BATCHES, 0)
    backend.operations.count = 0
    with backend.operations:
        search.run(every, particles, 1, 1)
    leaves, launches = backend.leaves, backend.operations.count
    moved, least = backup_bytes(graph, backend.touched)
    network = leaves * operations(backend.game.shape, config.network) / (REACHED * PEAK)
    moving, waiting = moved / (REACHED * BANDWIDTH), launches * LAUNCH + WAITS * WAIT
    total = network + moving + waiting
    case = f"{config.name}, {games} games, {CARD}"
    yield Row("prediction", case, "leaves of a batch", leaves)
    yield Row("prediction", case, "launches of a batch", launches)
    yield Row("prediction", case, "bytes moved by backup, for each leaf", moved / leaves, "B")
    yield Row("prediction", case, "… times the least possible", moved / least)
    yield Row("prediction", case, "share of time in the network", network / total)
    yield Row("prediction", case, "share of time in launches and waits", waiting / total)
    yield Row("prediction", case, "leaf evaluations", leaves / total, "1/s")
