"""What a GPU does with the search: its kernels beside plain torch, and self-play by the number of games in a batch.

Times are those of the device, between events in the order of its work; only the share of waits is the host's own clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import torch

from probzero.benchmarks.rows import Row
from probzero.benchmarks.search import game_of
from probzero.config import Config
from probzero.games.base import Game
from probzero.kernels.winner_prob import reference as plain_winner_prob
from probzero.learning.selfplay import play_shard
from probzero.network.inference import Evaluator
from probzero.network.model import build
from probzero.random_keys import key
from probzero.search.backends import tensor
from probzero.search.backends.tensor import Kernels, reference_kernels, triton_kernels
from probzero.search.build import SearchFactory

GAMES = (16, 64, 256, 1024, 4096)
BATCHES = 8  # of a move
NODES = (1_000, 100_000)  # of a call of winner_prob
REPEATS = 20
GIB = 2**30


class Timer:
    """Seconds of device work by name."""

    def __init__(self, device: Any) -> None:
        self.of_torch = torch.get_device_module(device)
        self.spans: dict[str, list[tuple[Any, Any]]] = {}

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        began, ended = (self.of_torch.Event(enable_timing=True) for _ in range(2))
        began.record()
        yield
        ended.record()
        self.spans.setdefault(name, []).append((began, ended))

    def around(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any) -> Any:
            with self.span(name):
                return work(*given)

        return timed

    def seconds(self, name: str) -> float:
        self.of_torch.synchronize()
        return sum(began.elapsed_time(ended) for began, ended in self.spans.get(name, [])) / 1000


def timed_kernels(kernels: Kernels, timer: Timer) -> Kernels:
    return Kernels(**{name: timer.around(name, work) for name, work in kernels._asdict().items()})


def evaluator_on(config: Config, game: Game, device: Any) -> Evaluator:
    """Return an untrained network of a configuration."""
    return Evaluator(build(game.shape, config.network, key(config.experiment, "bench")).eval(), game, device)


def weighing(game: Game, device: Any, nodes: tuple[int, ...] = NODES) -> Iterator[Row]:
    """Compare winner_prob with its reference, for nodes with as many children as a game has moves."""
    for count in nodes:
        drawn = np.random.default_rng(count).dirichlet((1, 1, 1), (count, game.most_moves)).astype(np.float32)
        values = torch.from_numpy(drawn).to(device)
        mask = torch.ones(values.shape[:2], dtype=torch.bool, device=device)
        case, timer = f"{count} nodes of {game.most_moves} moves", Timer(device)
        for name, work in (("kernel", triton_kernels().winner_prob), ("plain torch", plain_winner_prob.winner_prob)):
            work(values, mask, 1.0)  # compiles
            with timer.span(name):
                for _ in range(REPEATS):
                    work(values, mask, 1.0)
            yield Row("winner_prob", case, name, 1000 * timer.seconds(name) / REPEATS, "ms")


def searching(config: Config, device: Any, games: int) -> Iterator[Row]:
    """Compare the kernels of a batch with their references, in the same searches of the start."""
    game = game_of(config)
    evaluator, settings = evaluator_on(config, game, device), config.search
    for name, kernels in (("kernel", triton_kernels()), ("plain torch", reference_kernels())):
        timer = Timer(device)
        with mock.patch.object(
            tensor, "triton_kernels", lambda kernels=kernels, timer=timer: timed_kernels(kernels, timer)
        ):
            factory = SearchFactory(game, evaluator, settings, config.selfplay.capacity, "selfplay.capacity")
            states = np.repeat(game.start()[None], games, axis=0)
            search = factory.start(states, np.array([key("bench", number) for number in range(games)]))
            every = torch.arange(games, device=device)
            search.run(every, config.selfplay.particles, 2, 0)  # compiles
            timer.spans.clear()
            search.run(every, config.selfplay.particles, BATCHES, 1)
        for part in ("descend", "place", "backup"):
            yield Row(part, f"{games} games", name, 1000 * timer.seconds(part) / BATCHES, "ms a batch")


def playing(config: Config, device: Any, games: int) -> Iterator[Row]:
    """Play a shard of so many games to their ends, with few batches a move."""
    game, of_torch = game_of(config), torch.get_device_module(device)
    evaluator, timer, waits = evaluator_on(config, game, device), Timer(device), [0.0]
    setting = config.changed(selfplay={"shards": 1, "games": games, "batches": BATCHES, "random_plies": 4})
    read = tensor.read

    def watched(numbers: torch.Tensor) -> list[int]:
        began = time.perf_counter()
        found = read(numbers)
        waits[0] += time.perf_counter() - began
        return found

    play_shard(setting.changed(selfplay={"games": 2, "batches": 1}), evaluator, 0, 1, 0)  # compiles
    of_torch.reset_peak_memory_stats()
    kernels = timed_kernels(triton_kernels(), timer)
    with mock.patch.object(tensor, "triton_kernels", lambda: kernels), mock.patch.object(tensor, "read", watched):
        done = play_shard(setting, evaluator, 0, 1, 1)
    case, seconds = f"{games} games", done.costs["seconds"]
    yield Row("self-play", case, "network evaluations", done.costs["network_evaluations"] / seconds, "1/s")
    yield Row("self-play", case, "leaf evaluations", done.metrics["leaf_evaluations"] / seconds, "1/s")
    yield Row("self-play", case, "share of time in the network", done.costs["network_seconds"] / seconds)
    spent = sum(timer.seconds(name) for name in Kernels._fields)
    yield Row("self-play", case, "share of time in kernels", spent / seconds)
    yield Row("self-play", case, "share of time in which the host waits", waits[0] / seconds)
    yield Row("self-play", case, "most memory", of_torch.max_memory_allocated() / GIB, "GiB")


def measure(config: Config, device: Any, games: tuple[int, ...] = GAMES) -> Iterator[Row]:
    """Measure all there is to know of a GPU; numbers of games for which it has no memory are left out."""
    yield from weighing(game_of(config), device)
    yield from searching(config, device, min(1024, max(games)))
    for count in games:
        most = min(count * 60_000, config.selfplay.capacity)
        try:
            yield from playing(config.changed(selfplay={"capacity": most}), device, count)
        except torch.OutOfMemoryError:
            yield Row("self-play", f"{count} games", "more memory than the card has", float(most), "positions")
            return
