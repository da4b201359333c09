"""Tables of a study: sums by hand, intervals beside those of scipy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import small_study
from scipy import stats
from small_study import rows_by

from probzero.report.study import tables
from probzero.report.study.inputs import Results
from probzero.report.tables import markdown


@pytest.fixture
def small(tmp_path: Path) -> Results:
    return small_study.read(tmp_path, small_study.inputs())


def test_phases_are_gathered_in_bands_and_the_reference_comes_first(small: Results) -> None:
    assert tuple(small.described) == ("probzero", "alphazero", "uct")
    assert small.players == ["probzero", "alphazero", "uct", "perfect"]
    shares = small.shares["alphazero", 10, 2]
    assert shares.positions.tolist() == [20, 80]
    assert shares.scores == pytest.approx(np.array([[16 / 20, 70 / 80], [17 / 20, 75 / 80]]))
    assert shares.totals == pytest.approx([0.86, 0.92])


def test_curves_have_mean_shares_and_costs(small: Results) -> None:
    table = tables.curves_table(small)
    found = rows_by(table, "variant", "particles", "iteration")["alphazero", 10, 1]
    assert found["share"] == pytest.approx((70 + 60) / 200)
    assert (found["leaf_evaluations"], found["seeds"]) == (100, 2)
    expected = stats.ttest_1samp([0.70, 0.60], 0).confidence_interval(0.95)
    assert (found["share_low"], found["share_high"]) == pytest.approx((max(0, expected.low), min(1, expected.high)))
    assert table.loc[table["variant"] == "uct", ["particles", "iteration"]].to_numpy().tolist() == [[10, 0]]
    assert (table["share_low"] >= 0).all() and (table["share_high"] <= 1).all()


def test_final_shares_lead_and_spread(small: Results) -> None:
    table = rows_by(tables.final_table(small), "variant", "particles")
    found = table["alphazero", 10]
    expected = stats.ttest_ind([0.96, 0.99], [0.86, 0.92], equal_var=False).confidence_interval(0.95)
    assert (found["share"], found["lead"]) == pytest.approx((0.89, 0.975 - 0.89))
    assert (found["lead_low"], found["lead_high"]) == pytest.approx((expected.low, expected.high))
    assert found["seed_sd"] == pytest.approx(0.06 / 2**0.5)
    own = table["probzero", 10]
    assert own["lead"] == 0 and np.isnan(own["lead_low"])
    assert ("uct", 0) not in table


def test_elo_is_relative_to_the_mean_of_the_reference(small: Results) -> None:
    table = tables.elo_table(small).set_index("variant")
    assert table["rating"].to_dict() == {"probzero": 0, "alphazero": -45, "uct": -105, "perfect": 85}
    assert table["learns"].to_dict() == {"probzero": True, "alphazero": True, "uct": False, "perfect": False}
    assert table["game_sd"].tolist() == [5] * 4
    found = table.loc["alphazero"]
    assert found["seed_sd"] == pytest.approx((50 - 25) ** 0.5)
    expected = stats.ttest_ind([60, 70], [100, 120], equal_var=False).confidence_interval(0.95)
    assert (found["rating_low"], found["rating_high"]) == pytest.approx((expected.low, expected.high))


def test_effects_of_ablations_are_reference_less_ablation(tmp_path: Path) -> None:
    renamed = small_study.Inputs(*(table.replace({"alphazero": "no-reward"}) for table in small_study.inputs()))
    found = small_study.read(tmp_path, renamed)
    effect = tables.ablations_table(found).iloc[0]
    assert (effect["idea"], effect["variant"], effect["particles"]) == ("reward bootstrap", "no-reward", 10)
    assert (effect["raw_effect"], effect["searched_effect"], effect["elo_effect"]) == pytest.approx((0.085, 0.085, 45))
    expected = stats.ttest_ind([100, 120], [60, 70], equal_var=False).confidence_interval(0.95)
    assert (effect["elo_effect_low"], effect["elo_effect_high"]) == pytest.approx((expected.low, expected.high))


def test_accounts_are_those_of_the_last_checkpoint(small: Results) -> None:
    table = tables.accounting_table(small)
    assert table["leaf_evaluations"].tolist() == [200, 200, 0]
    assert table["leaf_evaluations_per_move"].tolist()[:2] == [10, 10]
    assert np.isnan(table["leaf_evaluations_per_move"].iloc[2])
    assert table[["games_ratio", "samples_seen_ratio"]].to_numpy().tolist() == [[1, 1], [1, 1], [0, 0]]


@pytest.mark.parametrize(
    ("make", "column", "of_iteration"),
    [(tables.efficiency_table, "leaf_evaluations", 100), (tables.costs_to_reach_table, "seconds", 200)],
)
def test_what_was_spent_before_the_first_checkpoint_that_reaches_a_share_is_told(
    make: Callable[[Results], pd.DataFrame], column: str, of_iteration: int, small: Results
) -> None:
    found = make(small)
    assert list(found.columns) == ["variant", "threshold", "particles", column, "seeds_reaching", "seeds"]
    table = rows_by(found, "variant", "threshold")
    # Shares 0.76, 0.96 and 0.96, 0.99: the seeds reach 0.95 at iterations 2 and 1, and one reaches 0.98 at 2.
    assert list(table["probzero", 0.95].values()) == [10, 1.5 * of_iteration, 2, 2]
    assert list(table["probzero", 0.98].values()) == [10, 2 * of_iteration, 1, 2]
    assert np.isnan(table["alphazero", 0.95][column])
    assert table["alphazero", 0.95]["seeds_reaching"] == 0


def test_costs_are_means_over_seeds_of_every_checkpoint(tmp_path: Path) -> None:
    found = small_study.inputs()
    later = found.costs.assign(selfplay_seconds=found.costs["selfplay_seconds"] * (1 + 2 * found.costs["seed"]))
    table = rows_by(tables.costs_table(small_study.read(tmp_path, found._replace(costs=later))), "variant", "iteration")
    assert list(table) == [("probzero", 1), ("probzero", 2), ("alphazero", 1), ("alphazero", 2), ("uct", 0)]
    # the second seed plays for 3 times as long: (200 + 600) / 2, and 200 of training
    expected = {"network_evaluations": 200, "network_calls": 200, "cache_hits": 200, "selfplay_seconds": 400,
                "training_seconds": 200, "seconds": 600, "seeds": 2}  # fmt: skip
    assert table["alphazero", 2] == expected
    assert table["uct", 0]["seconds"] == 0


def test_a_share_of_exactly_the_threshold_reaches_it(tmp_path: Path) -> None:
    found = small_study.inputs()
    kept = np.where(found.measures["positions"] == 80, 76, found.measures["phase"] + 5)  # 9 + 10 + 76 of 100
    digits = zip(kept, found.measures["positions"], strict=True)
    changes = {"kept": kept, "outcomes": [count * "1" + (all_ - count) * "0" for count, all_ in digits]}
    found = found._replace(measures=found.measures.assign(**changes))
    table = tables.efficiency_table(small_study.read(tmp_path, found))
    assert rows_by(table, "variant", "threshold")["alphazero", 0.95]["seeds_reaching"] == 2


def test_markdown_rounds_shares_and_elo_each_in_its_way_and_leaves_the_unknown_empty(small: Results) -> None:
    cells = [
        [[cell.strip() for cell in line.split("|")[1:-1]] for line in markdown(table).splitlines()]
        for table in (tables.elo_table(small), tables.final_table(small))
    ]
    assert cells[0][2][:6] == ["probzero", "yes", "0", "", "", "13.23"]  # no interval; √(200 − 25)
    assert cells[0][3][2] == "-45"
    assert cells[1][0][2:6] == ["share", "share low", "share high", "lead"]
    found = tables.final_table(small)[["share", "share_low", "share_high", "lead"]]
    assert [row[2:6] for row in cells[1][2:]] == [[f"{value:.3f}" for value in row] for row in found.to_numpy()]
