"""The workflow on a SLURM of two nodes: the bytes of a run on one machine, also if a node dies in the middle."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from apart import missing, until
from killing import temporary
from small_cluster import PROGRAMS, Cluster, cluster

from probzero.report.same_files import differences

ROOT = Path(__file__).parents[2]
SMOKE = ROOT / "config" / "smoke.yaml"
RUN = Path("results") / "smoke"
LAST = RUN / "seed0" / "checkpoints" / "0002.safetensors"
# Without SLURM's data base there are no accounts, and squeue alone knows how a job ended.
WITHOUT_ACCOUNTS = ["--slurm-no-account", "--slurm-status-command", "squeue"]
SHARDS = 4
# So that a shard takes some seconds.
LARGER = ["--config", f"selfplay={{shards: {SHARDS}, games: 32, batches: 32, capacity: 400000}}"]
HANGS = 1800


def snakemake(folder: Path, *more: str) -> list[str]:
    where = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder), "--configfile", str(SMOKE)]
    return [sys.executable, "-m", "snakemake", *more, "--nocolor", *where]


def on_cluster(made: Cluster, folder: Path, *more: str) -> list[str]:
    flags = ["--profile", str(ROOT / "profiles" / "slurm"), *WITHOUT_ACCOUNTS]
    flags += ["--slurm-init-seconds-before-status-checks", "2", "--seconds-between-status-checks", "2"]
    return made.within.within(*snakemake(folder, *more, *flags))


def test_the_profile_leaves_to_the_rules_what_is_theirs() -> None:
    profile = yaml.safe_load((ROOT / "profiles" / "slurm" / "config.yaml").read_text(encoding="utf-8"))
    assert profile["executor"] == "slurm" and profile["slurm-requeue"] and profile["retries"] > 0
    assert not {"cores", "default-resources", "set-resources", "set-threads"} & set(profile)


def test_what_every_rule_asks_for_is_told() -> None:
    told = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    rules = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "workflow" / "rules").glob("*.smk"))
    names = re.findall(r"^ *rule (\w+):", rules, re.MULTILINE)
    assert len(names) > 20 and [name for name in names if f"`{name}`" not in told] == []


@pytest.mark.slow
@pytest.mark.system
def test_a_node_that_dies_in_the_middle_changes_no_byte(tmp_path: Path) -> None:
    if lacking := missing(*PROGRAMS):
        pytest.skip(lacking)
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="the extra `cluster` is not installed")
    here, there = tmp_path / "here", tmp_path / "there"
    done = subprocess.run(snakemake(here, str(LAST), "--cores", "2"), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    there.mkdir()
    with cluster(tmp_path / "cluster") as made, (tmp_path / "said").open("w+", encoding="utf-8") as said:
        running = subprocess.Popen(on_cluster(made, there, str(LAST)), stdout=said, stderr=said, start_new_session=True)
        try:
            until(lambda: (there / RUN / "seed0" / "checkpoints" / "0000.safetensors").exists(), HANGS)
            until(lambda: running.poll() is not None or all(made.jobs(node) for node in made.nodes), HANGS)
            lost = made.jobs("node1")
            made.kill_node("node1")
            until(lambda: made.state("node1").startswith("down"), HANGS)
            code = running.wait(HANGS)
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
        text = (tmp_path / "said").read_text(encoding="utf-8")
        assert code == 0 and lost, text
        controller = (tmp_path / "cluster" / "slurmctld.log").read_text(encoding="utf-8")
        assert "due to failure of node node1" in controller
    found = differences(here / RUN, there / RUN)
    assert len(found) > 20 and [name for name, wrong in found.items() if wrong] == []
    assert temporary(there / "results") == []
    print(f"lost with the node: {', '.join(lost)}; {len(found)} files are the same")


@pytest.mark.slow
@pytest.mark.system
def test_shards_are_shared_by_the_workers_there_are(tmp_path: Path) -> None:
    if lacking := missing(*PROGRAMS):
        pytest.skip(lacking)
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="the extra `cluster` is not installed")
    shards = [str(RUN / "seed0" / "selfplay" / "0001" / f"shard{shard}.safetensors") for shard in range(SHARDS)]
    took = {}
    for workers in (1, 2):
        folder = tmp_path / f"workers-{workers}"
        folder.mkdir()
        with cluster(tmp_path / f"cluster-{workers}", workers) as made:
            line = on_cluster(made, folder, *shards)
            done = subprocess.run([*line, *LARGER], capture_output=True, text=True, check=False, timeout=HANGS)
            assert done.returncode == 0, done.stdout + done.stderr
            jobs = made.finished("selfplay")
        assert len(jobs) == SHARDS and {node for node, _, _ in jobs} == set(made.nodes)
        took[workers] = max(end for *_, end in jobs) - min(begin for _, begin, _ in jobs)
    found = differences(*(tmp_path / f"workers-{workers}" / RUN for workers in took))
    assert len(found) >= 3 * SHARDS and [name for name, wrong in found.items() if wrong] == []
    told = ", ".join(f"{workers}: {seconds:.0f} s" for workers, seconds in took.items())
    print(f"{SHARDS} shards by workers, from the first one's begin to the last one's end: {told}")
