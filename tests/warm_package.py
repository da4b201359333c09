"""Packages with the command line and the warm server of this one, made to be run, changed and watched by tests."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import probzero

ONLY_ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is a warm server only on Linux")
SOURCE = Path(probzero.__file__).parent
DEADLINE = 60  # seconds after which something counts as hanging
COMMANDS = re.compile(r"^COMMANDS = \{$.*?^\}$", re.MULTILINE | re.DOTALL)

# The only command of a light package: it needs no torch.
ACT = """
import json, os, signal, sys, time
from probzero.errors import ProbZeroError

time.sleep(float(os.environ.get("SLOW", 0)))
FIRST = os.getpid()

def add_arguments(parser):
    parser.add_argument("action")
    parser.add_argument("rest", nargs="*")

def run(args):
    if args.action == "show":
        umask = os.umask(0)
        os.umask(umask)
        print(json.dumps({"arguments": sys.argv, "folder": os.getcwd(), "umask": umask, "path": sys.path,
                          "variable": os.environ.get("VARIABLE"), "read": sys.stdin.read(), "stream": repr(sys.stdout),
                          "buffered": [sys.stdout.line_buffering, sys.stdout.write_through]}))
        print("an error", file=sys.stderr)
    elif args.action == "server":
        print(os.getppid() if os.getpid() != FIRST else "none")
    elif args.action == "bad":
        raise ProbZeroError("act: this: expected that, found\\n nothing")
    elif args.action == "crash":
        raise ValueError("wrong")
    elif args.action == "exit":
        print("not flushed", end="")
        sys.exit(eval(args.rest[0]))
    elif args.action == "die":
        os.kill(os.getpid(), int(args.rest[0]))
        time.sleep(60)
    elif args.action == "wait":
        if args.rest[1:]:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with open(args.rest[0] + ".new", "w") as said:
            said.write(str(os.getpid()))
        os.rename(args.rest[0] + ".new", args.rest[0])
        time.sleep(60)
"""


def _default_signals() -> None:
    """As in a shell in the foreground, whatever the tests were started by: nohup and the like ignore signals."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Package:
    """A package with the command line and the warm server of this one, and the folder where its servers live."""

    def __init__(self, folder: Path) -> None:
        self.source, self.package = folder, folder / "probzero"
        # pytest's own folders have names too long for a socket
        self.servers = Path(tempfile.mkdtemp(prefix="warm", dir="/tmp"))
        self.variables = {"PROBZERO_WARM": str(self.servers), "PROBZERO_WARM_DEBUG": "1"}
        self.variables |= {"PYTHONPATH": str(folder), "PYTHONUNBUFFERED": ""}

    def line(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "probzero", *arguments]

    def environment(self, **variables: str) -> dict[str, str]:
        return {**os.environ, **self.variables, **variables}

    def run(self, *arguments: str, options: dict[str, Any] | None = None, **variables: str) -> Any:
        return subprocess.run(
            self.line(*arguments),
            env=self.environment(**variables),
            **{"input": "", "capture_output": True, "text": True, "timeout": DEADLINE, **(options or {})},
        )

    def begin(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.line(*arguments), env=self.environment(**variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL, text=True, preexec_fn=_default_signals,
        )  # fmt: skip

    def said(self) -> str:
        return "".join(log.read_text() for log in self.servers.glob("*.log"))

    def server(self, **variables: str) -> int:
        """The process of the server that does jobs, started if there is none."""
        return int(self.run("act", "server", **variables).stdout)

    def close(self) -> None:
        for process in re.findall(r"ready: process (\d+)", self.said()):
            if "probzero.warm.server" in command_line(int(process)):
                os.kill(int(process), signal.SIGKILL)
        shutil.rmtree(self.servers)


def command_line(process: int) -> str:
    """The command line of a process, or nothing if it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""


def soon(claim: Callable[[], Any]) -> Any:
    """What `claim` returns as soon as it is true."""
    deadline = time.monotonic() + DEADLINE
    while not (found := claim()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def ended(process: int) -> bool:
    return not command_line(process)


def make_light(folder: Path) -> Package:
    """A light package: it has one command, and its server is ready and ends sooner."""
    package = folder / "probzero"
    shutil.copytree(SOURCE / "warm", package / "warm", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("__init__.py", "__main__.py", "errors.py"):
        shutil.copy(SOURCE / name, package / name)
    give_command(package, "act", ACT, alone=True)
    # Without commands to warm up with, there is no need for the libraries that they use.
    preload = package / "warm" / "preload.py"
    preload.write_text(preload.read_text() + "\n\ndef _unchanged():\n    raise RuntimeError('nothing to warm up')\n")
    change(package / "warm" / "server.py", "TICK = 1.0", "TICK = 0.1")
    change(package / "warm" / "server.py", "GRACE = 1.0", "GRACE = 0.3")
    return Package(folder)


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def give_command(package: Path, name: str, text: str, alone: bool) -> None:
    commands = package / "commands"
    commands.mkdir(exist_ok=True)
    (commands / "__init__.py").touch()
    (commands / f"{name}.py").write_text(text)
    main = (package / "__main__.py").read_text()
    entry = f'COMMANDS = {{"{name}": "a command for tests"}}'
    changed = COMMANDS.sub(entry if alone else lambda found: f"{found[0]}\n{entry[:-1]}, **COMMANDS}}", main)
    assert changed != main
    (package / "__main__.py").write_text(changed)
