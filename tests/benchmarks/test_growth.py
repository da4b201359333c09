"""What a leaf costs as games and boards grow: cases, numbers of a row, figure. No test here measures speed."""

from __future__ import annotations

from pathlib import Path

import pytest

from probzero import config
from probzero.__main__ import main
from probzero.benchmarks import growth
from probzero.benchmarks.growth import Case
from probzero.errors import ProbZeroError
from probzero.files import read
from probzero.report.style import FIGURE
from probzero.tables import read_table

CONFIG = Path(__file__).parents[2] / "config"


def test_games_grow_to_1024_and_boards_to_the_largest() -> None:
    found = growth.cases(config.load(CONFIG / "laptop.yaml"))
    assert [(case.growing, case.board, case.config.selfplay.games) for case in found] == [
        *(("games", "5x5", games) for games in (20, 64, 256, 1024)),
        *(("board", board, 64) for board in ("5x5", "6x6", "8x8")),
    ]
    assert len({(case.config.selfplay.batches, case.config.selfplay.particles) for case in found}) == 1, "one budget"


def test_a_row_by_hand() -> None:
    case = Case("games", config.load(CONFIG / "smoke.yaml").changed(selfplay={"games": 20}))
    rows = [
        {"leaf_evaluations": 10, "microseconds": 50, "network_microseconds": 30, "bytes": 500},
        {"leaf_evaluations": 12, "microseconds": 44, "network_microseconds": 34, "bytes": 700},
        {"leaf_evaluations": 11, "microseconds": 60, "network_microseconds": 31, "bytes": 600},
    ]
    row = growth.summary(case, rows)
    assert row["leaf_evaluations"] == 11 and row["games"] == 20
    low_middle_high = {
        name: tuple(row[f"{name}_per_leaf{end}"] for end in ("_low", "", "_high"))
        for name in ("microseconds", "network_microseconds", "other_microseconds", "bytes")
    }
    assert low_middle_high == {
        "microseconds": (44, 50, 60),
        "network_microseconds": (30, 31, 34),
        "other_microseconds": (10, 20, 29),  # of the rounds: 20, 10, 29
        "bytes": (500, 600, 700),
    }


def test_every_case_is_a_configuration_that_another_process_can_read() -> None:
    for case in growth.cases(config.load(CONFIG / "laptop.yaml")):
        assert config.parse(case.config.as_dict()).game == case.config.game


def test_a_shard_is_measured_in_a_process_of_its_own() -> None:
    small = config.load(CONFIG / "smoke.yaml").changed(selfplay={"games": 40, "batches": 8})
    found = growth.in_process(small, 1)
    assert 0 < found["network_microseconds"] < found["microseconds"]
    # The arrays of an evaluated node take some 500 bytes (test_benchmarks.py); tables are at most half full.
    assert 200 < found["bytes"] < 20_000


def test_a_shard_that_fails_is_told_in_one_line() -> None:
    broken = config.load(CONFIG / "smoke.yaml").changed(selfplay={"particles": 0})
    with pytest.raises(ProbZeroError, match="expected a measured shard, found") as error:
        growth.in_process(broken, 1)
    assert "\n" not in str(error.value)


def test_table_and_figure_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(setting: config.Config, number: int) -> dict[str, float]:
        games = setting.selfplay.games
        return {
            "leaf_evaluations": 100 * games, "microseconds": 60 + number, "network_microseconds": 40,
            "bytes": 600 + games / 10 + number,
        }  # fmt: skip

    monkeypatch.setattr(growth, "in_process", measured)
    output = tmp_path / "growth.csv"
    assert main(["bench-growth", "--config", str(CONFIG / "laptop.yaml"), "--output", str(output)]) == 0
    table = read_table(output, {"board": str, "games": int, "microseconds_per_leaf": float, "bytes_per_leaf": float})
    assert table.games.tolist() == [20, 64, 256, 1024, 64, 64, 64]
    assert table.microseconds_per_leaf.tolist() == [62] * 7 and table.bytes_per_leaf[0] == 604
    assert table.microseconds_per_leaf_low.tolist() == [61] * 7
    for kind in ("png", "pdf"):
        assert read(tmp_path / f"growth.{kind}", FIGURE)


def test_no_rounds_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--config", str(CONFIG / "laptop.yaml"), "--rounds", "0", "--output", str(tmp_path / "growth.csv")]
    assert main(["bench-growth", *arguments]) == 2
    assert "--rounds: expected a whole number above 0, found 0" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
