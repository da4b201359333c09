"""The table of what was tried: errors, cost and settings of every draw, and the pick of each system."""

from __future__ import annotations

import numpy as np
import pandas as pd

from probzero.report.study.inputs import Results, Shares
from probzero.report.tuning import picks_of, rival_of, tried_table
from probzero.tuning import Space, drawn

SPACE = Space(
    name="tuning",
    study="some.yaml",
    draws=2,
    seed=10,
    change={},
    shared={"training.a": [1, 2, 3]},
    own={"one": {"search.b": [4, 5]}, "two": {"search.c": [[6], [7, 8]]}},
)
KEPT = {"one-00": (0.9, 0.5), "one-01": (0.95, 0.5), "two-00": (0.9, 0.4), "two-01": (0.9, 0.6)}  # searched, raw


def results() -> Results:
    positions = np.array([40, 60])
    shares = {
        (name, budget, 5): Shares(np.array([[share, share]]), positions)
        for name, both in KEPT.items()
        for budget, share in zip((96, 0), both, strict=True)
    }
    spent = pd.DataFrame({"variant": list(KEPT), "iteration": 5, "seed": 10})
    work, costs = spent.assign(leaf_evaluations=range(4)), spent.assign(network_evaluations=range(10, 14))
    described = dict.fromkeys(KEPT)
    return Results(described, (10,), shares, work, costs, pd.DataFrame())  # type: ignore[arg-type]


def test_the_draw_of_least_error_is_picked_of_equals_the_one_that_is_better_raw() -> None:
    table = tried_table(SPACE, results())
    assert list(zip(table["system"], table["draw"], strict=True)) == [("one", 0), ("one", 1), ("two", 0), ("two", 1)]
    assert table["error"].round(9).tolist() == [0.1, 0.05, 0.1, 0.1] and table["picked"].tolist() == [0, 1, 0, 1]
    assert picks_of(table) == {"one": 1, "two": 1} and rival_of(table, "one") == "two"
    assert table["leaf_evaluations"].tolist() == [0, 1, 2, 3]
    assert table["network_evaluations"].tolist() == [10, 11, 12, 13]


def test_every_setting_is_told_and_those_that_a_system_has_not_are_empty() -> None:
    table = tried_table(SPACE, results())
    for row in table.to_dict("records"):
        told = {setting: row[setting] for setting in ("training.a", "search.b", "search.c")}
        given = drawn(SPACE, row["system"], row["draw"])
        assert told == {setting: str(given.get(setting, "")) for setting in told}
