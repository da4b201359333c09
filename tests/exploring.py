"""What tests of the page share: what may be asked about the small committed network, and its server."""

from __future__ import annotations

import argparse
import contextlib
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from probzero.commands import explore
from probzero.front_ends.explore.answers import Answers

ROOT = Path(__file__).parents[1]
STATIC = ROOT / "src" / "probzero" / "front_ends" / "explore" / "static"
SMALL = ROOT / "results" / "reference" / "othello4" / "seed0" / "checkpoints" / "0012.safetensors"


def arguments(*given: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    explore.add_arguments(parser)
    return parser.parse_args(given, argparse.Namespace(command="explore"))


@cache
def answers(*given: str) -> Answers:
    return explore.made_ready(arguments(*(given or (str(SMALL), "--particles", "32,0"))))


@contextlib.contextmanager
def served(asked: Answers, port: int = 0) -> Iterator[str]:
    """A real server of the page in a thread; yields its address, and stops it."""
    from probzero.front_ends.explore import server

    listening = server.bound(port)
    running = server.prepared(server.application(asked, listening.getsockname()[1]))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    finally:
        running.should_exit = True
        thread.join(20)
        listening.close()
