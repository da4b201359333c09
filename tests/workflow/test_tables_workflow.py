"""A game that chance sets up, and whose exact values are in tables, goes through the whole workflow like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from test_workflow import FIGURES, ROOT, TABLES, planned, snakemake, written

from probzero.report import reference

SCALES = [ROOT / "config" / f"{name}.yaml" for name in ("chess-endgames", "chess-endgames-alphazero")]
TINY: dict[str, dict[str, Any]] = {
    "network": {"blocks": 1, "channels": 8, "policy_hidden": 8},
    "selfplay": {"games": 8, "particles": 2, "batches": 2, "capacity": 200_000},
    "training": {"iterations": 2, "batch_size": 32, "samples": 256},
    "arena": {"checkpoints": [0, 2], "openings": 3, "particles": 2, "batches": 2, "capacity": 200_000},
    "truth": {"per_stratum": 5, "particles": 2, "batches": [2], "openings": 12, "ceiling_per_stratum": 8,
              "ceiling_samples": 320, "capacity": 200_000},
}  # fmt: skip


def tiny(path: Path) -> dict[str, Any]:
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {name: {**value, **TINY.get(name, {})} if isinstance(value, dict) else value for name, value in raw.items()}


@pytest.mark.parametrize("path", SCALES, ids=lambda path: path.stem)
def test_nothing_is_certified_where_chance_chooses_the_start(path: Path, tmp_path: Path) -> None:
    jobs = planned(snakemake(tmp_path, "--dry-run", "--quiet", "rules", configfile=path))
    iterations = yaml.safe_load(path.read_text(encoding="utf-8"))["training"]["iterations"]
    assert "certify" not in jobs and "paper" not in jobs
    assert (jobs["train"], jobs["truth"], jobs["blunders"], jobs["report"]) == (iterations, 6 + 1, 1, 1)


@pytest.mark.smoke
@pytest.mark.parametrize(  # whole studies have AlphaZero too, and games that chance sets up are played by all alike
    "path", [SCALES[0], pytest.param(SCALES[1], marks=pytest.mark.slow)], ids=lambda path: path.stem
)
def test_a_whole_run_leaves_its_tables_of_exact_truth(path: Path, tmp_path: Path) -> None:
    shown = snakemake(tmp_path, configfile=written(tmp_path, tiny(path)))
    assert shown.returncode == 0, shown.stdout
    run = tmp_path / "results" / path.stem
    made = {file.stem for file in (run / "seed0" / "tables").glob("*.csv")}
    assert made == {*TABLES, "delivered"} - {"certificates"}
    assert {file.stem for file in (run / "seed0" / "figures").glob("*.pdf")} == {*FIGURES} - {"certificates"}
    table = {name: pd.read_csv(run / "seed0" / "tables" / f"{name}.csv") for name in ("delivered", "errors", "perfect")}
    assert set(table["delivered"]["phase"]) <= {1, 2, 3} and set(table["errors"]["phase"]) == {1, 2, 3}
    assert table["delivered"]["games"].sum() == table["perfect"]["games"].sum() > 0
    assert table["delivered"]["won"].sum() == table["perfect"]["won"].sum()
    assert reference.keep(run, tmp_path / "committed") > 50
