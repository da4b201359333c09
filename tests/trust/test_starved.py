"""Without room, permission or memory: one clear line, no damage, and the same command goes on once cured."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apart
import pytest
from killing import temporary
from pipeline import tiny

from probzero.report.same_files import differences

ROOT = Path(__file__).parents[2]
RUN = Path("results") / "smoke"
TARGET = RUN / "seed3" / "checkpoints" / "0001.safetensors"
SIZES = ("32k", "100k", "200k", "320k")  # on which what is asked for, some 600 kB, has no room; where it ends differs


def learn(folder: Path) -> list[str]:
    """A small run as far as its first trained network."""
    where = [
        "--snakefile",
        str(ROOT / "Snakefile"),
        "--directory",
        str(folder),
        "--configfile",
        str(folder.parent / "tiny.yaml"),
    ]
    return [sys.executable, "-m", "snakemake", str(TARGET), "--cores", "2", "--nocolor", *where]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small run on a machine that has everything."""
    folder = tmp_path_factory.mktemp("starved") / "whole"
    folder.mkdir()
    (folder.parent / "tiny.yaml").write_text(tiny(), encoding="utf-8")
    done = subprocess.run(learn(folder), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def within(tmp_path: Path) -> Iterator[apart.Apart]:
    """Namespaces in which something may be mounted, or a skipped test."""
    if lacking := apart.missing():
        pytest.skip(lacking)
    with apart.apart(tmp_path / "log") as found:
        yield found


def refused(done: subprocess.CompletedProcess[str], *expected: str) -> None:
    assert done.returncode != 0 and "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
    assert any(text in done.stdout + done.stderr for text in expected), done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.system
def test_a_full_disk_is_said_and_the_run_goes_on_where_there_is_room(whole: Path, within: apart.Apart) -> None:
    folder = whole.parent / "full"
    folder.mkdir()
    within.call("mount", "-t", "tmpfs", "-o", "size=1g", "tmpfs", str(folder))
    within.call("mkdir", str(folder / "results"))
    within.call("mount", "-t", "tmpfs", "-o", f"size={SIZES[0]}", "tmpfs", str(folder / "results"))
    for size in SIZES:
        within.call("mount", "-o", f"remount,size={size}", str(folder / "results"))
        refused(within.run(*learn(folder)), "No space left on device")
    within.call("mount", "-o", "remount,size=100m", str(folder / "results"))
    within.call(*learn(folder))
    within.call("cp", "-r", str(folder / "results"), str(whole.parent / "cured"))
    same(whole / RUN, whole.parent / "cured" / RUN.name)


@pytest.mark.slow
@pytest.mark.system
def test_results_that_may_only_be_read_stay_as_they_are(whole: Path, within: apart.Apart) -> None:
    folder = whole.parent / "read-only"
    (folder / "results").mkdir(parents=True)
    at = str(folder / "results")
    within.call("mount", "--bind", at, at)
    within.call("mount", "-o", "remount,ro,bind", at)
    refused(within.run(*learn(folder)), "results/smoke: expected a folder to write to, found Read-only file system")
    assert list((folder / "results").iterdir()) == []
    within.call("mount", "-o", "remount,rw,bind", at)
    within.call(*learn(folder))
    same(whole / RUN, folder / RUN)


@pytest.mark.slow
def test_results_that_may_not_be_written_stay_as_they_are(whole: Path) -> None:
    folder = whole.parent / "forbidden"
    (folder / "results").mkdir(parents=True)
    (folder / "results").chmod(0o500)
    # Root may write all the same, unless it gives that up.
    bound = [] if os.geteuid() else ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"]
    done = subprocess.run([*bound, *learn(folder)], capture_output=True, text=True, check=False)
    refused(done, "results/smoke: expected a folder to write to, found Permission denied")
    assert list((folder / "results").iterdir()) == []
    (folder / "results").chmod(0o700)
    done = subprocess.run(learn(folder), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    same(whole / RUN, folder / RUN)


LITTLE_MEMORY = """
import resource, sys
import psutil
from probzero.__main__ import main
import probzero.commands.init, torch, numpy  # so that the limit meets our own arrays
used = psutil.Process().memory_info().vms
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]), resource.RLIM_INFINITY))
sys.exit(main(sys.argv[2:]))
"""


def test_too_little_memory_is_one_line_and_nothing_is_written(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux holds a process to a limit of its address space")
    settings = ["--config", tiny(network={"blocks": 3, "channels": 512}), "--seed", "3"]  # weights of 57 MB
    outputs = [f"--{name}={tmp_path / name}" for name in ("checkpoint", "optimizer")]
    done = subprocess.run(
        [sys.executable, "-c", LITTLE_MEMORY, str(30_000_000), "init", *settings, *outputs],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("probzero: error: memory: this process: expected as much as the job needs, found ")
    assert len(done.stderr.splitlines()) == 1 and list(tmp_path.iterdir()) == []


def same(whole: Path, cured: Path) -> None:
    found = differences(whole, cured)
    assert len(found) >= 12 and [name for name, wrong in found.items() if wrong] == []
    assert temporary(cured) == []
