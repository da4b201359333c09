"""What an A100-class card should reach: a prediction on paper, from counts taken on a processor.

A simulation batch on a device takes

    T = leaves · F / (p·P)  +  bytes / (b·B)  +  launches · L

with F operations a leaf, peak P and bandwidth B of the card, shares p and b of them that such work reaches, and L a
launch. Leaves, launches and the bytes that backup moves are counted in a search by tensor operations, the form that a
device takes, on a processor. Nothing here was run on a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from probzero.benchmarks.network import operations
from probzero.benchmarks.rows import Row
from probzero.config import Config
from probzero.games.othello import othello
from probzero.kernels.backup import reference
from probzero.network.inference import Evaluation
from probzero.random_keys import key
from probzero.search.descent import Descent, descend_by_level
from probzero.search.particle import ParticleSearch
from probzero.search.tree import Tree

WARM_BATCHES = 8  # before the one that is counted


@dataclass(frozen=True)
class Card:
    """The data sheet of a card, and what share of it small kernels were taken to reach."""

    name: str = "A100, 40 GB"
    operations: float = 19.5e12  # a second, float32
    bandwidth: float = 1.555e12  # bytes a second
    launch: float = 5e-6  # seconds
    reached: float = 0.5  # of operations and of bandwidth


class _Operations(TorchDispatchMode):
    """Counts tensor operations that would be a launch: views are none."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        self.count += not function.is_view
        return out


def backup_bytes(tree: Tree, nodes: torch.Tensor) -> tuple[int, int]:
    """Return the bytes that the kernel moves for touched nodes [T], and the least that any way of doing it must.

    The kernel reads a child's values once for each parent; at least each is read once, and each result written once.
    """
    edges = tree.edges_of(nodes)
    moves, explored = int(edges.real.sum()), int(edges.explored.sum())
    triple = tree.search.element_size() * 3
    node = (
        tree.first_edge.element_size() + tree.edge_count.element_size() + 2 * triple * 2 + 1
    )  # net read, search written
    edge = tree.edge_child.element_size() + tree.edge_policy.element_size()
    child = 2 * triple + 1 + tree.edge_policy.element_size()  # both rows, closed; the policy is written
    distinct = len(edges.child[edges.explored].unique())
    moved = len(nodes) * (8 + node) + moves * edge + explored * child
    return moved, moved - (explored - distinct) * (2 * triple + 1)


def predict(config: Config, games: int, card: Card | None = None) -> Iterator[Row]:
    """Expected leaf evaluations per second of a batch of games on the card."""
    card = card or Card()
    rules, particles = othello(config.game.size), config.selfplay.particles
    capacity = games * particles * (WARM_BATCHES + 2) * 6
    tree = Tree(rules, games, capacity, "bench", torch.device("cpu"), in_step=True)
    tree.game_key[:] = torch.tensor([key("roofline", game) for game in range(games)])

    def even(own: torch.Tensor, opp: torch.Tensor, legal: torch.Tensor) -> Evaluation:
        third = torch.full((len(own), 3), 1 / 3)
        return Evaluation(legal / legal.sum(1, keepdim=True), third, third)

    search = ParticleSearch(tree, even, config.search.model_copy(update={"cache": False}))
    found: list[Descent] = []

    def descend(*arguments: Any) -> Descent:
        found.append(descend_by_level(*arguments))
        return found[-1]

    search.descend = descend  # type: ignore[assignment]
    black, white = rules.start()
    every = torch.arange(games)
    search.start(every, torch.full_like(every, black), torch.full_like(every, white))
    search.run(every, particles, WARM_BATCHES, 0)
    with _Operations() as launched:
        search.run(every, particles, 1, 1)
    with _Operations() as backups:  # the processor's own form of it; on the card it is one launch and its preparation
        levels = found[-1].level_sizes
        assert levels is not None
        reference.backup(tree, found[-1].nodes, levels, config.search.temperature)
    leaves = len(found[-1].leaves)
    moved, least = backup_bytes(tree, found[-1].nodes)
    launches = max(0, launched.count - backups.count) + 10
    network = leaves * operations(config.game.size, config.network) / (card.reached * card.operations)
    backup, waiting = moved / (card.reached * card.bandwidth), launches * card.launch
    total = network + backup + waiting
    case = f"{config.name}, {games} games, {card.name}"
    yield Row("prediction", case, "leaves of a batch", leaves)
    yield Row("prediction", case, "launches of a batch", launches)
    yield Row("prediction", case, "bytes moved by backup, for each leaf", moved / leaves, "B")
    yield Row("prediction", case, "… times the least possible", moved / least)
    yield Row("prediction", case, "share of time in the network", network / total)
    yield Row("prediction", case, "share of time in launches", waiting / total)
    yield Row("prediction", case, "leaf evaluations", leaves / total, "1/s")
