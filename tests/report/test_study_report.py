"""Tables and figures of a study: sums by hand, bad input refused before anything is written, legible figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import made_study as made
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy import stats

from probzero.__main__ import main
from probzero.errors import ProbZeroError
from probzero.report import style
from probzero.report.study import figures, tables
from probzero.report.study.inputs import COSTS, Results, read_results
from probzero.report.study.text import readable
from probzero.study import descriptions

VARIANTS = ("probzero", "alphazero", "uct", "root-only", "no-dag")
TABLES = ("curves", "final", "elo", "ablations", "accounting", "efficiency")
FIGURES = ("study_truth", "study_variants", "study_ablations", "study_elo")


def row(variant: str, seed: int, iteration: int, particles: int, phase: int, positions: int, kept: int) -> dict:
    costs = dict.fromkeys(COSTS, 0.0) if variant == "uct" else {name: iteration * 100.0 for name in COSTS}
    costs |= {"moves": iteration * 10.0}
    return {"variant": variant, "seed": seed, "iteration": iteration, "particles": particles, "phase": phase,
            "positions": positions, "kept": kept, **costs}  # fmt: skip


def small_measures() -> pd.DataFrame:
    """Two seeds; 20 positions of 4 and 5 discs (one band) and 80 of 6, raw and with 10 particles."""
    kept = {  # by variant and seed, at iterations 1 and 2: kept of 4, 5 and 6 discs
        ("probzero", 0): [(8, 8, 60), (10, 9, 77)],
        ("probzero", 1): [(9, 9, 78), (10, 10, 79)],
        ("alphazero", 0): [(5, 5, 60), (8, 8, 70)],
        ("alphazero", 1): [(5, 5, 50), (8, 9, 75)],
    }
    rows = []
    for (variant, seed), counts in kept.items():
        for iteration, found in enumerate(counts, start=1):
            for phase, positions, number in zip((4, 5, 6), (10, 10, 80), found, strict=True):
                rows.append(row(variant, seed, iteration, 10, phase, positions, number))
                rows.append(row(variant, seed, iteration, 0, phase, positions, number - 5))
    for seed in (0, 1):
        rows += [row("uct", seed, 0, 10, phase, count, count // 2) for phase, count in ((4, 10), (5, 10), (6, 80))]
    return pd.DataFrame(rows)


def small_ratings() -> pd.DataFrame:
    rated = {"probzero": (100, 120), "alphazero": (60, 70), "uct": (0, 10), "perfect": (200, 190)}
    return pd.DataFrame([
        {"seed": seed, "player": name, "rating": ratings[seed], "low": 0, "high": 0, "standard_error": 5}
        for name, ratings in rated.items() for seed in (0, 1)
    ])  # fmt: skip


def read(folder: Path, measures: pd.DataFrame, ratings: pd.DataFrame) -> Results:
    measures.to_csv(folder / "measures.csv", index=False)
    ratings.to_csv(folder / "ratings.csv", index=False)
    record = made.write_record(folder / "config.json", list(made.WORTH))
    return read_results([folder / "measures.csv"], [folder / "ratings.csv"], descriptions(record))


def rows_by(table: pd.DataFrame, *columns: str) -> dict[Any, dict[Any, Any]]:
    """Return the rows of a table by the values in these columns."""
    return table.set_index(list(columns)).to_dict("index")


@pytest.fixture
def small(tmp_path: Path) -> Results:
    return read(tmp_path, small_measures(), small_ratings())


def test_phases_are_gathered_in_bands_and_the_reference_comes_first(small: Results) -> None:
    assert tuple(small.described) == ("probzero", "alphazero", "uct")
    assert small.players == ["probzero", "alphazero", "uct", "perfect"]
    shares = small.shares["alphazero", 10, 2]
    assert shares.positions.tolist() == [20, 80]
    assert shares.scores == pytest.approx(np.array([[16 / 20, 70 / 80], [17 / 20, 75 / 80]]))
    assert shares.totals == pytest.approx([0.86, 0.92])


def test_variants_are_shown_by_role_then_by_idea(tmp_path: Path) -> None:
    names = ("no-dag", "no-reward", "root-only", "no-bootstrap", "multinomial", "uct", "alphazero", "probzero")
    assert main(["study-report", *made.write(tmp_path / "in", names, range(2), (0, 10)), *outputs(tmp_path)]) == 0
    shown = pd.read_csv(tmp_path / "tables" / "final.csv")["variant"].unique().tolist()
    assert shown[:3] == ["probzero", "alphazero", "uct"]
    assert shown[3:] == ["no-dag", "multinomial", "no-reward", "no-bootstrap", "root-only"]


def test_curves_have_mean_shares_and_costs(small: Results) -> None:
    table = tables.curves_table(small)
    found = rows_by(table, "variant", "particles", "iteration")["alphazero", 10, 1]
    assert found["share"] == pytest.approx((70 + 60) / 200)
    assert (found["leaf_evaluations"], found["seconds"], found["seeds"]) == (100, 200, 2)
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
    renamed = {"alphazero": "no-reward"}
    found = read(tmp_path, small_measures().replace(renamed), small_ratings().replace(renamed))
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


def test_efficiency_is_the_cost_of_the_first_checkpoint_that_reaches_a_share(small: Results) -> None:
    table = rows_by(tables.efficiency_table(small), "variant", "threshold")
    # Shares 0.76, 0.96 and 0.96, 0.99: the seeds reach 0.95 at iterations 2 and 1, and one reaches 0.98 at 2.
    assert list(table["probzero", 0.95].values()) == [10, 150, 300, 2, 2]
    assert list(table["probzero", 0.98].values()) == [10, 200, 400, 1, 2]
    assert np.isnan(table["alphazero", 0.95]["leaf_evaluations"])
    assert table["alphazero", 0.95]["seeds_reaching"] == 0


def test_a_share_of_exactly_the_threshold_reaches_it(tmp_path: Path) -> None:
    measures = small_measures()
    measures["kept"] = np.where(measures["positions"] == 80, 76, 9.5)  # 95 of 100
    table = tables.efficiency_table(read(tmp_path, measures, small_ratings()))
    assert rows_by(table, "variant", "threshold")["alphazero", 0.95]["seeds_reaching"] == 2


def test_markdown_joins_estimates_and_intervals_and_leaves_the_unknown_empty(small: Results) -> None:
    lines = readable("elo", tables.elo_table(small), "probzero").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert cells[0][1] == "Elo relative to probzero, Welch 95 %"
    assert cells[2][:4] == ["probzero", "0", "13", "5"]  # √(200 − 25); no interval
    assert cells[3][1].startswith("-45 (-") and cells[3][1].endswith(")")
    efficiency = readable("efficiency", tables.efficiency_table(small), "probzero")
    assert "nan" not in efficiency and "%" not in efficiency.splitlines()[2]


def without(measures: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Return the measures but for the rows that have all these values."""
    return measures[~np.logical_and.reduce([measures[name] == value for name, value in values.items()])]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda measures: measures.drop(columns="cache_hits"), "column cache_hits: expected present"),
        (lambda measures: without(measures, variant="probzero"), "expected probzero, the reference, among them"),
        (lambda measures: without(measures, variant="uct", seed=0), "measures: uct: expected seeds 0, 1, found 1"),
        (
            lambda measures: pd.concat([measures, measures[:1]]),
            "particles 10, iteration 1, seed 0, phase 4: expected once",
        ),
        (lambda measures: measures.assign(kept=measures["kept"] + 3), "phase 4: expected 0 to 10 kept, found 11"),
        (
            lambda measures: without(measures, variant="alphazero", phase=5),
            "alphazero, particles 0, iteration 1, seed 0: expected 10 positions of 5 discs, as of probzero, found 0",
        ),
        (
            lambda measures: measures.assign(games=measures["phase"]),
            "iteration 1, seed 0: expected one cost, found several",
        ),
        (
            lambda measures: measures.astype({"kept": object}).replace({"kept": {60: "x"}}),
            "column kept: expected a number",
        ),
        (lambda measures: measures.assign(seed=measures["seed"] + 0.5), "line 2: column seed: expected a whole number"),
        (
            lambda measures: without(measures, iteration=2, seed=0),
            "particles 0, iteration 2: expected 2 seeds, found 1",
        ),
        (
            lambda measures: without(measures, variant="probzero", particles=0),
            "probzero, particles 0: expected measured",
        ),
        (lambda measures: without(measures, particles=10), "particles: expected a search budget too"),
        (lambda measures: measures[:0], "rows: expected one or more, found none"),
    ],
)
def test_measures_that_do_not_fit_together_are_refused(tmp_path: Path, change, message: str) -> None:
    with pytest.raises(ProbZeroError, match=message):
        read(tmp_path, change(small_measures()), small_ratings())


def test_ratings_that_lack_a_variant_or_a_seed_are_refused(tmp_path: Path) -> None:
    ratings = small_ratings()
    with pytest.raises(ProbZeroError, match="ratings: uct: expected seeds 0, 1, found none"):
        read(tmp_path, small_measures(), ratings[ratings["player"] != "uct"])
    with pytest.raises(ProbZeroError, match="ratings: perfect: expected seeds 0, 1, found 0"):
        read(tmp_path, small_measures(), ratings[:-1])


def test_a_variant_that_the_record_lacks_is_refused(tmp_path: Path) -> None:
    strange = small_measures().replace({"uct": "stranger"})
    with pytest.raises(ProbZeroError, match=r"measures: variants: expected those of the study \(.*found stranger"):
        read(tmp_path, strange, small_ratings())


def outputs(folder: Path) -> list[str]:
    return ["--tables", str(folder / "tables"), "--figures", str(folder / "figures")]


def test_the_command_leaves_every_table_and_figure_and_a_summary(tmp_path: Path, capsys) -> None:
    inputs = made.write(tmp_path / "in", VARIANTS, range(3), (0, 40))
    assert main(["study-report", *inputs, *outputs(tmp_path)]) == 0
    for folder, names, kinds in (("tables", TABLES, ("csv", "md")), ("figures", FIGURES, ("png", "pdf"))):
        found = {path.name for path in (tmp_path / folder).iterdir()}
        assert found == {f"{name}.{kind}" for name in names for kind in kinds}
    said = capsys.readouterr().out
    assert "raw policy: probzero keeps" in said and "alphazero reaches 95 %" in said


def test_tables_do_not_depend_on_the_order_of_files(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(style, "save", lambda *_: None)
    inputs = made.write(tmp_path / "in", VARIANTS, range(2), (0, 40))
    ratings = inputs.index("--ratings")
    turned = [*inputs[:3], *inputs[3:ratings][::-1], *inputs[ratings:]]
    for arguments, into in ((inputs, "a"), (turned, "b")):
        assert main(["study-report", *arguments, *outputs(tmp_path / into)]) == 0
    for name in TABLES:
        first, second = (tmp_path / into / "tables" / f"{name}.csv" for into in "ab")
        assert first.read_bytes() == second.read_bytes(), name


def test_bad_input_ends_with_one_line_and_nothing_written(tmp_path: Path, capsys) -> None:
    inputs = made.write(tmp_path / "in", VARIANTS[:2], range(2), (0, 10))
    made.write_record(tmp_path / "in" / "config.json", variants=dict.fromkeys(VARIANTS), reference="no-dag")
    assert main(["study-report", *inputs, *outputs(tmp_path)]) == 2
    assert "expected no-dag, the reference, among them, found probzero, alphazero" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize(("variants", "count"), [(tuple(made.WORTH), 3), (("probzero", "no-dag"), 1)])
def test_figures_are_legible(tmp_path: Path, monkeypatch, variants: tuple[str, ...], count: int) -> None:
    drawn: list[Figure] = []
    monkeypatch.setattr(style, "save", lambda figure, *_: drawn.append(figure))
    assert main(["study-report", *made.write(tmp_path, variants, range(count), (0, 40)), *outputs(tmp_path)]) == 0
    assert [figure.get_figwidth() for figure in drawn] == [style.DOUBLE] * 3 + [style.SINGLE]
    for figure in drawn:
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        inside = figure.get_tightbbox(canvas.get_renderer())  # of all that is seen, in inches
        assert inside.x0 > -0.01 and inside.x1 < figure.get_figwidth() + 0.01
        assert inside.y0 > -0.01 and inside.y1 < figure.get_figheight() + 0.01
        assert min(float(text.get_fontsize()) for text in figure.findobj(Text) if text.get_text()) >= 8
        assert all(axes.get_xlabel() for axes in figure.axes)


def test_variants_that_learn_are_curves_and_plain_search_a_line_across(tmp_path: Path, monkeypatch) -> None:
    drawn: list[Figure] = []
    monkeypatch.setattr(style, "save", lambda figure, *_: drawn.append(figure))
    found = read(tmp_path, small_measures(), small_ratings())
    table = tables.curves_table(found)
    figures.plot_truth(found, table, tmp_path / "a")
    panels = drawn[0].axes
    assert [len(axes.lines) for axes in panels] == [2, 2, 3, 3]
    dotted = panels[2].lines[2]
    assert dotted.get_linestyle() == ":" and np.asarray(dotted.get_ydata()).tolist() == [50, 50]
