"""A job of the warm server cannot be told from one without it, and ends with its client."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from warm_package import DEADLINE, ONLY_ON_LINUX, Package, ended, make_light, soon

pytestmark = ONLY_ON_LINUX


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Package]:
    """A light package with a server that all tests use."""
    package = make_light(tmp_path_factory.mktemp("light"))
    package.server()
    yield package
    package.close()


@pytest.mark.parametrize(
    "arguments",
    [
        ("act", "show", "one", "zwei — ☃"),
        ("act", "bad"),
        ("act", "exit", "7"),
        ("act", "exit", "None"),
        ("act", "exit", "'a reason'"),
        ("act", "die", "15"),
        ("act", "die", "9"),
        ("act", "--nonsense"),
        ("nonsense",),
        ("act", "--help"),
        ("--version",),
    ],
    ids=" ".join,
)
def test_a_job_ends_and_says_the_same_with_and_without_a_server(
    arguments: tuple[str, ...], shared: Package, tmp_path: Path
) -> None:
    options = {"cwd": tmp_path, "umask": 0o027, "input": "what is\nread"}
    jobs = shared.said().count("began")
    one = shared.run(*arguments, options=options, VARIABLE="a \udcff value")
    two = shared.run(*arguments, options=options, VARIABLE="a \udcff value", PROBZERO_WARM="")
    assert (one.returncode, one.stdout, one.stderr) == (two.returncode, two.stdout, two.stderr)
    assert shared.said().count("began") == jobs + 1


def test_an_error_of_the_program_shows_where_it_happened(shared: Package) -> None:
    shown = shared.run("act", "crash")
    assert shown.returncode == 1 and shown.stdout == ""
    assert "Traceback" in shown.stderr and "act.py" in shown.stderr and shown.stderr.endswith("ValueError: wrong\n")


@pytest.mark.parametrize("options", [[], ["-u"]], ids=["buffered", "unbuffered"])
def test_a_full_disk_ends_a_job_in_the_same_way(options: list[str], shared: Package) -> None:
    line = [sys.executable, *options, "-m", "probzero", "act"]
    for action in (["show"], ["exit", "3"]):
        with open("/dev/full", "w") as full:
            one, two = (
                subprocess.run(
                    [*line, *action], env=shared.environment(**variables), stdout=full, stderr=subprocess.PIPE,
                    stdin=subprocess.DEVNULL, text=True,
                )
                for variables in ({}, {"PROBZERO_WARM": ""})
            )  # fmt: skip
        assert (one.returncode, one.stderr) == (two.returncode, two.stderr)


@pytest.mark.parametrize("options", [[], ["-u"]], ids=["buffered", "unbuffered"])
def test_a_terminal_is_seen_as_one(options: list[str], shared: Package) -> None:
    said = []
    for variables in ({}, {"PROBZERO_WARM": ""}):
        here, there = pty.openpty()
        environment = shared.environment(**variables)
        line = [sys.executable, *options, "-m", "probzero", "act", "show"]
        try:
            subprocess.run(line, env=environment, stdin=subprocess.DEVNULL, stdout=there, stderr=there, check=True)
            said.append(os.read(here, 10000).decode())
        finally:
            os.close(here)
            os.close(there)
    assert said[0] == said[1]
    assert f'"buffered": {json.dumps([not options, bool(options)])}' in said[0]


def test_a_closed_stream_is_no_hindrance(shared: Package) -> None:
    line = ["bash", "-c", '"$@" <&-', "-", *shared.line("act", "server")]
    shown = subprocess.run(line, env=shared.environment(), capture_output=True, text=True, timeout=DEADLINE)
    assert shown.stdout == "none\n" and "stream is closed" in shown.stderr


@pytest.mark.parametrize("deaf", [[], ["deaf"]], ids=["asked", "made"])
def test_a_job_dies_with_its_client(deaf: list[str], shared: Package, tmp_path: Path) -> None:
    client = shared.begin("act", "wait", str(tmp_path / "job"), *deaf)
    job = int(soon(lambda: (tmp_path / "job").exists() and (tmp_path / "job").read_text()))
    assert job != client.pid and not ended(job)
    client.kill()
    client.communicate(timeout=DEADLINE)
    soon(lambda: not Path(f"/proc/{job}").exists())  # not even a zombie


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGHUP, -1)])
@pytest.mark.parametrize("variables", [{}, {"PROBZERO_WARM": ""}], ids=["warm", "alone"])
def test_signals_reach_the_job(
    number: int, status: int, variables: dict[str, str], shared: Package, tmp_path: Path
) -> None:
    client = shared.begin("act", "wait", str(tmp_path / "job"), **variables)
    job = int(soon(lambda: (tmp_path / "job").exists() and (tmp_path / "job").read_text()))
    client.send_signal(number)
    assert client.communicate(timeout=DEADLINE) == ("", "")
    assert client.returncode == status
    assert ended(job)
