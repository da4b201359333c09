"""What was measured against exact truth: counts that no measurement gives are refused, though they are sealed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kinds_of_files import CALIBRATION, COUNTED, KEPT, PERFECT
from sealed import MADE, copy, write_metrics

from probzero.errors import ProbZeroError
from probzero.report.truth_inputs import CALIBRATION as CALIBRATION_COLUMNS
from probzero.report.truth_inputs import KEPT as KEPT_COLUMNS
from probzero.report.truth_inputs import PERFECT as PERFECT_COLUMNS
from probzero.report.truth_inputs import collect, collect_blunders
from probzero.tables import write_csv
from probzero.truth.blunders import BLUNDERS

TABLES = {
    "kept": (KEPT, KEPT_COLUMNS), "calibration": (CALIBRATION, CALIBRATION_COLUMNS),
    "perfect": (PERFECT, PERFECT_COLUMNS),
}  # fmt: skip


def collected(folder: Path, kind: str, **changes: Any) -> pd.DataFrame:
    content, columns = TABLES[kind]
    path = folder / "iteration-0001" / f"{kind}.csv"
    table = pd.DataFrame({"player": "iteration-0001", **content, **changes})
    write_csv(path, table, kind, MADE.about("iteration-0001"))
    return collect([path], columns, kind)


@pytest.mark.parametrize(
    ("kind", "changes", "line", "column"),
    [
        ("kept", {"kept": [2, 5]}, 3, "kept"),
        ("kept", {"kept": [-1, 4]}, 2, "kept"),
        ("kept", {"kept": [1, 4]}, 2, "outcomes"),
        ("kept", {"outcomes": ["101", "111"]}, 3, "outcomes"),
        ("kept", {"outcomes": ["101", "1112"]}, 3, "outcomes"),
        ("kept", {"positions": [3, 0], "kept": [2, 0], "outcomes": ["101", ""]}, 3, "positions"),
        ("kept", {"positions": [3, -4]}, 3, "positions"),
        ("kept", {"phase": [4, -5]}, 3, "phase"),
        ("kept", {"phase": [4, 4]}, 3, "phase"),
        ("kept", {"particles": [0, -8]}, 3, "particles"),
        ("calibration", {"bin": [10]}, 2, "bin"),
        ("calibration", {"bin": [-1]}, 2, "bin"),
        ("calibration", {"predictions": [0]}, 2, "predictions"),
        ("calibration", {"mean_prediction": [1.1]}, 2, "mean_prediction"),
        ("calibration", {"frequency": [9.0]}, 2, "frequency"),
        ("calibration", {"frequency": [-0.1]}, 2, "frequency"),
        ("calibration", {"brier": [4.1]}, 2, "brier"),
        ("calibration", {"brier": [-0.1]}, 2, "brier"),
        ("calibration", {"log_loss": [-0.1]}, 2, "log_loss"),
        ("perfect", {"result": [1, 7]}, 3, "result"),
        ("perfect", {"opening": [0, -2]}, 3, "opening"),
    ],
)
def test_what_no_measurement_gives_is_refused(
    kind: str, changes: dict[str, Any], line: int, column: str, tmp_path: Path
) -> None:
    assert len(collected(tmp_path, kind))
    with pytest.raises(ProbZeroError, match=rf"^{kind}: .*{kind}\.csv: line {line}: column {column}: expected "):
        collected(tmp_path, kind, **changes)


def counts(folder: Path, iteration: int = 1, **changes: float) -> Path:
    return write_metrics(folder / f"{iteration:04}.json", {"iteration": iteration, **COUNTED, **changes}, BLUNDERS)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"blunders": 21, "blunders_per_game": 10.5}, "blunders"),
        ({"games": 0}, "games"),
        ({"blunders_per_game": 1.4}, "blunders_per_game"),
        ({"result_lost_per_game": 1.6}, "result_lost_per_game"),
        ({"result_lost_per_game": 0.7}, "result_lost_per_game"),
        ({"games_without_blunder": 2}, "games_without_blunder"),
        ({"blunders": 1, "blunders_per_game": 0.5, "result_lost_per_game": 0.5}, "games_without_blunder"),
    ],
)
def test_counts_of_blunders_that_contradict_each_other_are_refused(
    changes: dict[str, float], name: str, tmp_path: Path
) -> None:
    assert collect_blunders([counts(tmp_path)])["blunders"].tolist() == [3]
    with pytest.raises(ProbZeroError, match=rf"0001\.json: {name}: expected from"):
        collect_blunders([counts(tmp_path, **changes)])


def test_blunders_of_another_iteration_are_refused(tmp_path: Path) -> None:
    paths = [counts(tmp_path, iteration) for iteration in (2, 1)]
    assert collect_blunders(paths)["iteration"].tolist() == [1, 2]
    copy(paths[0], paths[1])
    with pytest.raises(ProbZeroError, match=r"0001\.json: iteration: expected iteration 1, found iteration 2"):
        collect_blunders(paths)
