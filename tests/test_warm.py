"""A job of the warm server cannot be told from one without it, ends with its client, and no server stays for long."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import probzero

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is a warm server only on Linux")

SOURCE = Path(probzero.__file__).parent
DEADLINE = 60  # seconds after which something counts as hanging
COMMANDS = re.compile(r"^COMMANDS = \{$.*?^\}$", re.MULTILINE | re.DOTALL)
THREADS = ("OMP", "MKL", "OPENBLAS")

# The only command of the light package that most tests use: it needs no torch.
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


@pytest.fixture(scope="module")
def light_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("light")
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
    return folder


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


@pytest.fixture(scope="module")
def shared(light_source: Path) -> Iterator[Package]:
    """A light package with a server that many tests use."""
    package = Package(light_source)
    package.server()
    yield package
    package.close()


@pytest.fixture
def light(light_source: Path, tmp_path: Path) -> Iterator[Package]:
    """A light package that a test may change, without a server so far."""
    shutil.copytree(light_source, tmp_path / "source")
    package = Package(tmp_path / "source")
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


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "PYTHONWARNINGS"])
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


def test_a_closed_stream_is_no_hindrance(shared: Package) -> None:
    line = ["bash", "-c", '"$@" <&-', "-", *shared.line("act", "server")]
    shown = subprocess.run(line, env=shared.environment(), capture_output=True, text=True, timeout=DEADLINE)
    assert shown.stdout == "none\n" and "stream is closed" in shown.stderr


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
