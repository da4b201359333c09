"""Configurations of other games go through the whole workflow: cut to two small iterations, from self-play to Elo."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import yaml
from test_tables_workflow import tiny
from test_workflow import ROOT, planned, snakemake, written

from probzero.report import reference

SCALES = [ROOT / "config" / f"{name}.yaml" for name in ("go5", "go5-alphazero", "connect4", "othello6", "othello8")]


@pytest.mark.parametrize("path", SCALES, ids=lambda path: path.stem)
def test_a_board_that_nobody_solves_is_learned_and_rated(path: Path, tmp_path: Path) -> None:
    jobs = planned(snakemake(tmp_path, "--dry-run", "--quiet", "rules", configfile=path))
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    iterations, rated = raw["training"]["iterations"], len(raw["arena"]["checkpoints"])
    once = ("all", "configuration", "init", "anchor_matches", "report")
    assert jobs == {**dict.fromkeys(once, 1), "selfplay": iterations, "train": iterations, "match": rated}
    assert raw["name"] == path.stem and raw["arena"]["checkpoints"][-1] == iterations


@pytest.mark.smoke
@pytest.mark.parametrize(  # a board of Othello and one of Connect Four go their way in test_workflow too
    "path",
    [SCALES[0], *(pytest.param(path, marks=pytest.mark.slow) for path in SCALES[1:])],
    ids=lambda path: path.stem,
)
def test_a_run_leaves_ratings_and_figures_that_can_be_committed(path: Path, tmp_path: Path) -> None:
    shown = snakemake(tmp_path, configfile=written(tmp_path, tiny(path)))
    assert shown.returncode == 0, shown.stdout
    run = tmp_path / "results" / path.stem
    ratings = pd.read_csv(run / "seed0" / "tables" / "ratings.csv")
    anchors = yaml.safe_load(path.read_text(encoding="utf-8"))["arena"]["anchors"]
    assert set(ratings["player"]) == {"iteration-0000", "iteration-0002", *anchors} and ratings["rating"].notna().all()
    assert (run / "seed0" / "figures" / "elo.pdf").stat().st_size > 1000
    reference.keep(run, tmp_path / "committed")
    kept = {file.name for file in (tmp_path / "committed" / "seed0" / "checkpoints").glob("*.safetensors")}
    assert kept == {"0002.safetensors"}
