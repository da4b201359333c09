"""What a study is read from: files of every variant and seed, refused if they do not fit together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import made_study as made
import numpy as np
import pandas as pd
import pytest
import small_study
from sealed import rewrite_table
from small_study import Inputs

from probzero import files
from probzero.errors import ProbZeroError
from probzero.report.study.inputs import COSTS, MEASURED, read_results
from probzero.study import descriptions
from probzero.tables import TABLE

Change = Callable[[pd.DataFrame], pd.DataFrame]


def refused(folder: Path, message: str, **changes: Change) -> None:
    """Check that the small study is refused if these of its tables are changed, though they are sealed."""
    found = small_study.inputs()
    changed = found._replace(**{name: change(getattr(found, name)) for name, change in changes.items()})
    with pytest.raises(ProbZeroError, match=message):
        small_study.read(folder, changed)


def without(table: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Return a table but for the rows that have all these values."""
    return table[~np.logical_and.reduce([table[name] == value for name, value in values.items()])]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda measures: measures.drop(columns="samples_seen"),
            r"measures-0\.csv: column samples_seen: expected present",
        ),
        (lambda measures: without(measures, variant="probzero"), "expected probzero, the reference, among them"),
        (
            lambda measures: without(measures, variant="uct", seed=0),
            "ratings: uct: expected seeds 1, found 0, 1",
        ),
        (
            lambda measures: pd.concat([measures, measures[:1]]),
            "particles 10, iteration 1, seed 0, phase 4: expected once",
        ),
        (
            lambda measures: measures.assign(kept=measures["kept"] + 3),
            r"measures-0\.csv: line 2: column kept: expected from 0 to the number of positions, found 11",
        ),
        (
            lambda measures: measures.assign(kept=measures["kept"].clip(lower=1) - 1),
            r"measures-0\.csv: line 2: column outcomes: expected a digit for each position, 1 for each that was kept",
        ),
        (
            lambda measures: measures.assign(outcomes=measures["outcomes"] + "0"),
            r"measures-0\.csv: line 2: column outcomes: expected a digit for each position, 1 for each that was kept",
        ),
        (lambda measures: measures.drop(columns="outcomes"), r"measures-0\.csv: column outcomes: expected present"),
        (
            lambda measures: without(measures, variant="alphazero", phase=5),
            "alphazero, particles 0, iteration 1, seed 0: expected 10 positions of phase 5, as of probzero, found 0",
        ),
        (
            lambda measures: measures.assign(games=measures["phase"]),
            "iteration 1, seed 0: expected one amount of work, found several",
        ),
        (
            lambda measures: measures.astype({"kept": object}).replace({"kept": {60: "x"}}),
            r"measures-0\.csv: line 6: column kept: expected a number, found 'x'",
        ),
        (
            lambda measures: measures.assign(seed=measures["seed"] + 0.5),
            r"measures-0\.5\.csv: line 2: column seed: expected a whole number",
        ),
        (
            lambda measures: without(measures, iteration=2, seed=0),
            "particles 0, iteration 2, seed 0: expected 10 positions of phase 4, as of probzero, found 0",
        ),
        (
            lambda measures: without(measures, variant="probzero", particles=0),
            "probzero, particles 0: expected measured",
        ),
        (lambda measures: without(measures, particles=10), "particles: expected a search budget too"),
        (lambda measures: measures[:0], r"measures-0\.csv: expected a row, found a header alone"),
    ],
)
def test_measures_that_do_not_fit_together_are_refused(tmp_path: Path, change: Change, message: str) -> None:
    refused(tmp_path, message, measures=change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda costs: costs.drop(columns="cache_hits"), r"costs-0\.csv: column cache_hits: expected present"),
        (lambda costs: without(costs, variant="uct", seed=1), "uct, iteration 0, seed 1: expected one row, found none"),
        (
            lambda costs: without(costs, variant="alphazero", iteration=2),
            "alphazero, iteration 2, seed 0: expected one row, found none",
        ),
        (lambda costs: pd.concat([costs, costs[:1]]), "iteration 1, seed 0: expected once, found more than once"),
        (lambda costs: costs.assign(selfplay_seconds="-"), "line 2: column selfplay_seconds: expected a number"),
    ],
)
def test_costs_that_do_not_fit_together_are_refused(tmp_path: Path, change: Change, message: str) -> None:
    refused(tmp_path, message, costs=change)


def test_ratings_that_lack_a_variant_or_a_seed_are_refused(tmp_path: Path) -> None:
    lacking = "ratings: uct: expected seeds 0, 1, found none"
    refused(tmp_path, lacking, ratings=lambda ratings: without(ratings, player="uct"))
    refused(tmp_path, "ratings: perfect: expected seeds 0, 1, found 0", ratings=lambda ratings: ratings[:-1])


def test_a_variant_that_the_record_lacks_is_refused(tmp_path: Path) -> None:
    strange = r"measures: variants: expected those of the study \(.*found stranger"
    refused(tmp_path, strange, measures=lambda measures: measures.replace({"uct": "stranger"}))


def test_other_times_change_nothing_but_the_costs(tmp_path: Path) -> None:
    found = small_study.inputs()
    slower = found._replace(costs=found.costs.assign(training_seconds=7 * found.costs["training_seconds"]))
    one, other = (small_study.read(tmp_path / name, inputs) for name, inputs in (("one", found), ("other", slower)))
    assert one.work.equals(other.work) and one.ratings.equals(other.ratings)
    assert all((one.shares[key].scores == other.shares[key].scores).all() for key in one.shares)
    assert not one.costs.equals(other.costs)


KINDS = {"measures": MEASURED, "costs": files.COSTS, "ratings": TABLE}


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, list[Path]]:
    """The files of the small study by kind, those of both seeds."""
    tables = small_study.inputs()._asdict()
    return {name: made.write_by_seed(tmp_path, name, tables[name], KINDS[name]) for name in tables}


def read_refused(paths: dict[str, list[Path]], message: str) -> None:
    record = made.write_record(paths["costs"][0].parent / "config.json", list(made.WORTH))
    with pytest.raises(ProbZeroError, match=message):
        read_results(paths["measures"], paths["costs"], paths["ratings"], descriptions(record))


@pytest.mark.parametrize("name", Inputs._fields)
def test_a_file_in_the_place_of_another_seed_is_refused(name: str, paths: dict[str, list[Path]]) -> None:
    (path, _) = paths[name]
    rewrite_table(path, lambda table: table.assign(seed=1))
    read_refused(paths, rf"{name}-0\.csv: line 2: column seed: expected 0, as the seal says, found 1$")


@pytest.mark.parametrize("name", Inputs._fields)
def test_a_file_that_was_changed_by_hand_or_has_no_seal_is_refused(name: str, paths: dict[str, list[Path]]) -> None:
    (path, _) = paths[name]
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"probzero", b"probzer0", 1))
    read_refused(paths, rf"{KINDS[name]}: \S*{name}-0\.csv: expected the file that was written")
    path.write_bytes(whole)
    files.seal_of(path).unlink()
    read_refused(paths, rf"{KINDS[name]}: \S*{name}-0\.csv: expected a seal beside it")


def test_measures_are_no_costs(paths: dict[str, list[Path]]) -> None:
    read_refused({**paths, "costs": paths["measures"]}, r"measures-0\.csv: kind: expected costs, found measures")
    assert not set(COSTS) & set(small_study.measures().columns)
