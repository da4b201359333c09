"""Memory: what a node of a search costs."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from probzero.benchmarks.rows import Row
from probzero.benchmarks.search import evaluator_of, played
from probzero.config import Config
from probzero.search.build import choose_backend
from probzero.search.graph import Graph


def per_node(config: Config) -> Iterator[Row]:
    """Bytes of the search's arrays for each evaluated node of a shard, and what was used of them in all."""
    evaluator = evaluator_of(config)
    metrics = played(config, evaluator)
    graph = Graph(choose_backend(evaluator.game, evaluator.device), 1, 1024, "bench")
    arrays, edges = [value for value in vars(graph).values() if isinstance(value, torch.Tensor)], len(graph.edge_child)
    node = sum(value.nbytes / 1024 for value in arrays if len(value) == 1024)
    node += (graph.table.keys.nbytes + graph.table.slots.nbytes) / 1024
    per_edge = sum(value.nbytes / edges for value in arrays if len(value) == edges)
    nodes, entered = metrics["nodes"], metrics["entered_positions"]
    used = entered * node + metrics["edges"] * per_edge
    yield Row("memory", config.name, "bytes of an entered position", node, "B")
    yield Row("memory", config.name, "bytes of an edge", per_edge, "B")
    yield Row("memory", config.name, "entered positions for each evaluated node", entered / nodes)
    yield Row("memory", config.name, "bytes for each evaluated node", used / nodes, "B")
    yield Row("memory", config.name, "used by the shard", used / 2**20, "MiB")
