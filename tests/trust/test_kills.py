"""A run that is killed again and again, at moments drawn by key, and goes on with the very same command."""

from __future__ import annotations

import signal
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from killing import after_files, run_and_kill, temporary

from probzero.report.same_files import compared, differences

ROOT = Path(__file__).parents[2]
RUN = Path("results") / "smoke"
KILLS = [signal.SIGKILL] * 20 + [signal.SIGTERM] * 4
KEY = 28  # of the moments
MOST_FILES, MOST_SECONDS = (
    24,
    1.5,
)  # from one kill to the next; a whole run makes some 450 files, logs and seals among them


def smoke(folder: Path) -> list[str]:
    """The README's bare command."""
    where = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    return [
        sys.executable,
        "-m",
        "snakemake",
        "--cores",
        "2",
        "--configfile",
        str(ROOT / "config" / "smoke.yaml"),
        *where,
    ]


@pytest.mark.slow  # a smoke run, and one that starts twenty-five times
def test_twenty_kills_and_four_terminations_change_no_byte_and_leave_nothing_behind(tmp_path: Path) -> None:
    never_killed, killed = tmp_path / "whole", tmp_path / "killed"
    assert run_and_kill(smoke(never_killed), tmp_path / "log", lambda: False).code == 0
    draws = np.random.default_rng(KEY)
    at: Counter[str] = Counter()
    halves = finished = 0
    for number, how in enumerate(KILLS):
        count, seconds = int(draws.integers(MOST_FILES)), float(draws.uniform(0, MOST_SECONDS))
        moment = after_files(killed, count, seconds)
        end = run_and_kill(smoke(killed), tmp_path / "log", moment, how)
        assert end.code != 0 or number, end.said
        if end.code == 0:  # it was faster than its end: another run takes the kills that are left
            finished += 1
            same(never_killed, killed)
            killed = tmp_path / f"killed-{finished}"
            continue
        assert end.code == -how or (how == signal.SIGTERM and end.code > 0), end.said
        at.update(end.running or ("no job",))
        halves += bool(temporary(killed))
        for name in compared(killed / RUN) if (killed / RUN).is_dir() else ():  # under its own name, nothing is half
            if not name.name.startswith(".partial-"):
                assert (killed / RUN / name).read_bytes() == (never_killed / RUN / name).read_bytes(), name
    end = run_and_kill(smoke(killed), tmp_path / "log", lambda: False)
    assert end.code == 0 and "Traceback" not in end.said, end.said
    same(never_killed, killed)
    print(
        f"{sum(at.values())} jobs were running at {len(KILLS) - finished} kills: {dict(at)}; {halves} left half a file"
    )
    assert len(KILLS) - finished >= 20 and len(at) >= 3


def same(never_killed: Path, killed: Path) -> None:
    found = differences(never_killed / RUN, killed / RUN)
    assert len(found) > 100 and [name for name, wrong in found.items() if wrong] == []
    assert temporary(killed) == []
