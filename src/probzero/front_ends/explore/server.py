"""The server of the page: it answers on this computer alone, and refuses what its own page would never ask.

Another page in the same browser must learn nothing and start nothing: the host must be this computer by name or number
(or a foreign name could be made to lead here), and whoever says where it comes from must come from here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import socket
import threading
import traceback
from functools import lru_cache
from importlib.resources import files
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from probzero.errors import ProbZeroError, bad
from probzero.front_ends.explore.answers import Answers

HOST = "127.0.0.1"
LONGEST_ADDRESS = 4096  # characters of path and query
LARGEST_HEAD = 16_384  # bytes of a request line and headers
REMEMBERED = 4096  # answers
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
# What may be asked, with what: exactly these, each once.
QUESTIONS: dict[str, tuple[str, ...]] = {
    "about": (),
    "line": ("from", "moves"),
    "position": ("at",),
    "thoughts": ("at", "particles"),
    "truth": ("at",),
    "flow": ("at", "particles"),
    "records": (),
    "games": ("record",),
}


class Desk:
    """Answers questions one after another, and remembers the answers: they depend on nothing else."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.busy = threading.Lock()
        self.remembered = lru_cache(REMEMBERED)(self._answer)

    def answer(self, question: str, *values: str) -> bytes:
        with self.busy:
            return self.remembered(question, *values)

    def _answer(self, question: str, *values: str) -> bytes:
        asked: dict[str, Any] = {"records": self.answers.records.index, "games": self.answers.records.games}
        given = [
            _number(value) if name == "particles" else value
            for name, value in zip(QUESTIONS[question], values, strict=True)
        ]
        told = (asked.get(question) or getattr(self.answers, question))(*given)
        return json.dumps(told, allow_nan=False, separators=(",", ":")).encode()


def _number(text: str) -> int:
    if not re.fullmatch(r"\d{1,7}", text):
        raise bad("request", "particles", "a number", repr(text))
    return int(text)


class Guard:
    """Lets through what the page itself asks for, and refuses everything else before anybody looks at it."""

    def __init__(self, app: ASGIApp, desk: Desk, port: int, policy: str) -> None:
        self.app, self.desk = app, desk
        self.hosts = {f"{name}:{port}" for name in (HOST, "localhost")}
        self.origins = {f"http://{host}" for host in self.hosts}
        self.headers = [
            (b"content-security-policy", policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cache-control", b"no-store"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def careful(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self.headers]
            await send(message)

        refusal = self.refusal(scope)
        await (refused(*refusal) if refusal else self.app)(scope, receive, careful)

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return status and reason if a request is not one of the page's."""
        if scope["type"] != "http":
            return 400, "only HTTP is spoken here"
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        if sum(len(name) + len(value) for name, value in scope["headers"]) > LARGEST_HEAD:
            return 431, f"head: expected at most {LARGEST_HEAD} bytes"
        if len(headers.get("host", [])) != 1 or headers["host"][0].lower() not in self.hosts:
            return 403, "host: expected this computer"
        if any(origin not in self.origins for origin in headers.get("origin", [])):
            return 403, "origin: expected this page"
        asks = scope["path"].startswith("/api/")
        if asks and any(site not in ("same-origin", "none") for site in headers.get("sec-fetch-site", [])):
            return 403, "origin: expected this page"
        if scope["method"] not in ("GET", "HEAD"):
            return 405, "method: expected GET"
        if "transfer-encoding" in headers or any(length != "0" for length in headers.get("content-length", [])):
            return 413, "body: expected none"
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > LONGEST_ADDRESS:
            return 414, f"address: expected at most {LONGEST_ADDRESS} characters"
        return None


def refused(status: int, reason: str) -> Response:
    return Response(json.dumps({"error": reason}), status, media_type="application/json")


def application(answers: Answers, port: int) -> Guard:
    """Return the page and its answers as an ASGI application for that port."""
    desk = Desk(answers)
    static = files(__package__).joinpath("static")
    shipped = {entry.name: entry.read_bytes() for entry in static.iterdir() if entry.is_file()}

    async def page(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        kind = KINDS.get(f".{name.rpartition('.')[2]}")
        if name not in shipped or kind is None:
            return refused(404, "there is no such page")
        return Response(shipped[name], media_type=kind)

    async def ask(request: Request) -> Response:
        question = request.path_params["question"]
        given = request.query_params.multi_items()
        if question not in QUESTIONS:
            return refused(404, "there is no such question")
        if sorted(name for name, _ in given) != sorted(QUESTIONS[question]):
            expected = " and ".join(QUESTIONS[question]) or "nothing"
            return refused(400, f"{question}: expected {expected}, each once")
        values = [dict(given)[name] for name in QUESTIONS[question]]
        try:
            told = await run_in_threadpool(desk.answer, question, *values)
        except ProbZeroError as error:
            return refused(400, str(error))
        except Exception as error:  # a fault of ours: told here in full, there in a line
            traceback.print_exc()
            return refused(500, f"{question}: {type(error).__name__}")
        return Response(told, media_type="application/json")

    async def nowhere(request: Request, error: Exception) -> Response:
        return refused(404, "there is no such page")

    routes = [Route("/", page), Route("/static/{name}", page), Route("/api/{question}", ask)]
    app = Starlette(routes=routes, exception_handlers={404: nowhere})
    return Guard(app, desk, port, policy(shipped["index.html"].decode()))


def policy(page: str) -> str:
    """Return what the page may load: its own files and the one script that stands inside it."""
    inside = re.findall(r"<script type=\"importmap\">(.*?)</script>", page, re.DOTALL)
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in inside
    )
    return (
        f"default-src 'self'; script-src 'self' {hashes}; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"
    )


def bound(port: int) -> socket.socket:
    """Return a socket that listens at a port of this computer alone, 0 for any that is free."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((HOST, port))
        made.listen()
    except OSError as error:
        made.close()
        raise bad("explore", f"port {port}", "one that is free; choose another with --port", error.strerror) from None
    return made


def prepared(guard: Guard) -> uvicorn.Server:
    """Return what runs an application at a socket."""
    config = uvicorn.Config(
        guard, http="h11", ws="none", lifespan="off", log_level="critical", access_log=False, server_header=False,
        h11_max_incomplete_event_size=LARGEST_HEAD, limit_concurrency=64, timeout_graceful_shutdown=1,
    )  # fmt: skip
    return uvicorn.Server(config)


def serve(answers: Answers, listening: socket.socket) -> None:
    """Answer at a socket until somebody presses Ctrl-C."""
    guard = application(answers, listening.getsockname()[1])
    start = answers.about()["start"]
    # What compiles when it is first used does so while the page is opened.
    first = ("thoughts", start, str(answers.usual))
    threading.Thread(target=guard.desk.answer, args=first, daemon=True).start()
    prepared(guard).run(sockets=[listening])
