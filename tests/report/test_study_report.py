"""The report of a study: every table and figure, legible and apart from times; bad input leaves none."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import made_study as made
import numpy as np
import pandas as pd
import pytest
import small_study
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from sealed import MADE, reseal

from probzero.__main__ import main
from probzero.files import SEALS, read_sealed
from probzero.report import style
from probzero.report.same_files import differences, is_cost
from probzero.report.study import curves
from probzero.report.style import FIGURE
from probzero.tables import TABLE

VARIANTS = ("probzero", "alphazero", "uct", "root-only", "no-dag")
TABLES = ("curves", "final", "elo", "ablations", "accounting", "efficiency", "costs", "costs_to_reach")
SETTINGS = {"study": "0123456789ab"}
FIGURES = ("study_truth", "study_variants", "study_costs", "study_costs_variants", "study_ablations", "study_elo")


def outputs(folder: Path) -> list[str]:
    return ["--tables", str(folder / "tables"), "--figures", str(folder / "figures")]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str]:
    """The reports of one study on two machines, and what was said of the first."""
    folder = tmp_path_factory.mktemp("reports")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        for into, slower in (("one", 1.0), ("other", 2.5)):
            inputs = made.write(folder / "in" / into, VARIANTS, range(3), (0, 40), slower)
            reseal(folder / "in" / into / "config.json", settings=SETTINGS)
            assert main(["study-report", *inputs, *outputs(folder / into)]) == 0
    return folder / "one", folder / "other", said.getvalue()


def test_tables_and_figures_have_the_settings_of_the_record(reports: tuple[Path, Path, str]) -> None:
    found = {reports[0] / "tables" / f"{name}.csv": TABLE for name in TABLES}
    found |= {reports[0] / "figures" / f"{name}.{end}": FIGURE for name in FIGURES for end in ("png", "pdf")}
    for path, kind in found.items():
        by = read_sealed(path, kind)[1]
        assert (by.settings, by.subject) == (SETTINGS, path.stem)


def test_variants_are_shown_by_role_then_by_idea(tmp_path: Path, drawn: list[Figure]) -> None:
    names = ("no-dag", "no-reward", "root-only", "no-bootstrap", "multinomial", "uct", "alphazero", "probzero")
    assert main(["study-report", *made.write(tmp_path / "in", names, range(2), (0, 10)), *outputs(tmp_path)]) == 0
    shown = pd.read_csv(tmp_path / "tables" / "final.csv")["variant"].unique().tolist()
    assert shown[:3] == ["probzero", "alphazero", "uct"]
    assert shown[3:] == ["no-dag", "multinomial", "no-reward", "no-bootstrap", "root-only"]


def test_the_command_leaves_every_table_and_figure_and_a_summary(reports: tuple[Path, Path, str]) -> None:
    made_in, _, said = reports
    for folder, names, kinds in (("tables", TABLES, ("csv", "md")), ("figures", FIGURES, ("png", "pdf"))):
        found = {path.name for path in (made_in / folder).iterdir()}
        assert found == {SEALS} | {f"{name}.{kind}" for name in names for kind in kinds}
    assert "lead low" in said and "seeds reaching" in said


def test_tables_do_not_depend_on_the_order_of_files(tmp_path: Path, drawn: list[Figure]) -> None:
    record = made.write_record(tmp_path / "config.json", VARIANTS)
    parts = made.write_inputs(tmp_path, VARIANTS, range(2), (0, 40))
    for inputs, into in ((parts, "a"), ([paths[::-1] for paths in parts], "b")):
        arguments = ["--study", str(record), *made.named(*inputs), *outputs(tmp_path / into)]
        assert main(["study-report", *arguments]) == 0
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
def test_figures_are_legible(tmp_path: Path, drawn: list[Figure], variants: tuple[str, ...], count: int) -> None:
    assert main(["study-report", *made.write(tmp_path, variants, range(count), (0, 40)), *outputs(tmp_path)]) == 0
    one_panel = style.SINGLE if len(variants) == 2 else style.DOUBLE  # of systems, the reference alone
    widths = [one_panel, style.DOUBLE] * 2 + [style.DOUBLE, style.SINGLE]
    assert [figure.get_figwidth() for figure in drawn] == widths
    for figure in drawn:
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        inside = figure.get_tightbbox(canvas.get_renderer())  # of all that is seen, in inches
        assert inside.x0 > -0.01 and inside.x1 < figure.get_figwidth() + 0.01
        assert inside.y0 > -0.01 and inside.y1 < figure.get_figheight() + 0.01
        assert min(float(text.get_fontsize()) for text in figure.findobj(Text) if text.get_text()) >= 8
        assert figure.get_supxlabel()


def test_long_names_leave_room_for_what_is_drawn(tmp_path: Path, drawn: list[Figure]) -> None:
    """Those of the factorial's cells are half as wide as a page."""
    inputs = made.write(tmp_path / "in", VARIANTS, range(2), (0, 40))
    named = {name: {**part, "label": f"tree, bootstrap, {name}; as published"} for name, part in
             made.RECORD["variants"].items() if name in VARIANTS}  # fmt: skip
    made.write_record(tmp_path / "in" / "config.json", variants=named)
    assert main(["study-report", *inputs, *outputs(tmp_path)]) == 0
    for figure in drawn:
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        inside = figure.get_tightbbox(canvas.get_renderer())
        assert inside.x0 > -0.01 and inside.x1 < figure.get_figwidth() + 0.01
        widths = [axes.get_window_extent().width / figure.dpi for axes in figure.axes]
        assert min(widths) > 1


@pytest.mark.parametrize("by_time", [False, True])
def test_every_variant_has_a_panel_with_a_line_for_each_seed(
    by_time: bool, tmp_path: Path, drawn: list[Figure]
) -> None:
    found = small_study.read(tmp_path, small_study.inputs())
    (curves.plot_costs if by_time else curves.plot_truth)(found, tmp_path / "a", MADE)
    panels = {axes.get_title(): axes for axes in drawn[0].axes}
    assert list(panels) == ["ProbZero", "AlphaZero", "UCT"]
    # 100 leaf evaluations and 200 seconds an iteration
    spent = [200 / 60, 400 / 60] if by_time else [100e-6, 200e-6]
    searched = [line for line in panels["AlphaZero"].lines if line.get_color() == style.BLUE]
    assert [line.get_linewidth() < 1 for line in searched] == [True, True, False, False]
    one, other, mean, interval = (np.asarray(line.get_ydata()) for line in searched)
    assert one == pytest.approx([30, 14]) and other == pytest.approx([40, 8])  # of 100 positions
    assert mean == pytest.approx([35, 11]) and searched[0].get_xdata() == pytest.approx(spent)
    # Student's t with one degree of freedom: 12.706 standard errors of 3, cut off above 0
    assert interval[1] == pytest.approx(11 + 12.706 * 3, abs=0.01) and 0 < interval[0] < 1
    dashed = [line.get_ydata() for line in panels["AlphaZero"].lines if line.get_color() == style.BLACK]
    assert dashed[1] == pytest.approx([(24 + 4) / 2, (4 + 1) / 2])  # the mean of ProbZero
    across = [line for line in panels["UCT"].lines if line.get_color() == style.BLUE]
    assert all(set(line.get_ydata()) == {50} for line in across) and len(across) == 3
    labels = ("Self-play and training (minutes)", "Leaf evaluations in self-play (millions)")
    assert drawn[0].get_supxlabel() == labels[not by_time]
    assert {axes.get_yscale() for axes in panels.values()} == {"log"}


def test_axes_begin_with_what_was_learned(tmp_path: Path, drawn: list[Figure]) -> None:
    """Untrained networks give away half of all results; they would press together what is compared."""
    untrained, learned = np.array([[50.0, 60]]), np.array([[20.0, 10]])
    curve = curves.Curve(np.array([[0.0, 0], [1, 1]]), np.concatenate([untrained, learned]), 5, 25)
    assert curves._limits([curve]) == pytest.approx((10 / curves.ROOM, 20 * curves.ROOM))


def test_each_seed_of_an_ablation_is_a_dot_beside_its_interval(tmp_path: Path, drawn: list[Figure]) -> None:
    assert main(["study-report", *made.write(tmp_path / "in", VARIANTS, range(3), (0, 40)), *outputs(tmp_path)]) == 0
    panels = drawn[4].axes  # of ablations
    effects = pd.read_csv(tmp_path / "tables" / "ablations.csv")
    for axes, effect in zip(panels, ("raw_effect", "searched_effect"), strict=True):
        single = [line.get_xdata() for line in axes.lines if line.get_linestyle() == "None"]
        seeds = [found for found in single if len(found) == 3]
        assert [found.mean() for found in seeds] == pytest.approx(
            (100 * effects[effect]).tolist(), rel=1e-5
        )  # six digits
        assert all(np.ptp(found) > 0 for found in seeds)


def test_other_times_change_the_tables_and_figures_of_costs_and_nothing_else(reports: tuple[Path, Path, str]) -> None:
    one, other, _ = reports
    found = differences(one, other)
    apart = {name for name in (*TABLES, *FIGURES) if "costs" not in name}
    assert {name.stem for name in found if name.parent.name != SEALS} == apart and not any(found.values())
    costs = [path.relative_to(one) for path in one.rglob("*costs*") if path.is_file()]
    assert {name.name.partition(".")[0] for name in costs} == {*TABLES, *FIGURES} - apart
    for name in costs:
        assert is_cost(name) and (one / name).read_bytes() != (other / name).read_bytes(), name


@pytest.mark.parametrize("name", ["config.json", "probzero/costs-1.csv", "uct/measures-0.csv", "ratings-1.csv"])
def test_a_file_that_was_changed_is_refused_in_one_line_and_nothing_is_written(
    name: str, tmp_path: Path, capsys
) -> None:
    inputs = made.write(tmp_path / "in", VARIANTS[:3], range(2), (0, 10))
    path = tmp_path / "in" / name
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    assert main(["study-report", *inputs, *outputs(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{path}: expected the file that was written" in line and "run the same command again" in line
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
