"""Figures of strength against exact truth: what is drawn is what stands in the tables, worked by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from sealed import MADE

from probzero.report import style, truth_figures
from probzero.report.truth import kept_summary


def kept(counts: dict[tuple[int, int, int], int], of: int = 200) -> pd.DataFrame:
    """Rows of decisive positions by iteration (-1: the ceiling), particles and phase, each with `of` positions."""
    rows = [
        {"player": "ceiling" if iteration < 0 else f"iteration-{iteration:04}", "source": "selfplay", "phase": phase,
         "iteration": pd.NA if iteration < 0 else iteration, "particles": particles, "positions": of, "kept": number}
        for (iteration, particles, phase), number in counts.items()
    ]  # fmt: skip
    return pd.DataFrame(rows).astype({"iteration": "Int64"})


PLAYED = pd.DataFrame({"iteration": [1, 2], "leaf_evaluations": [1_000_000, 500_000]})
COUNTS = {(0, 0, 9): 100, (2, 0, 9): 180, (0, 8, 9): 120, (2, 8, 9): 200, (-1, 0, 9): 190, (-1, 8, 9): 198}
LOOKS = {0: ("#E69F00", "o"), 8: ("#0072B2", "s"), 96: ("#009E73", "^")}


def by_label(axes: Axes) -> dict[str, Any]:
    return {str(line.get_label()): line for line in axes.lines}


def test_errors_stand_on_a_logarithmic_axis_beside_what_is_kept(tmp_path: Path, drawn: list[Figure]) -> None:
    truth_figures.plot_truth(kept_summary(kept(COUNTS), PLAYED, []), LOOKS, tmp_path / "truth", MADE)
    by_iteration, by_leaves = drawn[0].axes
    assert (by_iteration.get_yscale(), by_leaves.get_yscale()) == ("log", "log")
    raw = by_label(by_iteration)["Raw policy"]
    assert raw.get_ydata() == pytest.approx([50, 10]) and raw.get_xdata().tolist() == [0, 2]
    assert by_label(by_leaves)["Raw policy"].get_xdata() == pytest.approx([0, 1.5])
    dotted = [line.get_ydata()[0] for line in by_iteration.lines if line.get_linestyle() == ":"]
    assert dotted == pytest.approx([5, 1])
    (right,) = by_leaves.child_axes
    drawn[0].canvas.draw()
    shown = [text.get_text() for text in right.get_yticklabels()]
    assert {"50", "80", "90", "95", "98", "99"} <= set(shown)


def test_where_no_error_was_seen_the_marker_is_hollow_at_half_a_position(tmp_path: Path, drawn: list[Figure]) -> None:
    truth_figures.plot_truth(kept_summary(kept(COUNTS), PLAYED, []), LOOKS, tmp_path / "truth", MADE)
    axes = drawn[0].axes[0]
    assert by_label(axes)["8 particles a move"].get_ydata() == pytest.approx([40, 0.25])
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white" and len(line.get_ydata())]
    assert [line.get_ydata().tolist() for line in hollow] == [[0.25]]


def test_errors_by_phase_are_bars_of_bands_with_their_intervals(tmp_path: Path, drawn: list[Figure]) -> None:
    phases = {phase: 4 * phase for phase in range(9, 16)}  # of 100: bands 9 to 11, 12 to 14, 15 to 17
    counts = {(2, 0, phase): 100 - lost for phase, lost in phases.items()}
    counts |= {(2, 8, phase): 100 for phase in phases} | {(-1, 0, phase): 99 for phase in phases}
    table = kept_summary(kept(counts, 100), PLAYED, ["phase"])
    truth_figures.plot_errors(table, LOOKS, tmp_path / "errors", MADE, "Stones")
    above, below = drawn[0].axes
    heights = {
        bars.get_label(): [bar.get_height() for bar in bars] for axes in (above, below) for bars in axes.containers
        if bars.get_label() and not str(bars.get_label()).startswith("_")
    }  # fmt: skip
    assert heights == {
        "Raw policy": pytest.approx([40, 52, 60]), "Trained on exact labels": pytest.approx([1, 1, 1]),
        "8 particles": [0, 0, 0],
    }  # fmt: skip
    assert [text.get_text() for text in below.get_xticklabels()] == ["9–11", "12–14", "15–17"]
    assert below.get_xlabel() == "Stones"
    # Wilson's interval of 120 in 300 (z = 1.96): 0.4 + 0.00633 ± 0.0545, over 1.0128
    (low, high), *_ = (segment[:, 1] for segment in above.containers[0][2][0].get_segments())
    assert (low, high) == pytest.approx((34.6, 45.6), abs=0.1)


def certificates(won: bool) -> pd.DataFrame:
    rows = [(0, "start", 0, 0, 1, 0, 900), (5, "start", 0, 0, 1, 0, 30), (5, "start", 96, 0, 1, 1, 0),
            (5, "start", 96, 1, 8, 7, 3)]  # fmt: skip
    rows += [(5, "won", 0, 0, 69, 27, 99), (5, "won", 96, 0, 69, 52, 9)] if won else []
    names = ["iteration", "source", "particles", "draws", "agents", "certified", "holes"]
    return pd.DataFrame(rows, columns=names).astype({"iteration": "Int64"})


def test_holes_fall_to_none_and_won_openings_are_counted(tmp_path: Path, drawn: list[Figure]) -> None:
    truth_figures.plot_certificates(certificates(won=True), LOOKS, tmp_path / "certificates", MADE)
    left, right = drawn[0].axes
    lines = by_label(left)
    assert lines["Raw policy"].get_ydata().tolist() == [900, 30]
    assert lines["96 particles a move"].get_ydata().tolist() == [0]  # agents that draw are others
    drawn[0].canvas.draw()
    assert "none:\ncertified" in [text.get_text() for text in left.get_yticklabels()]
    counted = {str(bars.get_label()): [bar.get_height() for bar in bars] for bars in right.containers}
    assert counted == {"Won openings": [69, 69], "Certified from": [27, 52]}


def test_a_run_whose_openings_were_not_certified_shows_holes_alone(tmp_path: Path, drawn: list[Figure]) -> None:
    truth_figures.plot_certificates(certificates(won=False), LOOKS, tmp_path / "certificates", MADE)
    assert len(drawn[0].axes) == 1


def test_a_budget_looks_the_same_in_every_figure_of_a_run() -> None:
    tables = [pd.DataFrame({"particles": column}) for column in ([0, 32, 96, 384], [0, 96, 384])]
    looks = truth_figures.looks_of(tables)
    assert list(looks) == [0, 32, 96, 384] and len(set(looks.values())) == 4
    assert truth_figures.looks_of(tables[::-1]) == looks


def test_all_is_legible_and_inside_the_page(tmp_path: Path, drawn: list[Figure]) -> None:
    truth_figures.plot_truth(kept_summary(kept(COUNTS), PLAYED, []), LOOKS, tmp_path / "truth", MADE)
    truth_figures.plot_errors(kept_summary(kept(COUNTS), PLAYED, ["phase"]), LOOKS, tmp_path / "errors", MADE)
    truth_figures.plot_certificates(certificates(won=True), LOOKS, tmp_path / "certificates", MADE)
    for figure in drawn:
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        inside = figure.get_tightbbox(canvas.get_renderer())
        assert inside.x0 > -0.01 and inside.x1 < figure.get_figwidth() + 0.01 <= style.DOUBLE + 0.01
        assert inside.y0 > -0.01 and inside.y1 < figure.get_figheight() + 0.01
        assert min(float(text.get_fontsize()) for text in figure.findobj(Text) if text.get_text()) >= 8
    assert np.isfinite([axes.get_ylim() for figure in drawn for axes in figure.axes]).all()
