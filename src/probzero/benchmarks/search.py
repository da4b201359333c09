"""Where self-play's time and memory go, and how its speed grows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from unittest import mock

import numpy as np

from probzero import games
from probzero.benchmarks.rows import Row
from probzero.config import Config
from probzero.devices import resolve_device
from probzero.games.base import Game
from probzero.games.random_play import play_by_seed
from probzero.learning import selfplay
from probzero.learning.training import train
from probzero.network.inference import Evaluator
from probzero.network.model import build
from probzero.random_keys import key
from probzero.search.base import GraphSearch
from probzero.search.build import choose_backend
from probzero.search.evaluation import CachedEvaluation
from probzero.search.graph import Graph

GAMES = (16, 64, 256, 1024)


def game_of(config: Config) -> Game:
    return games.make(config.game.name, **config.game.options)


def evaluator_of(config: Config) -> Evaluator:
    """Return an untrained network of a configuration."""
    game = game_of(config)
    model = build(game.shape, config.network, key(config.experiment, "bench"))
    return Evaluator(model.eval(), game, resolve_device(config.selfplay.device))


def random_positions(game: Game, count: int, seed: int) -> np.ndarray:
    """Return unfinished states [count, W] from random games at random plies, repeated if too few were going on."""
    played = play_by_seed(game, 2 * count, game.longest_game // 2, seed).states
    ply = np.random.default_rng(seed).integers(0, len(played), 2 * count)
    states = played[ply, np.arange(2 * count)]
    return np.resize(states[~game.finished(states)], (count, game.words))


def parts_of(config: Config, evaluator: Evaluator) -> dict[str, list[tuple[Any, str]]]:
    """Return which methods make up each component, as (owner, name). Time goes to the innermost of them."""
    backend, game = type(choose_backend(evaluator.game, evaluator.device)), type(evaluator.game)
    return {
        "network": [(Evaluator, "__call__")],
        "cache": [(CachedEvaluation, "__call__")],
        "rules": [
            (backend, "open_nodes"),
            *((game, name) for name in ("legal", "play", "rank", "outcome", "finished")),
        ],
        "expansion": [(backend, "expand"), (GraphSearch, "_evaluate")],
        "selection": [(backend, "descend"), (backend, "select")],
        "backup": [(backend, "backup"), (backend, "add_results")],
        "sampling": [(selfplay, "sample"), (GraphSearch, "advance")],
        "targets": [(config.search.arm.record_class, "samples")],
    }


def played(config: Config, evaluator: Evaluator, iteration: int = 1, shard: int = 0) -> dict[str, Any]:
    """Return the metrics of one shard and what it cost."""
    done = selfplay.play_shard(config, evaluator, seed=0, iteration=iteration, shard=shard)
    return {**done.metrics, **done.costs}


def components(config: Config) -> Iterator[Row]:
    """Share of a shard's time by component."""
    evaluator = evaluator_of(config)
    played(config.changed(selfplay={"games": 2}), evaluator)  # loads compiled code
    with Stopwatch(parts_of(config, evaluator)) as watch:
        seconds = played(config, evaluator)["seconds"]
    for name, spent in watch.seconds.items():
        yield Row("self-play", config.name, f"share of time: {name}", spent / seconds)
    yield Row("self-play", config.name, "share of time: all else", 1 - sum(watch.seconds.values()) / seconds)


def training(config: Config) -> Iterator[Row]:
    """Samples per second of an iteration that learns from the samples of one shard, as in a run."""
    evaluator = evaluator_of(config)
    samples = selfplay.play_shard(config, evaluator, seed=0, iteration=1, shard=0).samples
    model = build(evaluator.game.shape, config.network, key(config.experiment, "bench"))
    began = time.perf_counter()
    _, metrics = train(model, {}, [samples], config.training, evaluator.game, 1, 0)
    seconds = time.perf_counter() - began
    yield Row("training", config.name, "training", metrics["samples"] / seconds, "samples/s")


class Stopwatch:
    """Counts the time inside functions while it is open; time inside one called by another is that of the inner one."""

    def __init__(self, components: dict[str, list[tuple[Any, str]]]) -> None:
        self.seconds = dict.fromkeys(components, 0.0)
        self.inside: list[str] = []
        self.since = 0.0
        self.patches = ExitStack()
        self.places = [(owner, name, part) for part, places in components.items() for owner, name in places]

    def __enter__(self) -> Stopwatch:
        for owner, name, component in self.places:
            timed = self._timed(getattr(owner, name), component)
            self.patches.enter_context(mock.patch.object(owner, name, timed))
        return self

    def __exit__(self, *_: object) -> None:
        self.patches.close()

    def _timed(self, function: Callable[..., Any], component: str) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            self._switch()
            self.inside.append(component)
            try:
                return function(*arguments, **named)
            finally:
                self._switch()
                self.inside.pop()

        return timed

    def _switch(self) -> None:
        """Give the time since the last change to whoever was running."""
        now = time.perf_counter()
        if self.inside:
            self.seconds[self.inside[-1]] += now - self.since
        self.since = now


def growth(config: Config) -> Iterator[Row]:
    """Leaf evaluations per second by games in flight and by board."""
    cases = {f"{count} games": config.changed(selfplay={"games": count}) for count in GAMES}
    for option in config.game.entry.board:
        for choice in config.game.entry.options[option]:
            setting = config.changed(game={option: choice}, selfplay={"games": 32, "batches": 4})
            shape = game_of(setting).shape
            cases[f"board {shape.height}x{shape.width}"] = setting
    for case, setting in cases.items():
        setting = setting.changed(selfplay={"capacity": 8_000_000})
        evaluator = evaluator_of(setting)
        played(setting.changed(selfplay={"games": 1, "batches": 1}), evaluator)  # loads compiled code
        metrics = played(setting, evaluator)
        yield Row("growth", case, "leaf evaluations", metrics["leaf_evaluations"] / metrics["seconds"], "1/s")
        yield Row("growth", case, "share of time in the network", metrics["network_seconds"] / metrics["seconds"])


def per_node(config: Config) -> Iterator[Row]:
    """Bytes of the search's arrays for each evaluated node of a shard, and what was used of them in all."""
    evaluator = evaluator_of(config)
    metrics = played(config, evaluator)
    graph = Graph(choose_backend(evaluator.game, evaluator.device), 1, 1024, "bench")
    arrays, edges = [value for value in vars(graph).values() if hasattr(value, "nbytes")], len(graph.edge_child)
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
