"""What the benchmark counts: operations, bytes, and whose time is whose. No test here measures speed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from searching import searching

from probzero import config, games
from probzero.benchmarks import roofline, search
from probzero.benchmarks.network import operations
from probzero.benchmarks.search import random_positions
from probzero.config import Network
from probzero.games.base import Game

CONFIG = Path(__file__).parents[2] / "config"
FOUR, FIVE = (games.make("othello", size=size) for size in (4, 5))
OBLONG = games.make("connect_four", width=5, height=4)

every_scale = pytest.mark.parametrize("scale", ["smoke", "connect-four"])


def small(scale: str = "smoke") -> config.Config:
    return config.load(CONFIG / f"{scale}.yaml").changed(selfplay={"games": 4, "capacity": 20_000})


def test_operations_of_the_published_network() -> None:
    published = operations(FIVE.shape, Network(blocks=10, channels=50)) / 1e6
    assert published == pytest.approx(22.5 + 0.5, abs=0.6)  # the trunk alone has 22.5
    # by hand, 1 block of 1 channel on 4×4: trunk 9·(2 + 2), heads 3·32, on 16 squares; policy 512·17; two heads 512 + 3
    assert operations(FOUR.shape, Network(blocks=1, channels=1)) == 2 * (16 * (36 + 96) + 512 * 17 + 2 * (512 + 3))
    # on 5×4 with five moves: 20 squares, 640 features
    assert operations(OBLONG.shape, Network(blocks=1, channels=1)) == 2 * (20 * (36 + 96) + 640 * 5 + 2 * (640 + 3))


def test_time_belongs_to_the_innermost_component(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]  # a clock that goes when told to
    monkeypatch.setattr(search, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    class Work:
        def outer(self) -> None:
            now[0] += 2
            self.inner()
            now[0] += 3

        def inner(self) -> None:
            now[0] += 10

    with search.Stopwatch({"out": [(Work, "outer")], "in": [(Work, "inner")]}) as watch:
        Work().outer()
        now[0] += 100  # nobody's
        Work().inner()
    assert watch.seconds == {"out": 5, "in": 20}
    Work().outer()
    assert watch.seconds == {"out": 5, "in": 20}  # closed


PUCT = {"search": {"algorithm": "puct"}, "targets": {"nodes": "roots", "policy": "visits", "value": "outcome"}}


@every_scale
@pytest.mark.parametrize("changes", [{}, PUCT], ids=["particle", "puct"])
def test_shares_of_time_are_whole(scale: str, changes: dict[str, dict[str, str]]) -> None:
    rows = {row.quantity: row.value for row in search.components(small(scale).changed(**changes))}
    assert sum(rows.values()) == pytest.approx(1)
    parts = ("network", "cache", "rules", "expansion", "selection", "backup", "sampling", "targets", "all else")
    assert list(rows) == [f"share of time: {part}" for part in parts]
    assert all(share > 0 for share in rows.values()), "each part is really measured"


def test_an_evaluated_node_takes_at_most_600_bytes() -> None:
    laptop = config.load(CONFIG / "laptop.yaml")
    laptop = laptop.changed(
        network={"blocks": 1, "channels": 8, "policy_hidden": 0}, selfplay={"games": 8, "capacity": 100_000}
    )
    rows = {row.quantity: row.value for row in search.per_node(laptop)}
    assert rows["bytes for each evaluated node"] <= 600


def test_bytes_of_backup_by_hand() -> None:
    searched = searching(games=1)
    searched.run(torch.tensor([0]), 4, 1, 0)  # four moves at the start, all explored now
    graph, root = searched.graph, searched.graph.root
    # node: its number 8, first edge 8, count 8, both rows of net read and of search written 4·12, closed 1; four edges:
    # child 8 and policy 4 read; four children: two rows of 12, closed 1, policy 4 written
    assert roofline.backup_bytes(graph, root)[0] == (8 + 8 + 8 + 48 + 1) + 4 * 12 + 4 * (24 + 1 + 4)
    assert roofline.backup_bytes(graph, root)[1] == roofline.backup_bytes(graph, root)[0]  # no child is shared


@every_scale
def test_a_prediction_is_whole(scale: str) -> None:
    rows = {row.quantity: row.value for row in roofline.predict(small(scale), games=4)}
    assert 0 < rows["share of time in the network"] + rows["share of time in launches and waits"] <= 1
    assert rows["… times the least possible"] >= 1
    assert 0 < rows["leaves of a batch"] <= 4 * small(scale).selfplay.particles


def test_views_are_no_launches_and_a_kernel_is_one_as_on_the_card() -> None:
    with roofline.Operations() as launched:
        (torch.ones(6).view(2, 3).t() + 1).sum()  # made, added, summed
    assert launched.count == 3
    searched = searching(games=1)
    searched.run(torch.tensor([0]), 4, 3, 0)
    backend = roofline.Counted(FIVE)
    searched.graph.scratch[searched.graph.root] = -1
    with backend.operations:
        backend.backup(searched.graph, searched.graph.root, 1.0)
    assert backend.operations.count == 1


@pytest.mark.parametrize(
    "game", [FOUR, FIVE, OBLONG, games.make("connect_four", width=2, height=2)], ids=lambda game: game.identity
)
def test_positions_to_measure_with_are_unfinished_and_as_many_as_wanted(game: Game) -> None:
    states = random_positions(game, 300, seed=1)
    assert states.shape == (300, 2) and game.legal(states).any(1).all()
    assert len(np.unique(states, axis=0)) > 5


def test_growth_goes_over_the_boards_that_the_game_has(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = {"leaf_evaluations": 6, "network_seconds": 1, "seconds": 2}
    monkeypatch.setattr(search, "played", lambda setting, evaluator: counted)
    boards = {row.case for row in search.growth(small()) if row.case.startswith("board ")}
    assert boards == {"board 4x4", "board 5x5", "board 6x6", "board 8x8"}
    boards = {row.case for row in search.growth(small("connect-four")) if row.case.startswith("board ")}
    expected = [*((4, width) for width in range(1, 8)), *((height, 4) for height in range(1, 7))]
    assert boards == {f"board {height}x{width}" for height, width in expected}
