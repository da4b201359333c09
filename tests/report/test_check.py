"""A run beside the reference: what passes, what does not, and what is only shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sealed import MADE, rewrite_table
from simulated_games import simulate

from probzero import config, files
from probzero.arena import elo
from probzero.errors import ProbZeroError
from probzero.report import check, tables
from probzero.report.tournament import differences_table, pairings_table, ratings_table

CONFIGURATION = {"name": "smoke", "seeds": [0], "selfplay": {"games": 8, "device": "cpu", "threads": 1}}


def write_run(folder: Path, seed: int = 0, last: float = 400) -> Path:
    """Write the tables of a run whose last checkpoint is worth `last` Elo and whose games depend on `seed`."""
    games, names = simulate(np.random.default_rng(seed), [0, 200, last], 20, 0.2, 40)
    ratings = elo.fit(games, names, names[0])
    iteration = np.arange(1, 9)
    learned = pd.DataFrame({name: 0.5 for name in tables.TRAINING} | {"iteration": iteration})
    played = pd.DataFrame({"iteration": iteration, "games": 16, "mean_plies": 20.0})
    spent = pd.DataFrame({"iteration": iteration, **dict.fromkeys(check.COSTS, 0.6)})
    made = {
        "training": learned, "selfplay": played, "costs": spent, "ratings": ratings_table(ratings),
        "differences": differences_table(ratings), "pairings": pairings_table(games, names),
    }  # fmt: skip
    for name, table in made.items():
        tables.write_table(table, table_of(folder, name), MADE)
    return configure(folder, CONFIGURATION)


def configure(folder: Path, settings: object) -> Path:
    files.write_json(folder / check.CONFIGURATION, settings, config.KIND, MADE)
    return folder


def table_of(folder: Path, name: str) -> Path:
    return folder / "seed0" / "tables" / f"{name}.csv"


def edit(folder: Path, name: str, **columns: object) -> None:
    rewrite_table(table_of(folder, name), lambda table: table.assign(**columns))


def verdict(found: pd.DataFrame, quantity: str) -> str:
    return found.loc[found["quantity"] == quantity, "verdict"].item()


@pytest.fixture
def reference(tmp_path):
    return write_run(tmp_path / "reference")


def test_a_run_equals_itself_byte_for_byte(reference):
    found = check.check(reference, reference)
    assert check.passed(found)
    bytes_rows = found[found["quantity"].str.startswith("bytes")]
    assert len(bytes_rows) == 5
    assert (bytes_rows["verdict"] == check.SAME).all()


def test_other_games_of_equal_players_pass_with_other_bytes(reference, tmp_path):
    found = check.check(write_run(tmp_path / "new", seed=1), reference)
    assert check.passed(found)
    assert verdict(found, "bytes of pairings.csv") == check.OTHER


def test_a_weaker_last_checkpoint_differs(reference, tmp_path):
    found = check.check(write_run(tmp_path / "new", seed=1, last=-200), reference)
    assert not check.passed(found)
    assert verdict(found, "rating difference iteration-0002 : iteration-0000") == check.DIFFERS
    assert verdict(found, "match score iteration-0002 : iteration-0000") == check.DIFFERS
    assert verdict(found, "match score iteration-0001 : iteration-0000") == check.INFORMATION


@pytest.mark.parametrize(
    ("table", "column", "inside", "outside", "quantity"),
    [
        ("training", "policy_loss", 0.54, 0.56, "final policy_loss"),
        ("training", "value_loss", 0.46, 0.44, "final value_loss"),
        ("training", "reward_loss", 0.54, 0.56, "final reward_loss"),
        ("training", "policy_agreement", 0.528, 0.54, "final policy_agreement"),
        ("training", "value_accuracy", 0.472, 0.46, "final value_accuracy"),
        ("training", "reward_accuracy", 0.528, 0.54, "final reward_accuracy"),
        ("selfplay", "games", 16, 17, "self-play games"),
        ("selfplay", "mean_plies", 20.4, 20.6, "final mean_plies"),
    ],
)
def test_each_tolerance_has_an_inside_and_an_outside(reference, tmp_path, table, column, inside, outside, quantity):
    new = write_run(tmp_path / "new")
    for value, expected in ((inside, check.OK), (outside, check.DIFFERS)):
        edit(new, table, **{column: value})
        found = check.check(new, reference)
        assert verdict(found, quantity) == expected
        assert check.passed(found) == (expected == check.OK)


def test_costs_are_shown_and_never_judged(reference, tmp_path):
    new = write_run(tmp_path / "new")
    edit(new, "costs", leaf_evaluations_per_second=1e6, network_share=0.01, cache_hit_share=0.0)
    found = check.check(new, reference)
    assert check.passed(found)
    costs = {"leaf_evaluations_per_second": "1000000", "network_share": "0.01", "cache_hit_share": "0"}
    for name, value in costs.items():
        (row,) = found[found["quantity"] == f"mean {name}"].to_dict("records")
        assert (row["new"], row["reference"], row["verdict"]) == (value, "0.6", check.INFORMATION)
    assert "bytes of costs.csv" not in found["quantity"].to_list()  # never the same


def test_another_configuration_differs_but_another_device_does_not(reference, tmp_path):
    new = write_run(tmp_path / "new")
    elsewhere = CONFIGURATION | {"selfplay": {"games": 8, "device": "cuda", "threads": 4}}
    configure(new, elsewhere)
    assert check.passed(check.check(new, reference))
    configure(new, CONFIGURATION | {"seeds": [1], "name": "smoke-seed1"})  # no settings
    assert check.passed(check.check(new, reference))
    configure(new, CONFIGURATION | {"selfplay": {"games": 9}})
    assert verdict(check.check(new, reference), "configuration") == check.DIFFERS


def test_a_pairing_that_was_not_played_differs(reference, tmp_path):
    new = write_run(tmp_path / "new")
    left_out = "not (player == 'iteration-0001' and opponent == 'iteration-0000')"
    rewrite_table(table_of(new, "pairings"), lambda table: table.query(left_out))
    found = check.check(new, reference)
    assert verdict(found, "match score iteration-0001 : iteration-0000") == check.DIFFERS


def test_the_text_names_every_row_and_counts(reference):
    text = check.as_text(check.check(reference, reference))
    assert "configuration" in text and "final policy_loss" in text
    assert text.endswith("12 ok, 0 outside the tolerance")


def test_every_tolerance_gives_its_reason():
    assert all(len(tolerance.reason) > 10 for tolerance in check.TOLERANCES.values())


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("config.json", r"config\.json: expected a file, found nothing"),
        ("seed0/tables/training.csv", r"training\.csv: expected a file, found nothing"),
        ("seed0/tables/costs.csv", r"costs\.csv: expected a file, found nothing"),
        ("seed0/tables/ratings.csv", None),
    ],
)
def test_a_missing_file_of_the_new_run_is_named(reference, tmp_path, missing, message):
    new = write_run(tmp_path / "new")
    (new / missing).unlink()
    if message is None:  # the ratings follow from differences and pairings; their bytes are only shown
        assert "missing" in check.check(new, reference)["new"].to_list()
        return
    with pytest.raises(ProbZeroError, match=message):
        check.check(new, reference)


@pytest.mark.parametrize("name", ["config.json", "seed0/tables/training.csv", "seed0/tables/pairings.csv"])
@pytest.mark.parametrize("place", ["new", "reference"])
def test_a_file_that_was_changed_by_hand_is_named_on_either_side(reference, tmp_path, name, place):
    new = write_run(tmp_path / "new")
    path = tmp_path / place / name
    path.write_bytes(path.read_bytes().replace(b"0", b"1", 1))
    with pytest.raises(ProbZeroError, match=rf"{place}/{name}: expected the file that was written"):
        check.check(new, reference)


def test_a_reference_without_tables_is_refused(reference, tmp_path):
    with pytest.raises(ProbZeroError, match=r"reference: .*expected seed<S>/tables, found none"):
        check.check(reference, tmp_path / "nothing")


def truth_table(folder: Path, kept: float) -> None:
    rows = {"iteration": [0, 4, 4], "source": "all", "particles": [0, 0, 96], "kept_share": [0.4, kept, 0.97]}
    table = pd.DataFrame(rows).assign(share_low=lambda t: t.kept_share - 0.02, share_high=lambda t: t.kept_share + 0.02)
    tables.write_table(table, table_of(folder, "truth"), MADE)


@pytest.mark.parametrize(("kept", "expected"), [(0.87, check.OK), (0.80, check.DIFFERS)])
def test_strength_against_exact_truth_is_checked(reference, tmp_path, kept, expected):
    new = write_run(tmp_path / "new")
    truth_table(reference, 0.89)
    truth_table(new, kept)
    found = check.check(new, reference)
    assert verdict(found, "exact result kept last checkpoint : 0 particles") == expected
    assert verdict(found, "exact result kept last checkpoint : 96 particles") == check.OK
