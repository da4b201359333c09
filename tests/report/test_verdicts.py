"""Verdicts: the rules of docs/protocol.md on made-up outcomes, tournaments worked by hand, and the file of outcomes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_study import measures
from matplotlib.figure import Figure
from matplotlib.text import Text
from sealed import MADE, made

from probzero import games, tensor_files
from probzero.errors import ProbZeroError
from probzero.report.drawing import draw_verdicts
from probzero.report.evidence import contrasts
from probzero.report.evidence.contrasts import Contrast
from probzero.report.evidence.outcomes import KIND, Outcomes, collect, read_outcomes, write_outcomes
from probzero.report.evidence.verdicts import (
    COLUMNS,
    FAILS,
    HOLDS,
    OPEN,
    budget_rows,
    error_rows,
    factorial_contrasts,
    filling_rows,
    of_ratio,
    progress_rows,
    slope_of,
    verdict_table,
)
from probzero.report.study.inputs import MEASURED
from probzero.tables import write_csv

GAME = games.make("othello", size=5)


def made_up(factors: dict[str, float], seeds: int = 8, positions: int = 600) -> Outcomes:
    """Outcomes whose errors are 6 % times the factors of all words in an arm's name, raw ones twice that."""
    draw = np.random.default_rng(4)
    arms = [*next(iter(factorial_contrasts().values())), "rivals/probzero", "rivals/alphazero"]
    difficulty, rows = draw.gamma(0.5, 2.0, positions), []
    for number, arm in enumerate(arms):
        error = 0.06 * np.prod([factor for word, factor in factors.items() if word in arm])
        for seed in range(seeds):
            for budget, times in ((0, 2.0), (96, 1.0)):
                rows.append((number, seed, budget, draw.random(positions) < np.minimum(error * times * difficulty, 1)))
    parts = (np.array([row[column] for row in rows], np.int32) for column in range(3))
    return Outcomes(tuple(arms), *parts, np.sort(draw.integers(4, 24, positions)).astype(np.int16),
                    np.array([row[3] for row in rows]))  # fmt: skip


def test_contrasts_weigh_every_pair_of_cells_alike() -> None:
    found = factorial_contrasts()
    for weights in found.values():
        assert sum(weights.values()) == pytest.approx(0)
    tree, within = found["tree / roots"], found["winner_prob / visits, within tree"]
    assert len(tree) == 16 and set(np.abs(list(tree.values()))) == {1 / 8}
    assert all((weight > 0) == ("-tree-" in arm) for arm, weight in tree.items())
    assert len(within) == 8 and all("-tree-" in arm for arm in within) and set(np.abs(list(within.values()))) == {1 / 4}
    both = found["winner_prob / visits, tree / roots"]
    assert both["factorial/default-tree-bootstrap-winner"] == both["factorial/default-roots-bootstrap-visits"] == 1 / 4
    assert len(found["tree / roots, published training"]) == 8


def test_an_idea_that_halves_the_error_holds_one_that_doubles_it_does_not_and_one_that_does_nothing_is_neither(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(contrasts, "REPLICATES", 500)
    rows = pd.DataFrame(error_rows(made_up({"tree": 0.5, "bootstrap": 2.0, "probzero": 0.5}), "alphazero"))
    primary = rows[rows["p_holm"].notna()].set_index("claim")
    assert primary["verdict"].to_dict() == {"1": HOLDS, "2": FAILS, "3": primary["verdict"]["3"], "7": HOLDS}
    assert primary["verdict"]["3"] in (OPEN, FAILS)  # nothing there: equivalent, or not enough seen
    assert primary["estimate"][["1", "2", "3", "7"]].tolist() == pytest.approx([0.5, 2, 1, 0.5], rel=0.3)
    assert (primary["low"] < primary["estimate"]).all() and (primary["estimate"] < primary["high"]).all()
    assert len(rows) == 4 + 4 + 1 + 6 and (rows.loc[rows["p_holm"].isna(), "verdict"] == "").all()


@pytest.mark.parametrize(
    ("theta", "error", "p", "verdict"),
    [(-0.5, 0.1, 0.001, HOLDS), (0.5, 0.1, 0.001, FAILS), (0.0, 0.03, 0.9, FAILS), (-0.3, 0.2, 0.3, OPEN)],
)
def test_a_ratio_of_errors_has_a_verdict(theta: float, error: float, p: float, verdict: str) -> None:
    assert of_ratio(Contrast(theta, error, 8), p) == verdict


def test_filled_calls_hold_only_with_strength_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contrasts, "REPLICATES", 500)
    seeds = range(8)
    costs = pd.DataFrame(
        [{"variant": name, "seed": seed, "network_calls": 100.0, "network_evaluations": calls * (1 + 0.01 * seed)}
         for name, calls in (("probzero", 50_000), ("alphazero", 10_000)) for seed in seeds]
    )  # fmt: skip
    good, bad = made_up({"probzero": 0.5}), made_up({"probzero": 3.0})
    (row,) = filling_rows(costs, good, ["alphazero"])
    assert [row[name] for name in ("estimate", "low", "high")] == pytest.approx([5, 5, 5])  # the same with every seed
    assert row["verdict"] == HOLDS
    assert filling_rows(costs, bad, ["alphazero"])[0]["verdict"] == OPEN
    swapped = costs.replace({"probzero": "alphazero", "alphazero": "probzero"})
    assert filling_rows(swapped, good, ["alphazero"])[0]["verdict"] == FAILS


def differences(ratings: dict[int, float], error: float) -> pd.DataFrame:
    """Differences of players whose ratings are independent, each with the same standard error."""
    numbers, rows = list(ratings), []
    for place, later in enumerate(numbers):
        for earlier in numbers[:place]:
            apart, spread = ratings[later] - ratings[earlier], error * 2**0.5
            rows.append({"player": f"iteration-{later:04}", "opponent": f"iteration-{earlier:04}", "difference": apart,
                         "low": apart - 2 * spread, "high": apart + 2 * spread, "standard_error": spread,
                         "superiority": 1.0 if apart > 0 else 1e-9 if apart < -4 * spread else 0.4})  # fmt: skip
    return pd.DataFrame(rows)


def test_the_slope_is_that_of_least_squares_and_its_error_follows_from_independent_ratings() -> None:
    ratings = {50: 0.0, 100: 40.0, 200: 90.0, 400: 110.0}
    table = differences(ratings, 10.0).assign(later=lambda rows: rows.player.str[-4:].astype(int),
                                              earlier=lambda rows: rows.opponent.str[-4:].astype(int))  # fmt: skip
    slope, error = slope_of(table)
    x, y = np.array(list(ratings)) / 100, np.array(list(ratings.values()))
    assert slope == pytest.approx(np.polyfit(x, y, 1)[0])
    assert error == pytest.approx(10 / np.sqrt(((x - x.mean()) ** 2).sum()))


@pytest.mark.parametrize(
    ("ratings", "error", "verdicts"),
    [
        ({50: 0, 100: 200, 400: 350}, 10.0, [HOLDS, HOLDS, HOLDS]),  # 359 within
        ({50: 0, 100: 20, 400: 40}, 10.0, [FAILS, HOLDS, HOLDS]),  # progress, but far from 359
        ({50: 0, 100: 200, 400: 360}, 300.0, [OPEN, OPEN, HOLDS]),
        ({50: 0, 100: 200, 400: 100}, 5.0, [FAILS, FAILS, FAILS]),  # the last is worse than the one before
    ],
)
def test_progress_has_verdicts(ratings: dict[int, float], error: float, verdicts: list[str]) -> None:
    rows = progress_rows(differences(ratings, error), "ours")
    found = [row["verdict"] for row in rows]
    assert found[0] == verdicts[0] and found[2] == verdicts[2] and rows[0]["contrast"].endswith("400 − 50")
    assert (rows[1]["low"] > 0) == (found[1] == HOLDS)


def test_elo_by_budget_is_set_beside_what_was_claimed() -> None:
    rows = [("particles-8", 120.0), ("particles-96", 400.0), ("particles-1600", 405.0)]
    table = pd.DataFrame([{"player": name, "opponent": "raw", "difference": elo, "low": elo - 30, "high": elo + 30}
                          for name, elo in rows])  # fmt: skip
    assert [row["verdict"] for row in budget_rows(table)] == [HOLDS, FAILS, HOLDS]


def test_every_claim_has_a_row_whatever_was_measured() -> None:
    table = verdict_table(progress_rows(differences({50: 0, 400: 350}, 10.0), "ours"))
    assert tuple(table.columns) == COLUMNS and set(table["claim"]) == set("1234567")
    assert (table.loc[table["claim"] != "5", "verdict"] == OPEN).all()
    assert len(progress_rows(differences({50: 0, 400: 350}, 10.0), "ours")) == 1  # no slope of two


def judged() -> pd.DataFrame:
    """Verdicts as `verdict_table` gives them: three ratios of errors among rows that are none."""
    rows = [
        ("1", "tree / roots", 0.5, 0.4, 0.7, 0.01, "no", HOLDS),
        ("1", "tree / roots, raw policy", 0.9, 0.6, 1.2, np.nan, "no", ""),
        ("4", "evaluations a network call, probzero / alphazero", 5.0, 4.0, 6.0, np.nan, "yes", HOLDS),
        ("5", "ours, Elo of iteration 400 − 50", 80.0, 40.0, 90.0, np.nan, "", OPEN),
        ("7", "probzero / alphazero", 1.0, 0.05, 20.0, 0.9, "no", OPEN), ("2", "not measured", *[np.nan] * 4, "", OPEN),
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS)).sort_values("claim", kind="stable", ignore_index=True)


def test_ratios_of_errors_are_drawn_with_their_intervals_and_what_is_as_good(
    tmp_path: Path, drawn: list[Figure]
) -> None:
    assert draw_verdicts(judged(), tmp_path / "verdicts", MADE)
    axes = drawn[0].axes[0]
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names == ["tree / roots", "raw policy", "probzero / alphazero", "Claim 1:", "Claim 7:"]
    said = [text.get_text() for text in axes.child_axes[0].get_yticklabels()]
    assert said[:3] == ["0.50 (0.40–0.70) holds", "0.90 (0.60–1.20)", "1.00 (0.05–20.00) cannot be told"]
    heights = axes.get_yticks()
    spans = {line.get_ydata()[0]: list(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2}
    assert spans[heights[0]] == [0.4, 0.7] and spans[heights[1]] == [0.6, 1.2]
    assert spans[heights[2]] == [0.1, 10]  # no farther, with an arrow at either end
    ends = [str(line.get_marker()) for line in axes.lines if line.get_ydata()[0] == heights[2]]
    assert {"<", ">"} <= set(ends)
    assert axes.get_xscale() == "log"
    (band,) = axes.patches
    assert band.get_extents().transformed(axes.transData.inverted()).intervalx == pytest.approx((0.8, 1.25))
    assert min(float(text.get_fontsize()) for text in drawn[0].findobj(Text) if text.get_text()) >= 8


def test_nothing_is_drawn_where_no_errors_were_compared(tmp_path: Path, drawn: list[Figure]) -> None:
    assert not draw_verdicts(verdict_table([]), tmp_path / "verdicts", MADE) and drawn == []


def test_outcomes_are_those_of_the_last_checkpoints_and_survive_their_file(tmp_path: Path) -> None:
    paths = []
    for name in ("probzero", "alphazero"):
        for seed in (0, 1):
            paths.append(("study", tmp_path / f"{name}-{seed}.csv"))
            write_csv(paths[-1][1], measures(name, seed, (0, 5)), MEASURED, made(seed=seed))
    found = collect(paths)
    assert found.arms == ("study/probzero", "study/alphazero") and found.seeds("study/alphazero", 96) == [0, 1]
    table = measures("alphazero", 1, (0, 5)).query("iteration == 5 and particles == 384")
    assert found.of("study/alphazero", 384, [1])[0].tolist() == [digit == "0" for digit in "".join(table["outcomes"])]
    path = tmp_path / "outcomes.safetensors"
    write_outcomes(path, found, GAME, MADE)
    again = read_outcomes(path, GAME)
    for name, column in vars(found).items():
        assert np.array_equal(column, getattr(again, name)), name
    assert path.stat().st_size < found.lost.size / 8 + 5000


def test_outcomes_that_cannot_be_right_are_refused(tmp_path: Path) -> None:
    path, good = tmp_path / "outcomes.safetensors", made_up({}, 2, 20)
    arrays = {name: getattr(good, name) for name in ("arm", "seed", "budget", "phase")}
    arrays["lost"] = np.packbits(good.lost, axis=1)
    for name, change, message in (
        ("arm", lambda column: column + 100, "the number of an arm"),
        ("phase", lambda column: column[::-1].copy(), "rising phases"),
        ("lost", lambda column: column | 1, "nothing after the last position"),
        ("seed", lambda column: column * 0, "every arm, seed and budget once"),
    ):
        wrong = {**arrays, name: change(arrays[name])}
        tensor_files.save(path, KIND, wrong, GAME, MADE, {"arms": list(good.arms)})
        with pytest.raises(ProbZeroError, match=message):
            read_outcomes(path)
    tensor_files.save(path, KIND, arrays, GAME, MADE, {"arms": ["a", "a"]})
    with pytest.raises(ProbZeroError, match="expected different names"):
        read_outcomes(path)
