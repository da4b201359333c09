"""What iterations cost, on paper: sums over shards, rates that add up, and files that do not fit together refused."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from sealed import write_metrics

from probzero import files
from probzero.errors import ProbZeroError
from probzero.report.iteration_costs import collect_costs, collect_selfplay_costs, collect_training_costs


def shard(iteration: int, number: int, **changes: float) -> dict[str, float]:
    costs = {"network_evaluations": 750, "network_calls": 10, "cache_hits": 250, "seconds": 2.0, "network_seconds": 1.5}
    return {"iteration": iteration, "shard": number, **costs, **changes}


def written(folder: Path, kind: str, *contents: dict[str, float]) -> list[Path]:
    named = [(folder / f"{kind}{number}.json", content) for number, content in enumerate(contents)]
    return [write_metrics(path, content, files.COSTS) for path, content in named]


def test_shards_are_summed_and_their_rates_add_up(tmp_path: Path) -> None:
    second = shard(1, 1, seconds=4.0, network_seconds=1.0, cache_hits=2250)
    played = written(tmp_path, "selfplay", shard(2, 0), shard(2, 1), shard(1, 0), second)
    trained = written(tmp_path, "train", {"iteration": 2, "seconds": 8.0}, {"iteration": 1, "seconds": 4.0})
    training = pd.DataFrame({"iteration": [1, 2], "samples": [1000, 4000]})
    table = collect_costs(played, trained, training)
    assert table["iteration"].to_list() == [1, 2]
    expected = {
        "iteration": 1, "selfplay_seconds": 6, "network_seconds": 2.5, "network_share": 2.5 / 6,
        "leaf_evaluations_per_second": 1000 / 2 + 3000 / 4, "network_evaluations_per_second": 750 / 2 + 750 / 4,
        "network_evaluations": 1500, "network_calls": 20, "cache_hits": 2500, "cache_hit_share": 2500 / 4000,
        "training_seconds": 4, "samples_per_second": 250, "cumulative_seconds": 10,
    }  # fmt: skip
    assert table.iloc[0].to_dict() == pytest.approx(expected)
    assert table["cumulative_seconds"].to_list() == [10, 10 + 4 + 8]
    assert table["samples_per_second"].to_list() == [250, 500]


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ([shard(1, 0), shard(1, 1), shard(2, 0)], "self-play costs: iteration 2: expected 2 shards, found 1"),
        ([shard(1, 0), shard(1, 0)], "self-play costs: iteration 1, shard 0: expected once"),
        ([shard(1, 0, seconds=0)], "self-play costs: iteration 1: expected seconds above 0"),
        ([{"iteration": 1, "shard": 0}], r"selfplay0\.json: network_evaluations: expected a number of at least 0"),
    ],
)
def test_costs_of_self_play_that_are_incomplete_are_refused(tmp_path: Path, contents: list, message: str) -> None:
    with pytest.raises(ProbZeroError, match=message):
        collect_selfplay_costs(written(tmp_path, "selfplay", *contents))


def test_costs_of_training_that_are_incomplete_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ProbZeroError, match=r"train0\.json: seconds: expected a number of at least 0, found nothing"):
        collect_training_costs(written(tmp_path, "train", {"iteration": 1}))
    twice = {"iteration": 1, "seconds": 1.0}
    with pytest.raises(ProbZeroError, match="training costs: iteration 1: expected once"):
        collect_training_costs(written(tmp_path, "train", twice, twice))


@pytest.mark.parametrize(("played", "trained", "what"), [(1, 2, "self-play costs"), (2, 1, "training costs")])
def test_an_iteration_without_its_costs_is_refused(tmp_path: Path, played: int, trained: int, what: str) -> None:
    shards = written(tmp_path, "selfplay", *(shard(number, 0) for number in range(1, played + 1)))
    times = written(tmp_path, "train", *({"iteration": number, "seconds": 1.0} for number in range(1, trained + 1)))
    with pytest.raises(ProbZeroError, match=rf"{what}: iterations: expected \[1, 2\], found \[1\]"):
        collect_costs(shards, times, pd.DataFrame({"iteration": [1, 2], "samples": [1, 1]}))
