"""What the benchmark counts: operations, bytes, and whose time is whose. No test here measures speed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from searching import searching

from probzero import config
from probzero.benchmarks import memory, network, roofline, search
from probzero.benchmarks.network import operations
from probzero.config import Network

ROOT = Path(__file__).parent.parent


def small() -> config.Config:
    smoke = config.load(ROOT / "config" / "smoke.yaml")
    return smoke.changed(selfplay={"games": 4, "capacity": 20_000})


def test_operations_of_the_published_network() -> None:
    assert operations(5, Network(blocks=10, channels=50)) / 1e6 == pytest.approx(
        22.5 + 0.5, abs=0.6
    )  # the trunk alone has 22.5
    # by hand, 1 block of 1 channel on 4×4: trunk 9·(2 + 2), heads 3·32, on 16 squares; policy 512·17; two heads 512 + 3
    assert operations(4, Network(blocks=1, channels=1)) == 2 * (16 * (36 + 96) + 512 * 17 + 2 * (512 + 3))


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


def test_shares_of_time_are_whole() -> None:
    rows = list(search.components(small()))
    assert sum(row.value for row in rows) == pytest.approx(1)
    assert all(row.value >= 0 for row in rows)
    assert {"share of time: network", "share of time: rules", "share of time: backup"} <= {row.quantity for row in rows}


def test_an_evaluated_node_takes_at_most_600_bytes() -> None:
    laptop = config.load(ROOT / "config" / "laptop.yaml")
    laptop = laptop.changed(
        network={"blocks": 1, "channels": 8, "policy_hidden": 0}, selfplay={"games": 8, "capacity": 100_000}
    )
    rows = {row.quantity: row.value for row in memory.per_node(laptop)}
    assert rows["bytes for each evaluated node"] <= 600


def test_memory_of_a_long_run_is_what_the_system_says(monkeypatch: pytest.MonkeyPatch) -> None:
    held = iter([100] * 10 + [200, 300, 400, 500] + [450] * 1 + [600, 800, 700, 900, 1000])
    process = SimpleNamespace(memory_info=lambda: SimpleNamespace(rss=next(held) * 2**20))
    monkeypatch.setattr(memory, "psutil", SimpleNamespace(Process=lambda: process))
    setting = small().changed(training={"samples": 64})
    first, last = memory.long_run(setting, iterations=20)
    assert (first.value, last.value) == (300, 800 / 300)  # medians of 100, 200, 300, 400, 500 and of the last five


def test_layouts_are_measured_beside_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "speed", lambda work, amount: work() or amount)  # runs everything once
    rows = {row.quantity: row.value for row in network.layouts(5, Network(blocks=1, channels=20))}
    assert len(rows) == 4 and set(rows.values()) == {network.LAYOUT_BATCH, 1.0}  # 32 is the next of 16 and of 32


def test_bytes_of_backup_by_hand() -> None:
    searched = searching(games=1)
    searched.run(torch.tensor([0]), 4, 1, 0)  # four moves at the start, all explored now
    tree, root = searched.tree, searched.tree.root
    # node: its number 8, first edge 8, count 8, both rows of net read and of search written 4·12, closed 1; four edges:
    # child 8 and policy 4 read; four children: two rows of 12, closed 1, policy 4 written
    assert roofline.backup_bytes(tree, root)[0] == (8 + 8 + 8 + 48 + 1) + 4 * 12 + 4 * (24 + 1 + 4)
    assert roofline.backup_bytes(tree, root)[1] == roofline.backup_bytes(tree, root)[0]  # no child is shared


def test_a_prediction_is_whole() -> None:
    rows = {row.quantity: row.value for row in roofline.predict(small(), games=4)}
    assert 0 < rows["share of time in the network"] + rows["share of time in launches"] <= 1
    assert rows["… times the least possible"] >= 1
    assert 0 < rows["leaves of a batch"] <= 4 * small().selfplay.particles
