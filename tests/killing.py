"""A run that is killed at a moment of its own: start it, wait, kill all of it, and look what lives on."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

MARK = "PROBZERO_TEST_RUN"  # a variable that all processes of a run inherit, so that none can hide
HANGS = 900  # seconds after which a run counts as hanging
DYING = 120  # seconds within which what was killed must be gone; more than enough on a busy machine


@dataclass(frozen=True)
class End:
    """How a call of the workflow ended."""

    code: int  # 0: it came to its end before the moment to kill it; negative: the signal
    running: tuple[str, ...]  # commands of ours that were running when it was killed
    said: str


def run_and_kill(command: Sequence[str], log: Path, moment: Callable[[], bool], how: int = signal.SIGKILL) -> End:
    """Start a command in a process group of its own; when `moment` says so, send the signal to all of the group."""
    mark = str(uuid.uuid4())
    with log.open("w", encoding="utf-8") as said:
        leader = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True,
            env={**os.environ, MARK: mark},
        )  # fmt: skip
        deadline = time.monotonic() + HANGS
        while leader.poll() is None and not moment():
            assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
            time.sleep(0.02)
        running = () if leader.poll() is not None else tuple(sorted(filter(None, map(_ours, _marked(mark)))))
        if leader.poll() is None:
            os.killpg(leader.pid, how)
        code = leader.wait(HANGS)
    _, alive = psutil.wait_procs(_marked(mark), timeout=DYING)
    assert not [process for process in alive if process.is_running()], f"lives on: {alive}"
    return End(code, running, log.read_text(encoding="utf-8"))


def _marked(mark: str) -> list[psutil.Process]:
    """All processes of a run, in whatever group or session, whoever their parent is by now."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:  # it has ended, or is another's
            continue
    return found


def _ours(process: psutil.Process) -> str:
    """The command of ours that a process runs, or nothing."""
    try:
        line = process.cmdline()
    except psutil.Error:
        return ""
    return line[3] if line[1:3] == ["-m", "probzero"] and len(line) > 3 else ""


def after_files(folder: Path, count: int, seconds: float) -> Callable[[], bool]:
    """A moment: so many more files than now are in the folder, and then so many seconds have passed."""
    expected = number_of_files(folder) + count
    reached: list[float] = []

    def moment() -> bool:
        if not reached and number_of_files(folder) >= expected:
            reached.append(time.monotonic())
        return bool(reached) and time.monotonic() >= reached[0] + seconds

    return moment


def number_of_files(folder: Path) -> int:
    return sum(len(names) for _, _, names in os.walk(folder))


def temporary(folder: Path) -> list[Path]:
    """What writers that were killed have left."""
    return sorted(folder.rglob(".partial-*"))
