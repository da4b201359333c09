"""Memory: what a node of a search costs, and whether a long run grows."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import psutil  # type: ignore[import-untyped]
import torch

from probzero.benchmarks.rows import Row
from probzero.benchmarks.search import evaluator_of, game_of, played
from probzero.config import Config
from probzero.learning.selfplay import play_shard
from probzero.learning.training import train
from probzero.network.checkpoint import OptimizerState
from probzero.network.inference import Evaluator
from probzero.network.model import build
from probzero.random_keys import key
from probzero.search.backends import choose
from probzero.search.graph import Graph

ITERATIONS = 50
SETTLED = 10  # iterations after which every buffer has had its largest size


def per_node(config: Config) -> Iterator[Row]:
    """Bytes of the search's arrays for each evaluated node of a shard, and what was used of them in all."""
    evaluator = evaluator_of(config)
    metrics = played(config, evaluator)
    graph = Graph(choose(evaluator.game, evaluator.device), 1, 1024, "bench")
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


def long_run(config: Config, iterations: int = ITERATIONS) -> Iterator[Row]:
    """Memory of one process that plays and learns for many iterations, each beginning where the last one ended.

    Iterations are small (an eighth of the games and samples); what a leak leaves behind does not depend on their size.
    """
    torch.set_num_threads(1)
    small = config.changed(
        training={"iterations": iterations, "samples": max(1, config.training.samples // 8)},
        selfplay={"games": max(1, config.selfplay.games // 8)},
    )
    game = game_of(config)
    model = build(game.shape, config.network, key(config.experiment, "bench"))
    state: OptimizerState = {}
    resident = []
    for iteration in range(1, iterations + 1):
        evaluator = Evaluator(model.eval(), game, "cpu")
        samples = play_shard(small, evaluator, seed=0, iteration=iteration, shard=0).samples
        state, _ = train(model, state, [samples], small.training, game, iteration, iteration)
        del evaluator, samples
        gc.collect()
        resident.append(psutil.Process().memory_info().rss)
    middle = sorted(resident[SETTLED - 1 : SETTLED + 4])[2]
    yield Row("memory", config.name, f"resident after {SETTLED} iterations of one process", middle / 2**20, "MiB")
    yield Row("memory", config.name, f"… after {iterations}, times that", sorted(resident[-5:])[2] / middle)
