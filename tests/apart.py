"""Namespaces of Linux: what is mounted, listened to or started in one is seen by nobody else and ends with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

PATIENCE = 120  # seconds within which what was started must answer, on a busy machine too
FLAGS = ("--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")


def missing(*programs: str) -> str:
    """Say what this machine lacks for namespaces and for these programs; nothing, if it lacks nothing."""
    if not Path("/proc/self/ns/mnt").exists() or os.geteuid():
        return "Linux and root are needed for namespaces"
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    lacking = [name for name in ("unshare", "nsenter", "mount", *programs) if not shutil.which(name, path=path)]
    if lacking:
        return f"not installed: {', '.join(lacking)}"
    tried = subprocess.run(["unshare", *FLAGS, "--", "true"], capture_output=True, text=True, check=False)
    return f"no namespaces are to be had here: {tried.stderr.strip()}" if tried.returncode else ""


class Apart:
    """Namespaces of their own, as long as their first process lives."""

    def __init__(self, first: psutil.Process) -> None:
        self.first = first

    def within(self, *command: str) -> list[str]:
        """The command line that runs a command in there, in the same folder."""
        return ["nsenter", "--target", str(self.first.pid), "--mount", "--net", "--pid", "--wdns=.", "--", *command]

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.within(*command), capture_output=True, text=True, check=False, timeout=PATIENCE)

    def call(self, *command: str) -> str:
        done = self.run(*command)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@contextmanager
def apart(log: Path) -> Iterator[Apart]:
    """Make namespaces; at the end, whatever was started in them is gone."""
    first = started(["unshare", *FLAGS, "--", "sleep", "infinity"], log, "sleep")
    try:
        yield Apart(first)
    finally:
        first.kill()  # and with it, all others in its namespace
        psutil.wait_procs([first], timeout=PATIENCE)


def started(command: Sequence[str], log: Path, name: str) -> psutil.Process:
    """Start a process that stays; return the one of this name, perhaps a child of those that make its namespaces."""
    with log.open("w", encoding="utf-8") as said:
        outer = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True)
    found: list[psutil.Process] = []

    def there() -> bool:
        assert outer.poll() is None, log.read_text(encoding="utf-8")
        family = [psutil.Process(outer.pid), *psutil.Process(outer.pid).children(recursive=True)]
        found[:] = [process for process in family if process.name() == name]
        return bool(found)

    until(there)
    return found[-1]


def until(true: Callable[[], bool], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "what was waited for did not come"
        time.sleep(0.2)
