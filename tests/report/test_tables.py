"""Tables of a run: sums by hand, damaged metrics refused, and how numbers are written."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from made_metrics import shard, training
from sealed import MADE, reseal, write_metrics
from simulated_games import tournament

from probzero import files
from probzero.errors import ProbZeroError
from probzero.report import tables
from probzero.tables import read_table


def written(folder: Path, *contents: object) -> list[Path]:
    return [write_metrics(folder / f"{number}.json", content) for number, content in enumerate(contents)]


def test_training_metrics_are_ordered_by_iteration(tmp_path):
    table = tables.collect_training(written(tmp_path, training(2, value_loss=0.25), training(1)))
    assert table["iteration"].tolist() == [1, 2]
    assert table["value_loss"].tolist() == [0.5, 0.25]
    assert tuple(table.columns) == tables.TRAINING


def test_shards_are_summed_and_means_recomputed(tmp_path):
    second = shard(1, 1, games=30, mean_plies=24.0, leaf_evaluations=3000)
    row = tables.collect_selfplay(written(tmp_path, shard(1, 0), second)).iloc[0]
    assert (row["shards"], row["games"], row["leaf_evaluations"]) == (2, 40, 4000)
    assert row["mean_plies"] == pytest.approx((10 * 20 + 30 * 24) / 40)


def test_metrics_tell_nothing_of_time_or_of_the_cache(tmp_path: Path) -> None:
    for table in (tables.collect_selfplay(written(tmp_path, shard(1, 0))),
                  tables.collect_training(written(tmp_path, training(1)))):  # fmt: skip
        assert not [name for name in table.columns if re.search("second(?!_wins)|cache|network|time", name)]


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ([{"iteration": 1}], r"0\.json: learning_rate: expected a number of at least 0, found nothing"),
        ([training(1, value_loss=float("nan"))], r"0\.json: expected readable JSON, found a number that is NaN"),
        ([training(1, value_loss=-0.5)], r"0\.json: value_loss: expected a number of at least 0, found -0\.5"),
        ([training(1) | {"steps": "many"}], r"0\.json: steps: .*found many"),
        ([[1, 2]], r"0\.json: expected an object, found list"),
        ([training(3), training(3)], "iteration 3: expected once"),
    ],
)
def test_damaged_training_metrics_are_refused(tmp_path, contents, message):
    with pytest.raises(ProbZeroError, match=message):
        tables.collect_training(written(tmp_path, *contents))


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ([shard(1, 0), shard(1, 1), shard(2, 0)], "iteration 2: expected 2 shards, found 1"),
        ([shard(1, 0), shard(1, 0)], "iteration 1, shard 0: expected once"),
        ([shard(1, 0, leaf_evaluations=0)], "iteration 1: expected leaf_evaluations above 0"),
    ],
)
def test_incomplete_selfplay_metrics_are_refused(tmp_path, contents, message):
    with pytest.raises(ProbZeroError, match=message):
        tables.collect_selfplay(written(tmp_path, *contents))


@pytest.mark.parametrize(("name", "found"), [("iteration", 2), ("shard", 1)])
def test_numbers_of_another_iteration_or_shard_than_the_seal_says_are_refused(tmp_path, name, found):
    (path,) = written(tmp_path, shard(1, 0))
    reseal(path, **{name: found})
    with pytest.raises(ProbZeroError, match=rf"0\.json: {name}: expected {found}, found {found - 1}"):
        tables.collect_selfplay([path])


@pytest.mark.parametrize("wanted", [{"seed": 1}, {"settings": {"selfplay": "another"}}])
def test_metrics_of_another_seed_or_of_other_settings_are_refused(tmp_path, wanted):
    path = write_metrics(tmp_path / "0.json", training(1), settings={"selfplay": "one"})
    assert len(tables.collect_training([path], seed=0, settings={"selfplay": "one"})) == 1
    with pytest.raises(ProbZeroError, match=rf"0\.json: {'seed' if 'seed' in wanted else 'selfplay'}: expected"):
        tables.collect_training([path], **wanted)


def test_metrics_that_were_changed_by_hand_or_have_no_seal_are_refused(tmp_path):
    (path,) = written(tmp_path, training(1))
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"0.5", b"0.6", 1))
    with pytest.raises(ProbZeroError, match=r"metrics: \S*0\.json: expected the file that was written"):
        tables.collect_training([path])
    path.write_bytes(whole)
    files.seal_of(path).unlink()
    with pytest.raises(ProbZeroError, match=r"metrics: \S*0\.json: expected a seal beside it"):
        tables.collect_training([path])


def test_costs_are_no_metrics(tmp_path):
    path = write_metrics(tmp_path / "0.json", training(1), files.COSTS)
    with pytest.raises(ProbZeroError, match=r"0\.json: kind: expected metrics, found costs"):
        tables.collect_training([path])


def test_tables_are_written_as_csv_and_markdown(tmp_path):
    ratings, _, players = tournament()
    tables.write_table(ratings, tmp_path / "t" / "ratings.csv", MADE)
    back = read_table(tmp_path / "t" / "ratings.csv", {"player": str, "rating": float})
    assert back["player"].tolist() == players
    assert back["rating"].to_numpy() == pytest.approx(ratings["rating"].to_numpy(), rel=1e-5)
    assert back["iteration"].isna().tolist() == [False, False, False, True]
    lines = (tmp_path / "t" / "ratings.md").read_text().splitlines()
    assert lines[0].startswith("| player") and "standard error" in lines[0]
    assert len(lines) == 2 + len(players)


def test_markdown_rounds_by_the_kind_of_number():
    table = pd.DataFrame({
        "rating": [-0.3, 612.4], "score": [0.12345, 1.0], "policy_loss": [0.123456, 1.0],
        "learning_rate": [1e-3, 1.23456e-4], "superiority": [0.99999, 0.5], "games": [1200, 7],
        "bounded": [True, False],
    })  # fmt: skip
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in tables.markdown(table).splitlines()[2:]]
    assert rows[0] == ["0", "0.123", "0.1235", "0.001", "> 0.999", "1200", "yes"]
    assert rows[1] == ["612", "1.000", "1.0000", "0.0001235", "0.500", "7", "no"]
