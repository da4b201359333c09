"""The page's server answers its own page on this computer, and refuses everything else in one line."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from typing import Any
from urllib.parse import quote

import pytest
from exploring import ROOT, SMALL, STATIC, answers
from starlette.testclient import TestClient

from probzero.__main__ import main
from probzero.errors import ProbZeroError
from probzero.front_ends.explore import server
from probzero.front_ends.explore.server import LARGEST_HEAD, LONGEST_ADDRESS, QUESTIONS, application

PORT = 8377
HERE = f"http://127.0.0.1:{PORT}"
START = "..../.ox./.xo./...."
PATIENCE = 300  # seconds; other tests may keep the machine busy


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(application(answers(), PORT), base_url=HERE)


def test_the_page_and_all_that_it_names_are_served(client: TestClient) -> None:
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    named = re.findall(r'(?:src|href)="(static/[^"]+)"', page.text)
    modules = {name for path in STATIC.glob("*.js") for name in re.findall(r'"explore/([a-z]+\.js)"', path.read_text())}
    for name in [*named, *(f"static/{module}" for module in modules)]:
        assert client.get(f"/{name}").status_code == 200, name
    assert {path.name for path in STATIC.glob("*.js")} == modules | {"app.js"}


def test_nothing_comes_from_elsewhere_or_from_a_script_of_somebody_else(client: TestClient) -> None:
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    for path in STATIC.iterdir():
        addresses = set(re.findall(r"https?://[^\s\"'`]+", path.read_text()))
        assert addresses <= {"http://www.w3.org/2000/svg"}, path.name


def test_questions_are_answered_as_json(client: TestClient) -> None:
    asked = {"from": "", "moves": "b1", "at": START, "particles": "32", "record": "matches/iteration-0012"}
    for question, names in QUESTIONS.items():
        found = client.get(f"/api/{question}", params={name: asked[name] for name in names})
        assert found.status_code == 200 and found.headers["cache-control"] == "no-store"
        assert json.dumps(found.json())
    assert client.get("/api/about").json() == json.loads(json.dumps(answers().about()))
    assert client.get("/api/truth", params={"at": START}).json()["margin"] == -8


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "example.org"}, 403),
        ({"host": "127.0.0.1"}, 403),
        ({"host": f"127.0.0.1:{PORT + 1}"}, 403),
        ({"host": f"evil.127.0.0.1:{PORT}"}, 403),
        ({"origin": "http://example.org"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": f"https://127.0.0.1:{PORT}"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"x-much": "x" * LARGEST_HEAD}, 431),
        ({"host": f"localhost:{PORT}"}, 200),
        ({"origin": HERE, "sec-fetch-site": "same-origin"}, 200),
    ],
)
def test_only_the_page_of_this_computer_may_ask(client: TestClient, headers: dict[str, str], status: int) -> None:
    assert client.get("/api/about", headers=headers).status_code == status


def test_two_hosts_at_once_are_refused() -> None:
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "raw_path": b"/"}
    scope["headers"] = [(b"host", f"127.0.0.1:{PORT}".encode()), (b"host", b"example.org")]
    assert application(answers(), PORT).refusal(scope) == (403, "host: expected this computer")


@pytest.mark.parametrize(
    ("method", "path", "status", "said"),
    [
        ("POST", "/api/about", 405, "expected GET"),
        ("DELETE", "/", 405, "expected GET"),
        ("GET", "/api/truth?at=" + "x" * LONGEST_ADDRESS, 414, "at most 4096 characters"),
        ("GET", "/api/nothing", 404, "no such question"),
        ("GET", "/nowhere", 404, "no such page"),
        ("GET", "/static/server.py", 404, "no such page"),
        ("GET", "/static/..%2fserver.py", 404, "no such page"),
        ("GET", "/static/%2e%2e/server.py", 404, "no such page"),
        ("GET", "/api/truth", 400, "truth: expected at, each once"),
        ("GET", f"/api/truth?at={quote(START)}&at=x", 400, "each once"),
        ("GET", f"/api/about?at={quote(START)}", 400, "expected nothing"),
        ("GET", "/api/truth?at=%00%ff", 400, "expected 4 rows"),
        ("GET", f"/api/thoughts?at={quote(START)}&particles=-1", 400, "expected a number"),
        ("GET", f"/api/thoughts?at={quote(START)}&particles=999", 400, "expected one of 0, 32"),
        ("GET", "/api/line?from=&moves=b1+b1", 400, "a legal move"),
        ("GET", "/api/games?record=../../../config", 400, "one of the records"),
    ],
)
def test_what_the_page_would_never_ask_is_refused(
    client: TestClient, method: str, path: str, status: int, said: str
) -> None:
    found = client.request(method, path)
    assert found.status_code == status and said in found.json()["error"]


def test_a_body_is_refused(client: TestClient) -> None:
    assert client.request("GET", "/api/about", content=b"x" * 10).status_code == 413
    assert client.request("GET", "/api/about", content=iter([b"x"])).status_code == 413


def test_a_port_that_is_taken_is_one_clear_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["explore", str(SMALL), "--port", str(port)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"explore: port {port}: expected one that is free; choose another with --port" in line


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["nowhere.safetensors"], "nowhere.safetensors"),
        ([str(SMALL), "--game", "othello-5"], "game: expected othello-5, found othello-4"),
        ([str(SMALL), "--port", "70000"], "--port"),
        ([str(SMALL), "--record", "matches/x/1"], "--record: expected --export"),
        ([str(SMALL), "--export", "page.html", "--record", "matches/x/1"], "expected RECORD/NUMBER"),
    ],
)
def test_bad_arguments_are_one_clear_line(given: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", *given]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_the_server_listens_on_this_computer_alone() -> None:
    listening = server.bound(0)
    assert listening.getsockname()[0] == "127.0.0.1"
    with pytest.raises(ProbZeroError, match="expected one that is free"):
        server.bound(listening.getsockname()[1])
    listening.close()


def test_ctrl_c_ends_the_server_without_a_traceback() -> None:
    """A real process: it answers as soon as it says where, refuses a head that is too large, and ends in peace."""
    command = [sys.executable, "-m", "probzero", "explore", str(SMALL), "--particles", "0", "--port", "0"]
    ready = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}  # as in a terminal
    run = subprocess.Popen(
        command, cwd=ROOT / "src", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **ready
    )
    try:
        assert run.stdout is not None
        address = re.search(r"http://127\.0\.0\.1:(\d+)/", run.stdout.readline())
        assert address is not None
        with socket.create_connection(("127.0.0.1", int(address[1])), timeout=PATIENCE) as asking:
            # In one piece: were some of it left unread, the connection would be reset, perhaps before we are answered.
            asking.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 2 * LARGEST_HEAD)
            assert asking.recv(64).startswith(b"HTTP/1.1 400")
        run.send_signal(signal.SIGINT)
        said = run.communicate(timeout=PATIENCE)[1]
        assert run.returncode == 130 and "Traceback" not in said and len(said.splitlines()) <= 1
    finally:
        run.kill()
