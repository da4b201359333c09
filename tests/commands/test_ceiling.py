"""The ceiling from all positions that can be reached, as a command, and runs that are given it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from made_database import SMALL, opened

from probzero import config
from probzero.__main__ import main
from probzero.database.position_sets import Rule, position_sets
from probzero.files import METRICS, read_json
from probzero.network.checkpoint import load_weights
from probzero.origin import Origin
from probzero.tables import read_table, write_csv
from probzero.truth.positions import KIND

SMOKE = config.load(Path(__file__).parents[2] / "config" / "smoke.yaml")


def settings(channels: int = 8) -> str:
    small = SMOKE.changed(
        game={"name": "othello", "size": 4}, network={"blocks": 1, "channels": channels},
        training={"batch_size": 64, "learning_rate": 3e-3, "final_learning_rate": 1e-3},
    )  # fmt: skip
    return json.dumps(small.as_dict())


@pytest.fixture(scope="module")
def made(database4: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ceiling")
    rule = Rule(first=5, whole=8, last=14, validation=40, drawn=5)
    for name, table in position_sets(opened(database4), rule, 1).items():
        write_csv(folder / f"{name}.csv", table, KIND, Origin(command="test"))
    sets = ["--validation", str(folder / "validation.csv"), "--held-out", str(folder / "test.csv")]
    asked = ["--config", settings(), "--database", str(database4), "--per-phase", "40", "--draws", "200", *sets]
    assert main(["population-ceiling", *asked, "--output", str(folder)]) == 0
    return folder


def test_each_stage_draws_twice_as_many_and_the_last_one_is_kept(made: Path) -> None:
    table = read_table(made / "stages.csv", {"samples": int, "positions": int, "kept_share": float})
    samples = table.samples.to_numpy()
    assert samples[0] == 200 and (samples[1:] == 2 * samples[:-1]).all()
    assert (np.diff(table.kept_share.to_numpy())[:-1] >= 0.005).all()  # it went on as long as that helped
    assert read_json(made / "ceiling.json", METRICS, subject="ceiling")["samples"] == samples[-1]


def given(made: Path, folder: Path, raw: str) -> int:
    """Hand the ceiling to a run of its own, seed 3."""
    common = ["--config", raw, "--seed", "3"]
    assert (
        main(["positions", *common, "--fixed", str(made / "validation.csv"), "--output", str(folder / "set.csv")]) == 0
    )
    return main(
        ["ceiling", *common, "--positions", str(folder / "set.csv"), "--given", str(made / "ceiling.safetensors"),
         "--checkpoint", str(folder / "new.safetensors"), "--metrics", str(folder / "new.json")]
    )  # fmt: skip


def test_a_run_takes_a_given_ceiling_as_its_own(made: Path, tmp_path: Path) -> None:
    assert given(made, tmp_path, settings()) == 0
    before, _ = load_weights(made / "ceiling.safetensors", SMALL)
    after, info = load_weights(tmp_path / "new.safetensors", SMALL, subject="ceiling", seed=3)
    assert info.made.seed == 3
    assert before.arrays.keys() == after.arrays.keys()
    assert all(np.array_equal(before.arrays[name], array) for name, array in after.arrays.items())
    assert read_json(tmp_path / "new.json", METRICS) == read_json(made / "ceiling.json", METRICS)


def test_a_given_ceiling_of_another_network_is_refused(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert given(made, tmp_path, settings(channels=9)) == 2
    said = capsys.readouterr().err
    assert "ceiling.safetensors: network" in said and "'channels': 9" in said and "'channels': 8" in said
    assert not (tmp_path / "new.safetensors").exists()
