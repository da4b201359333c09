"""The comparison as a workflow: what it plans, one small whole run, and the same tables after an interruption."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from test_workflow import DEADLINE, ROOT, command, planned, snakemake

CONFIG = ROOT / "config"
VARIANTS = ["probzero", "alphazero", "uct", "root-only"]
TOP = Path("results") / "study-smoke"


def small(folder: Path) -> Path:
    """The smoke comparison of four variants alone: two that learn from a tree, one from games, one not at all."""
    raw = yaml.safe_load((CONFIG / "study.yaml").read_text(encoding="utf-8"))
    overlay = yaml.safe_load((CONFIG / "study-smoke.yaml").read_text(encoding="utf-8"))
    base: dict[str, Any] = {name: {**part, **overlay["base"].get(name, {})} if isinstance(part, dict) else part
                            for name, part in raw["base"].items()}  # fmt: skip
    variants = {name: raw["variants"][name] for name in VARIANTS}
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({**raw, **overlay, "base": base, "variants": variants}), encoding="utf-8")
    return path


def test_the_comparison_plans_every_variant_and_seed(tmp_path: Path) -> None:
    jobs = planned(snakemake(tmp_path, "--dry-run", "--quiet", "rules", configfile=CONFIG / "study.yaml"))
    learners, seeds, iterations = 12, 3, 10
    assert jobs["init"] == learners * seeds
    assert jobs["selfplay"] == jobs["train"] == learners * seeds * iterations
    assert jobs["points"] == (learners + 1) * seeds
    assert jobs["comparison_elo"] == seeds and jobs["comparison_report"] == 1


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("comparison")
    shown = snakemake(folder, configfile=small(folder))
    assert shown.returncode == 0, shown.stdout
    return folder


@pytest.mark.smoke
def test_one_command_leaves_tables_and_figures_of_all_variants(finished: Path) -> None:
    final = pd.read_csv(finished / TOP / "tables" / "final.csv")
    assert set(final["variant"]) == set(VARIANTS)
    accounting = pd.read_csv(finished / TOP / "tables" / "accounting.csv").set_index("variant")
    learners = accounting.drop("uct")
    assert learners["games"].nunique() == learners["samples_seen"].nunique() == 1
    ratings = pd.read_csv(finished / TOP / "seed1" / "tables" / "ratings.csv")
    assert set(ratings["player"]) == {*VARIANTS, "random"}
    assert json.loads((finished / TOP / "config.json").read_text(encoding="utf-8"))["reference"] == "probzero"
    for figure in ("study_truth", "study_variants", "study_ablations", "study_elo"):
        assert (finished / TOP / "figures" / f"{figure}.png").stat().st_size > 5000


@pytest.mark.smoke
def test_an_interrupted_comparison_goes_on_to_the_same_tables(finished: Path, tmp_path: Path) -> None:
    configfile = small(tmp_path)
    with subprocess.Popen(
        command(tmp_path, configfile=configfile), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        began = time.monotonic()
        while not list(tmp_path.glob("results/*/*/seed*/checkpoints/0001.safetensors")):
            assert running.poll() is None and time.monotonic() - began < DEADLINE
            time.sleep(0.1)
        running.send_signal(signal.SIGKILL)
        running.wait()
    shutil.rmtree(tmp_path / ".snakemake" / "locks", ignore_errors=True)
    shown = snakemake(tmp_path, "--rerun-incomplete", configfile=configfile)
    assert shown.returncode == 0, shown.stdout
    for table in ("final", "elo", "ablations"):
        name = TOP / "tables" / f"{table}.csv"
        assert (tmp_path / name).read_bytes() == (finished / name).read_bytes(), table
