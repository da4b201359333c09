"""Tournaments of given networks: imported, measured, certified and rated by one command, and committed whole."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import torch
import yaml
from published_form import published_state
from test_workflow import snakemake

from probzero.__main__ import main

BASE = {
    "experiment": "test",
    "game": {"name": "othello", "size": 4},
    "search": {"splitting": "systematic", "temperature": 1.0, "cache": True, "budget": "leaves"},
    "arena": {"checkpoints": [0, 1], "anchors": [], "openings": 3, "opening_plies": 3, "particles": 4, "batches": 2,
              "capacity": 50_000, "threads": 1},
    "truth": {"per_stratum": 2, "particles": 4, "batches": [2], "openings": 3, "opening_plies": 3, "threads": 1,
              "games_from_start": 1, "ceiling_per_stratum": 10, "ceiling_samples": 100, "capacity": 200_000},
}  # fmt: skip


@pytest.fixture
def configfile(tmp_path: Path) -> Path:
    for number in (1, 2):
        torch.save(published_state(1, 8, 4, seed=number), tmp_path / f"weights_iter_{number}.pth")
    players = {
        "raw": {"network": "iteration-0001", "budget": 0},
        "searching": {"network": "iteration-0002", "budget": 8, "search": {"algorithm": "puct"}},
        "particles": {"network": "iteration-0002", "budget": 8},
        "perfect": {},
    }
    networks = {f"iteration-000{number}": f"weights_iter_{number}.pth" for number in (1, 2)}
    raw = {"name": "given", "base": BASE, "networks": networks, "tournaments": {"all": players}}
    (tmp_path / "given.yaml").write_text(yaml.safe_dump(raw), encoding="utf-8")
    return tmp_path / "given.yaml"


@pytest.mark.slow
def test_given_networks_are_rated_and_what_is_committed_of_it_holds(configfile: Path, tmp_path: Path) -> None:
    shown = snakemake(tmp_path, "--config", f"folder={tmp_path}", configfile=configfile)
    assert shown.returncode == 0, shown.stdout
    run = tmp_path / "results" / "given"
    ratings = pd.read_csv(run / "all" / "tables" / "ratings.csv")
    assert set(ratings["player"]) == {"raw", "searching", "particles", "perfect"}
    assert (ratings["games"] == 18).all()
    assert {path.name for path in (run / "all" / "figures").glob("elo.*")} == {"elo.png", "elo.pdf"}
    committed = tmp_path / "reference" / "given"
    assert main(["reference", "--run", str(run), "--output", str(committed)]) == 0
    assert main(["verify-results", str(committed.parent)]) == 0
    assert not list(committed.rglob("*.safetensors"))
    drawn = committed / "all" / "figures" / "elo.png"
    before = drawn.read_bytes()
    assert main(["redraw", str(committed)]) == 0 and drawn.read_bytes() == before
    assert main(["verify-results", str(committed.parent)]) == 0


def test_measured_networks_are_judged_turned_and_certified(configfile: Path, tmp_path: Path) -> None:
    raw = yaml.safe_load(configfile.read_text(encoding="utf-8"))
    raw["measured"], raw["base"]["truth"]["positions"] = True, "config/smoke.yaml"
    configfile.write_text(yaml.safe_dump(raw), encoding="utf-8")
    shown = snakemake(tmp_path, "--dry-run", "--quiet", "host", "--config", f"folder={tmp_path}", configfile=configfile)
    assert shown.returncode == 0, shown.stdout
    for rule, times in {"import_network": 2, "networks_truth": 2, "networks_certify": 2, "networks_orientations": 1,
                        "networks_match": 3, "networks_elo": 1}.items():  # fmt: skip
        assert shown.stdout.count(f"rule {rule}:") == times, rule
