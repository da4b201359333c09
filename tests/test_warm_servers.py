"""Clients start one warm server and do without one that fails them, and no server stays for long."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from warm_package import DEADLINE, ONLY_ON_LINUX, Package, change, command_line, ended, make_light, soon

pytestmark = ONLY_ON_LINUX


@pytest.fixture
def light(tmp_path: Path) -> Iterator[Package]:
    """A light package that a test may change, without a server so far."""
    package = make_light(tmp_path / "source")
    yield package
    package.close()


def test_the_first_job_does_not_wait_for_the_server_it_started(light: Package) -> None:
    shown = subprocess.run(
        ["bash", "-c", '"$@" 2>&1 | tee /dev/null', "-", *light.line("act", "server")],
        env=light.environment(PROBZERO_WARM_IDLE="600"), capture_output=True, text=True, timeout=DEADLINE,
    )  # fmt: skip
    server = int(shown.stdout)
    assert "probzero.warm.server" in command_line(server)
    assert server == light.server()


def test_clients_that_race_start_one_server(light: Package) -> None:
    clients = [light.begin("act", "server", SLOW="0.3") for _ in range(4)]
    said = [client.communicate(timeout=DEADLINE) for client in clients]
    assert len(set(said)) == 1 and said[0][0].strip() != "none" and said[0][1] == ""


def test_a_job_dies_with_its_server_and_the_client_says_so(light: Package, tmp_path: Path) -> None:
    server = light.server()
    client = light.begin("act", "wait", str(tmp_path / "job"))
    job = int(soon(lambda: (tmp_path / "job").exists() and (tmp_path / "job").read_text()))
    os.kill(server, signal.SIGKILL)
    said = client.communicate(timeout=DEADLINE)[1]
    assert client.returncode == 1 and said.startswith("probzero: error: warm server: ")
    soon(lambda: ended(job))
    assert light.server() != server  # the socket that was left behind is no hindrance


def test_an_idle_server_ends(light: Package) -> None:
    server = light.server(PROBZERO_WARM_IDLE="0.2")
    soon(lambda: ended(server))
    assert [path.suffix for path in light.servers.iterdir()] == [".log"]
    assert light.server() != server


def test_a_server_ends_with_the_last_of_its_owners(light: Package) -> None:
    owners = [subprocess.Popen(["sleep", "60"]) for _ in range(2)]
    one, two = (light.server(PROBZERO_WARM_OWNER=str(owner.pid), PROBZERO_WARM_IDLE="600") for owner in owners)
    assert one == two
    for owner in owners:
        assert not ended(one)
        owner.kill()
        owner.wait()
    soon(lambda: ended(one))


def test_a_server_whose_socket_was_removed_ends(light: Package) -> None:
    server = light.server()
    (path,) = (path for path in light.servers.iterdir() if not path.suffix)
    path.unlink()
    assert light.server() != server
    assert ended(server)


def test_changed_source_gets_another_server(light: Package) -> None:
    old = light.server()
    assert light.server() == old
    change(light.package / "commands" / "act.py", "print(os.getppid() if", "print(0 if")
    assert light.server() == 0
    assert not ended(old)  # who began with it may still need it


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "PYTHONWARNINGS", "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA"])
def test_what_libraries_read_while_loading_gets_another_server(name: str, light: Package) -> None:
    assert light.server(VARIABLE="7") == light.server(VARIABLE="8") != light.server(**{name: "error"})


def unserved(package: Package, reason: str, **variables: str) -> None:
    """Check that a client does its job itself, and says why if it is asked to."""
    shown = package.run("act", "server", **variables)
    assert (shown.returncode, shown.stdout) == (0, "none\n")
    (line,) = shown.stderr.splitlines()
    assert line.startswith("probzero: no warm server: ") and reason in line
    assert package.run("act", "server", PROBZERO_WARM_DEBUG="", **variables).stderr == ""


def test_without_a_server_that_starts_a_job_is_done_directly(light: Package) -> None:
    (light.package / "warm" / "server.py").write_text("raise RuntimeError('broken')\n")
    unserved(light, "did not start")
    assert "broken" in light.said()


def test_a_server_that_does_not_get_ready_is_not_waited_for_any_longer(light: Package) -> None:
    change(light.package / "warm" / "client.py", "START = 60.0", "START = 0.5")
    shown = light.run("act", "server", SLOW="0.6")
    assert shown.stdout == "none\n" and "none within" in shown.stderr
    assert soon(lambda: "ready" in light.said())


def test_a_server_that_does_not_answer_is_not_waited_for_any_longer(light: Package) -> None:
    change(light.package / "warm" / "client.py", "START = 60.0", "START = 1.0")
    server = light.server()
    os.kill(server, signal.SIGSTOP)
    try:
        shown = light.run("act", "server")
        assert shown.stdout == "none\n" and "timed out" in shown.stderr
    finally:
        os.kill(server, signal.SIGCONT)
    assert light.server() == server
    assert light.said().count("began") == 2  # and does not do afterwards what has been done


def test_a_folder_that_others_could_use_is_not_used(light: Package, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(light.servers)
    for name in ("open", "link"):
        unserved(light, "expected a folder that is ours", PROBZERO_WARM=str(tmp_path / name))
    unserved(light, "at most 100 bytes", PROBZERO_WARM=str(light.servers / ("long" * 25)))
    light.server(PROBZERO_WARM=str(light.servers / "new"), PROBZERO_WARM_IDLE="0.2")
    assert (light.servers / "new").stat().st_mode & 0o777 == 0o700
