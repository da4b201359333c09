"""The report of a seed: every table and figure, and times in those of costs alone."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml
from kinds_of_files import CALIBRATION, COUNTED, GAME, KEPT, PERFECT, ROOT, certified
from made_matches import record, write_record
from made_metrics import shard, training
from sealed import MADE, write_metrics

from probzero import config, files
from probzero.__main__ import main
from probzero.commands.report import files_of
from probzero.files import COSTS
from probzero.report import certificates, style
from probzero.report.iteration_costs import SELFPLAY
from probzero.report.same_files import differences, is_cost
from probzero.tables import write_csv
from probzero.truth.blunders import BLUNDERS

PLAYERS = ["random", "iteration-0000", "iteration-0002", "perfect"]  # each meets those before
TABLES = {"training", "selfplay", "costs", "ratings", "differences", "pairings", "model", "truth", "efficiency",
          "errors", "calibration", "reliability", "perfect", "blunders", "certificates"}  # fmt: skip
FIGURES = {"elo", "win_rates", "training", "selfplay", "costs", "truth", "errors", "reliability", "blunders",
           "certificates"}  # fmt: skip


def settings() -> dict:
    raw = yaml.safe_load((ROOT / "config" / "smoke.yaml").read_text(encoding="utf-8"))
    changes = {
        "game": {"size": 4}, "training": {"iterations": 2},
        "arena": {"checkpoints": [0, 2], "anchors": ["random", "perfect"]},
    }  # fmt: skip
    return {**raw, **{part: {**raw[part], **change} for part, change in changes.items()}}


def write_inputs(folder: Path, slower: float, hits: int, won_openings: int = 1) -> None:
    """Write what the jobs of a seed leave, made by a machine that is `slower` and whose cache had so many hits."""
    found = files_of(config.parse(settings()), folder)
    for path in found["training"]:
        write_metrics(path, training(int(path.stem)))
    for path in found["training_costs"]:
        write_metrics(path, {"iteration": int(path.stem), "seconds": 3.0 * slower}, COSTS)
    for path in found["selfplay"]:
        write_metrics(path, shard(int(path.parent.name), int(path.stem[-1])))
    for path in found["selfplay_costs"]:
        spent = {name: 4.0 * slower for name in SELFPLAY} | {"cache_hits": hits, "network_evaluations": 1000 - hits}
        write_metrics(path, {"iteration": int(path.stem[:4]), "shard": int(path.stem[-1]), **spent}, COSTS)
    for path in found["matches"]:
        write_record(path, record(GAME, path.stem, PLAYERS[: PLAYERS.index(path.stem)]))
    for kind, table in (("kept", KEPT), ("calibration", CALIBRATION), ("perfect", PERFECT)):
        for path in found[kind]:
            rows = pd.DataFrame({"player": path.parent.name, **table})
            wanted = won_openings if kind == "perfect" else len(rows)
            write_csv(path, rows.iloc[:wanted], kind, MADE.about(path.parent.name))
    for path in found["certificates"]:
        write_csv(path, certified().assign(player=path.stem), certificates.KIND, MADE.about(path.stem))
    for path in found["blunders"]:
        write_metrics(path, {**COUNTED, "iteration": int(path.stem)}, BLUNDERS)


def reported(run: Path) -> int:
    return main(["report", "--config", json.dumps(settings()), "--seed", "0", "--run", str(run)])


def test_other_times_and_another_cache_change_the_table_and_the_figure_of_costs_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(style, "DPI", 30)
    one, other = tmp_path / "one", tmp_path / "other"
    for run, slower, hits in ((one, 1.0, 250), (other, 2.5, 0)):
        write_inputs(run / "seed0", slower, hits)
        assert reported(run) == 0
    found = differences(one, other)
    assert not any(found.values()), found
    for folder, names in (("tables", TABLES), ("figures", FIGURES)):
        made = {path for path in (one / "seed0" / folder).iterdir() if path.is_file()}
        assert {path.stem for path in made} == names
        costs = {path for path in made if path.stem == "costs"}
        assert len(costs) == 2 and {path for path in made if is_cost(path.relative_to(one))} == costs
        for path in costs:
            assert path.read_bytes() != (other / path.relative_to(one)).read_bytes(), path


def test_an_input_that_was_changed_is_refused_in_one_line_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_inputs(tmp_path / "seed0", 1.0, 250)
    for name in ("training/0001.json", "costs/selfplay/0002-shard1.json", "matches/perfect.csv"):
        path = tmp_path / "seed0" / name
        whole = path.read_bytes()
        path.write_bytes(whole.replace(b"1", b"2", 1))
        assert reported(tmp_path) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert f"{path}: expected the file that was written" in line and files.REMEDY in line
        assert not (tmp_path / "seed0" / "tables").exists() and not (tmp_path / "seed0" / "figures").exists()
        path.write_bytes(whole)


def test_a_game_in_which_nobody_has_a_won_opening_has_a_report(tmp_path: Path) -> None:
    write_inputs(tmp_path / "seed0", 1.0, 250, won_openings=0)
    assert reported(tmp_path) == 0
    assert pd.read_csv(tmp_path / "seed0" / "tables" / "perfect.csv").empty
    assert len(pd.read_csv(tmp_path / "seed0" / "tables" / "truth.csv"))
