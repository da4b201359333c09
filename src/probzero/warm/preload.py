"""What the server does before it listens: import all commands, and have the compiled code loaded by using it once."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from probzero.__main__ import COMMANDS, main

# One tiny iteration, with the keys that the schema requires.
GAME = {"name": "othello", "size": 4}
NETWORK = {"blocks": 1, "channels": 8}
PARTICLE = {"splitting": "systematic", "temperature": 1.0, "cache": True}
SEARCHES = (
    {"search": {**PARTICLE, "algorithm": "puct"}, "targets": {"nodes": "roots", "policy": "visits", "value": "search"}},
    {"search": PARTICLE},
)
PROCESSOR = {"device": "cpu", "threads": 1}
BUDGET = {"particles": 2, "capacity": 5000, **PROCESSOR}
SELFPLAY = {"shards": 1, "games": 2, "batches": 2, "random_plies": 2, "exploration": 0.0, **BUDGET}
TRAINING = {"iterations": 1, "batch_size": 16, "samples": 16, "learning_rate": 1e-3, "final_learning_rate": 1e-3,
            "weight_decay": 1e-4, "gradient_clip": 1.0, "symmetries": True, "replay_window": 1, "visit_exponent": 0.5,
            **PROCESSOR}  # fmt: skip
TRUTH = {"per_stratum": 1, "batches": [1], "openings": 1, "opening_plies": 2, "games_from_start": 0,
         "ceiling_per_stratum": 1, "ceiling_samples": 10, **BUDGET}  # fmt: skip


def say(what: str) -> None:
    with suppress(OSError):  # a full disk is no reason to stop
        print(time.strftime("%H:%M:%S"), what, flush=True)


def everything(folder: str) -> Callable[[], None]:
    """Import and warm up, with temporary files in `folder`; return what a child has to call first."""
    for name in COMMANDS:
        try:
            import_module(f"probzero.commands.{name.replace('-', '_')}")
        except Exception as error:  # its users shall see it, and nobody else
            say(f"cannot import {name}: {error!r}")
    say("imported")
    threads = _set_threads(1)  # a child cannot use threads that were started before it was forked
    try:
        with _unchanged(), tempfile.TemporaryDirectory(dir=folder) as scratch:
            warm_up(scratch)
    except Exception as error:
        say(f"not warmed up: {error!r}")

    def prepare() -> None:
        _set_threads(threads)
        _draw_anew()

    return prepare


def _set_threads(count: int) -> int:
    """Set the number of torch's threads; return the number so far."""
    torch = sys.modules.get("torch")  # commands that do without it need not wait for it
    if torch is None:
        return count
    before: int = torch.get_num_threads()
    torch.set_num_threads(count)
    return before


def _draw_anew() -> None:
    """Seed the global generators as at the start of a process: at random. Python's own does so at every fork."""
    if numpy_random := sys.modules.get("numpy.random"):
        numpy_random.seed()
    if torch := sys.modules.get("torch"):
        torch.default_generator.seed()


def warm_up(folder: str) -> None:
    """Play, learn and solve a little, so that the compiled code is in memory. Raise RuntimeError if a command fails."""

    def path(name: str) -> str:
        return os.path.join(folder, name)

    def run(command: str, parts: dict[str, Any], **arguments: str) -> None:
        config = json.dumps({"experiment": "warm", "game": GAME, **parts})
        options = [f"--{name.replace('_', '-')}={value}" for name, value in arguments.items()]
        if main([command, f"--config={config}", "--seed=0", *options]) != 0:
            raise RuntimeError(f"{command} failed")

    network = {"checkpoint": path("0.safetensors"), "optimizer": path("0.optimizer")}
    new = {"new_checkpoint": path("1.safetensors"), "new_optimizer": path("1.optimizer")}
    played = {"iteration": "1", "shard": "0", "checkpoint": network["checkpoint"], "dataset": path("0.bin"),
              "games": path("0.csv"), "metrics": path("0.json")}  # fmt: skip
    run("init", {"network": NETWORK}, **network)
    for search in SEARCHES:
        run("selfplay", {"selfplay": SELFPLAY, **search}, **played)
    run("positions", {"truth": TRUTH}, dataset=played["dataset"], output=path("positions.csv"))
    import torch

    if torch.cuda.device_count() == 0:  # else the backward pass starts threads, and torch refuses to be forked
        learned = {"iteration": "1", "datasets": played["dataset"], "metrics": path("1.json")}
        run("train", {"search": PARTICLE, "training": TRAINING}, **learned, **network, **new)


@contextmanager
def _unchanged() -> Iterator[None]:
    """Leave no trace in what commands share: threads, locks, warnings already given."""
    from tqdm import tqdm

    interval = tqdm.monitor_interval
    tqdm.monitor_interval = 0  # else a thread is started
    tqdm.set_lock(threading.RLock())  # the usual one is shared with children: one killed with it would stop all others
    try:
        with warnings.catch_warnings():
            yield
    finally:
        tqdm.monitor_interval = interval
        del tqdm._lock
