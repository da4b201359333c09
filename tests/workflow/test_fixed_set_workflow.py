"""Where a configuration names a fixed evaluation set, runs and studies judge moves on it."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from test_study_workflow import small
from test_workflow import ROOT, smoke, snakemake, written

SET = "results/reference/positions/validation.csv"


def test_a_run_takes_the_set_in_the_place_of_positions_of_its_own(tmp_path: Path) -> None:
    raw = smoke()
    raw["truth"] |= {"positions": SET, "curve_share": 5}
    shown = snakemake(tmp_path, "--dry-run", "--quiet", "host", configfile=written(tmp_path, raw)).stdout
    assert re.search(rf"probzero positions .* --fixed {re.escape(str(ROOT / SET))} ", shown)
    assert "--dataset" not in "".join(re.findall(r"probzero positions .*", shown)) and "shard2" not in shown
    judged = dict(re.findall(r"probzero truth .* --name (\S+) (--curve)?", shown))
    last = f"iteration-{max(raw['arena']['checkpoints']):04}"
    assert {name for name, curve in judged.items() if not curve} == {last, "ceiling"}


def test_a_study_takes_the_set_too(tmp_path: Path) -> None:
    raw = yaml.safe_load(small(tmp_path).read_text(encoding="utf-8"))
    raw["base"]["truth"]["positions"] = SET
    shown = snakemake(tmp_path, "--dry-run", "--quiet", "host", configfile=written(tmp_path, raw)).stdout
    assert re.search(rf"probzero positions .* --seed 0 --fixed {re.escape(str(ROOT / SET))} ", shown)


def test_without_a_set_positions_are_those_of_the_run(tmp_path: Path) -> None:
    shown = snakemake(tmp_path, "--dry-run", "--quiet", "host").stdout
    assert "--fixed" not in shown and "--curve" in shown and "--dataset" in shown


def test_a_run_takes_a_given_ceiling_in_the_place_of_training_one(tmp_path: Path) -> None:
    raw = smoke()
    raw["truth"] |= {"ceiling": "results/reference/ceiling/ceiling.safetensors"}
    shown = snakemake(tmp_path, "--dry-run", "--quiet", "host", configfile=written(tmp_path, raw)).stdout
    assert re.search(rf"probzero ceiling .* --given {re.escape(str(ROOT / raw['truth']['ceiling']))} ", shown)
