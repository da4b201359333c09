"""A job of the real warm server finds the libraries as if it had loaded them itself, and its client loads none."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from warm_package import DEADLINE, ONLY_ON_LINUX, SOURCE, Package, give_command

import probzero

pytestmark = ONLY_ON_LINUX

THREADS = ("OMP", "MKL", "OPENBLAS")

# A command of the whole package: what a job could find changed, and a product by two threads.
PROBE = """
import json, locale, logging, os, random, signal, sys
import numpy as np
import torch
from tqdm import tqdm

def add_arguments(parser):
    pass

def run(args):
    state = {
        "threads": torch.get_num_threads(), "dtype": str(torch.get_default_dtype()), "grad": torch.is_grad_enabled(),
        "device": str(torch.get_default_device()), "inference": torch.is_inference_mode_enabled(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "precision": torch.get_float32_matmul_precision(),
        "numpy": [np.geterr(), str(np.get_printoptions())], "lock": hasattr(tqdm, "_lock"),
        "bars": [tqdm.monitor_interval, tqdm.monitor is None], "locale": locale.setlocale(locale.LC_ALL),
        "logging": [logging.root.level, len(logging.root.handlers)], "recursion": sys.getrecursionlimit(),
        "blocked": list(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    }
    torch.set_num_threads(2)
    square = torch.ones(600, 600)
    ones = np.ones((600, 600))
    print(json.dumps({**state, "product": [(square @ square).sum().item(), (ones @ ones).sum()]}))
    print([draw() for draw in (random.random, np.random.random, lambda: torch.rand(1).item())])
    assert len(os.listdir("/proc/self/task")) > 1
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Package]:
    """This package, with one command more, told to use two threads."""
    folder = tmp_path_factory.mktemp("whole") / "probzero"
    (folder / "commands").mkdir(parents=True)
    for part in (SOURCE, SOURCE / "commands"):
        for path in part.iterdir():
            if path.name not in ("commands", "__main__.py", "__pycache__"):
                (folder / path.relative_to(SOURCE)).symlink_to(path)
    shutil.copy(SOURCE / "__main__.py", folder)
    (folder / "commands" / "__init__.py").unlink()
    give_command(folder, "probe", PROBE, alone=False)
    package = Package(folder.parent)
    package.variables |= {f"{name}_NUM_THREADS": "2" for name in THREADS}
    yield package
    package.close()


def test_a_job_finds_the_libraries_as_if_it_had_loaded_them(whole: Package, tmp_path: Path) -> None:
    """Here the server is the real one; its job plays the same games, and can use more threads than the server."""
    from probzero.warm import preload

    tiny = {"experiment": "test", "game": preload.GAME, "network": preload.NETWORK, **preload.SEARCHES[1]}
    tiny["selfplay"] = {**preload.SELFPLAY, "threads": 2}
    common = ["--config", json.dumps(tiny), "--seed", "1", "--checkpoint", str(tmp_path / "checkpoint")]
    made = whole.run("init", *common, "--optimizer", str(tmp_path / "optimizer"))
    assert made.returncode == 0 and made.stderr == ""
    assert "not warmed up" not in whole.said() and "cannot import" not in whole.said()

    def play(name: str) -> list[str]:
        outputs = [f"--{kind}={tmp_path / f'{kind}-{name}'}" for kind in ("dataset", "games", "metrics")]
        return ["selfplay", *common, "--iteration", "1", "--shard", "0", *outputs]

    (one, ones), (two, twos) = (whole.run("probe").stdout.splitlines() for _ in range(2))
    assert set(json.loads(ones)).isdisjoint(json.loads(twos))  # nothing that is drawn at random is drawn twice
    assert whole.run(*play("warm")).returncode == 0
    both = f"from probzero.__main__ import main; main(['probe']) or main({play('alone')!r})"
    alone = subprocess.run([sys.executable, "-c", both], env=whole.environment(), capture_output=True, text=True)
    assert json.loads(one) == json.loads(two) == json.loads(alone.stdout.splitlines()[0])
    for kind in ("dataset", "games"):
        assert (tmp_path / f"{kind}-warm").read_bytes() == (tmp_path / f"{kind}-alone").read_bytes()


def test_a_client_imports_nothing_heavy(whole: Package) -> None:
    shown = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "probzero", "--version"],
        env=whole.environment(), capture_output=True, text=True, timeout=DEADLINE,
    )  # fmt: skip
    imported = set(re.findall(r"\|\s*([\w.]+)$", shown.stderr, re.MULTILINE))
    assert "probzero.warm.client" in imported
    assert imported.isdisjoint({"torch", "numpy", "pandas", "numba", "subprocess", "yaml"})
    assert shown.stdout == f"{probzero.__version__}\n"
