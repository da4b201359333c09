"""The smallest complete story: from nothing to a proof, on 4×4."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "config" / "othello4.yaml"


@pytest.mark.slow
def test_4x4_is_learned_until_no_opponent_beats_white(tmp_path: Path) -> None:
    where = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(tmp_path)]
    line = [sys.executable, "-m", "snakemake", "--cores", "2", *where, "--configfile", str(CONFIGURATION)]
    shown = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert shown.returncode == 0, shown.stdout
    folder = tmp_path / "results" / "othello4" / "seed0" / "certificates"
    last = pd.read_csv(folder / "iteration-0012.csv")
    last = last[last["source"] == "start"]
    assert sorted(last["particles"].unique()) == [0, 96, 384] and len(last) == 3 + 8
    assert (last["certified"] == 1).all() and (last["moves_first"] == 0).all()
    assert pd.read_csv(folder / "iteration-0000.csv")["certified"].sum() == 0  # it had to be learned
    proof = [sys.executable, str(ROOT / "tools" / "check_certificate.py"), str(folder / "iteration-0012.json.gz")]
    checked = subprocess.run(proof, capture_output=True, text=True, check=False)
    assert checked.returncode == 0 and "from one start the agent wins" in checked.stdout, checked.stdout
