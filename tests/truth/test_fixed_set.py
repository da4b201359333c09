"""A fixed set beside positions of random play: moves are judged on the one, values on the other."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml
from made_database import SMALL, opened
from sealed import made

from probzero.__main__ import FAILURE, main
from probzero.database.position_sets import Rule, position_sets
from probzero.tables import write_csv
from probzero.truth.positions import COLUMNS, KIND, REACHABLE, for_calibration, judged, read_positions

ROOT = Path(__file__).parents[2]


def positions(sources: dict[str, int]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "source": [name for name, count in sources.items() for _ in range(count)],
            "phase": range(sum(sources.values())),
        }
    )


def test_moves_are_judged_on_the_fixed_set_alone_and_values_on_the_rest() -> None:
    both = positions({REACHABLE: 7, "random": 3})
    assert judged(both).phase.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert judged(both, 3).phase.tolist() == [0, 3, 6]
    assert for_calibration(both).phase.tolist() == [7, 8, 9]


def test_without_a_fixed_set_all_positions_serve_both() -> None:
    own = positions({"random": 3, "selfplay": 2})
    assert judged(own, 3).phase.tolist() == for_calibration(own).phase.tolist() == [0, 1, 2, 3, 4]


@pytest.fixture
def fixed(database4: Path, tmp_path: Path) -> Path:
    sets = position_sets(opened(database4), Rule(5, 8, 14, 30, 5), 1)
    write_csv(tmp_path / "test.csv", sets["test"], KIND, made(seed=None, iteration=None, shard=None))
    return tmp_path / "test.csv"


def configuration(size: int) -> str:
    raw = yaml.safe_load((ROOT / "config" / "smoke.yaml").read_text(encoding="utf-8"))
    game = {"name": "othello", "size": size}
    return json.dumps({"experiment": "test", "game": game, "truth": raw["truth"]})


def test_the_evaluation_set_of_a_run_is_the_fixed_one_and_random_play(fixed: Path, tmp_path: Path) -> None:
    output = tmp_path / "positions.csv"
    asked = ["positions", "--config", configuration(4), "--seed", "3", "--fixed", str(fixed), "--output", str(output)]
    assert main(asked) == 0
    table = read_positions(output, SMALL, seed=3)
    given = read_positions(fixed, SMALL)
    assert list(table) == list(COLUMNS)
    pd.testing.assert_frame_equal(judged(table), given[list(COLUMNS)])
    assert set(for_calibration(table).source) == {"random"}


def test_a_set_of_another_board_is_refused(fixed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "positions.csv"
    asked = ["positions", "--config", configuration(5), "--seed", "3", "--fixed", str(fixed), "--output", str(output)]
    assert main(asked) == FAILURE
    assert "test.csv: position: " in capsys.readouterr().err and not output.exists()
