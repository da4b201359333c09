"""The kernels and the search on a GPU, for `make gpu-check`: each against an oracle that computes on the processor.

Where there is no GPU the same tests go over a pretended one and Triton's interpreter, at smaller sizes, so that whoever
has a GPU finds them working.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import torch
from card import DEVICE, REAL
from kernel_forms import chained
from oracles.slow_backup import SmallGraph, random_forest, slow_backup
from pretend_kernels import interpret

from probzero import config, games
from probzero.games.base import Game
from probzero.kernels.backup import triton_kernel as backup
from probzero.kernels.winner_prob import reference
from probzero.kernels.winner_prob import triton_kernel as winner_prob
from probzero.learning.selfplay import play_shard
from probzero.learning.training import train
from probzero.network import dense
from probzero.network.inference import Evaluation, Evaluator
from probzero.network.model import ProbZeroNet, build
from probzero.random_keys import key, mix, uniform
from probzero.search.backends.compiled import CompiledBackend
from probzero.search.backends.tensor import TensorBackend
from probzero.search.graph import Graph
from probzero.search.key_table import KeyTable
from probzero.search.move_choice import best

OTHELLO = games.make("othello", size=5)
SIZES = {  # with a GPU, without
    "nodes": (50_000, 60),
    "forests": (20, 2),
    "keys": (200_000, 300),
    "games": (256, 2),
    "particles": (8, 3),
    "batches": (12, 2),
    "plies": (10, 1),
    "opening": (4, 8),
    "samples": (4096, 128),
}

pytestmark = [pytest.mark.gpu] if REAL else []
slow_without = pytest.mark.slow if not REAL else pytest.mark.gpu  # the interpreter takes minutes


def size(name: str) -> int:
    return SIZES[name][not REAL]


@pytest.fixture(autouse=True)
def launched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if not REAL:
        interpret(monkeypatch)
        monkeypatch.setattr(dense, "CHUNK_OF_GPU", dense.CHUNK)
        monkeypatch.setattr(ProbZeroNet, "_compiles", lambda *_: False)
    yield


def moved(graph: SmallGraph, device: Any) -> SmallGraph:
    return replace(graph, **{field.name: getattr(graph, field.name).to(device) for field in fields(SmallGraph)})


@pytest.mark.parametrize("temperature", [1.0, 0.5])
@pytest.mark.parametrize("K", [1, 7, 26, 60])
def test_winner_prob_is_that_of_the_float64_oracle(K: int, temperature: float) -> None:
    draw = np.random.default_rng(K)
    values = torch.from_numpy(draw.dirichlet((0.3, 0.3, 0.3), (size("nodes"), K)).astype(np.float32))
    values[::7] = torch.eye(3)[torch.from_numpy(draw.integers(0, 3, (len(values[::7]), K)))]  # proven results
    mask = torch.from_numpy(draw.random((size("nodes"), K)) < 0.7)
    found = winner_prob.winner_prob(values.to(DEVICE), mask.to(DEVICE), temperature).cpu()
    assert torch.allclose(found, reference.winner_prob(values, mask, temperature), atol=2e-6)


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_backup_is_that_of_the_slow_one_in_float64(temperature: float) -> None:
    for seed in range(size("forests")):
        graph, levels, games_of = random_forest(seed, games=4 if not REAL else 30)
        expected, there = slow_backup(graph, levels, temperature), moved(graph, DEVICE)
        nodes = [node for level in levels for node in level]
        touched = chained(graph, nodes, [games_of[node] for node in nodes])
        there.scratch.copy_(graph.scratch)
        backup.backup(there, touched.to(DEVICE), temperature)
        for name in ("search", "edge_policy", "closed"):
            assert torch.allclose(getattr(there, name).cpu().double(), getattr(expected, name).double(), atol=2e-6), (
                name
            )


def test_every_key_finds_its_entry_however_many_come_at_once() -> None:
    backend = TensorBackend(OTHELLO, DEVICE)
    table = KeyTable(backend, size("keys"), 2, "capacity")
    known: dict[tuple[int, ...], int] = {}
    draw, bound = np.random.default_rng(1), int(size("keys") ** 0.5) // 2
    for call in range(3):
        keys = torch.from_numpy(draw.integers(-bound, bound, (size("keys") // 2, 2)))
        hashes = mix(*keys.unbind(1)) if call < 2 else mix(*keys.unbind(1)) >> 52 << 52  # many that collide
        entries, added = table.insert(keys.to(DEVICE), hashes.to(DEVICE))
        rows = [tuple(row) for row in keys.tolist()]
        if call < 2:
            for row, entry in zip(rows, entries.tolist(), strict=True):
                assert known.setdefault(row, entry) == entry
            assert table.count == len(known)
        assert torch.equal(table.keys[entries].cpu(), keys) and (added.diff() > 0).all()


def dyadic(rules: Game) -> Any:
    """An evaluator whose numbers are sums of powers of two, so that every device has the very same."""

    def evaluate(states: torch.Tensor, moves: torch.Tensor) -> Evaluation:
        column = torch.arange(rules.actions + 6, device=states.device)
        drawn = 1 + (uniform(mix(*states.unbind(1))[:, None], column) * 256).floor()
        share = drawn[:, : rules.actions].gather(1, moves)
        real = torch.ones_like(moves, dtype=torch.bool)
        real[:, 1:] = moves[:, 1:] != moves[:, :1]
        prior = (share * real / 2**16).float()
        win, draw = drawn[:, -6] / 1024, drawn[:, -5] / 1024
        value = torch.stack([win, draw, 1 - win - draw], dim=1).float()
        return Evaluation(prior, value, value.flip(1).contiguous())

    return evaluate


def by_position(search: Any) -> dict[tuple[int, ...], tuple]:
    graph = search.graph
    nodes = torch.arange(graph.nodes)[graph.evaluated[: graph.nodes].cpu()]
    there = nodes.to(graph.root.device) if isinstance(graph.root, torch.Tensor) else nodes
    rows = (graph.table.keys[there].tolist(), graph.visits[there].tolist(), graph.closed[there].tolist())
    values = graph.search[there].cpu().tolist()
    return {tuple(name): (visits, closed, value) for name, visits, closed, value in zip(*rows, values, strict=True)}


@pytest.mark.parametrize(
    ("name", "splitting"),
    [("othello", "systematic"), ("othello", "multinomial"), ("connect_four", "systematic"), ("go", "systematic")],
)
def test_searches_of_whole_batches_are_those_of_the_compiled_form(name: str, splitting: str) -> None:
    rules = {
        "othello": OTHELLO,
        "connect_four": games.make("connect_four", width=6, height=5),
        "go": games.make("go", size=3, komi=0, longest=20),
    }[name]
    settings = config.Search(splitting=splitting, temperature=1.0, cache=False)
    found, count = [], size("games")
    for backend in (CompiledBackend(rules, torch.empty(0)), TensorBackend(rules, DEVICE)):
        graph = Graph(backend, count, 3000 * count, "capacity")
        graph.game_key[:] = backend.accept(torch.tensor([key("gpu", game) for game in range(count)]))
        search = settings.arm.search_class(graph, dyadic(rules), settings)
        every = backend.accept(torch.arange(count))
        search.start(every, backend.accept(torch.from_numpy(rules.start()).repeat(count, 1)))
        for ply in range(size("plies")):
            search.run(every, size("particles"), size("batches"), ply)
            going = every[graph.edge_count[graph.root] > 0]
            search.advance(going, best(search.moves(going)))
            search.evaluate_roots(every)
        found.append(by_position(search))
    one, other = found
    assert one.keys() == other.keys() and len(one) > 4 * count
    for position, (visits, closed, value) in one.items():
        assert (visits, closed) == other[position][:2], position
        assert np.allclose(value, other[position][2], atol=1e-5), position


@slow_without
def test_self_play_and_training_go_through() -> None:
    settings = config.load("config/smoke.yaml").changed(
        game={"size": 5 if REAL else 4},
        selfplay={
            "shards": 1,
            "games": size("games"),
            "particles": size("particles"),
            "batches": 4 if REAL else 1,
            "random_plies": size("opening"),
        },
        training={"samples": size("samples"), "batch_size": 64},
    )
    settings = settings.changed(selfplay={"capacity": 2_000 * size("games")})
    rules = games.make("othello", size=settings.game.options["size"])
    model = build(rules.shape, settings.network, 1)
    shard = play_shard(settings, Evaluator(model, rules, DEVICE), 0, 1, 0)
    assert len(shard.games) == size("games") and shard.metrics["samples"] > 0
    _, metrics = train(model, {}, [shard.samples], settings.training, rules, 1, 0, DEVICE)
    assert metrics["samples"] > 0 and np.isfinite(metrics["policy_loss"])
