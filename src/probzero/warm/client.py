"""The client's side: find or start the server, hand over the job, and end as the job ended."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import stat
import sys
import time
from contextlib import suppress
from types import FrameType
from typing import Any, BinaryIO

from probzero import warm

START = 60.0  # seconds for a server to come up, and then to begin a job
PAUSE = 0.02  # seconds between two looks whether it is up
LONGEST = 100  # bytes of a socket's path
# The folder of the package goes in front only if it was not on the path anyway (`-m` in that very folder).
PROGRAM = (
    "import sys; folder, path = sys.argv[1:]; folder in sys.path or sys.path.insert(0, folder); "
    "from probzero.warm.server import main; main(path)"
)


class _Unserved(Exception):
    """The job has not begun, and will not: whoever asked does it."""


def ask() -> int | None:
    """Have the server do this process's job and return its status, or None if the job is still to be done."""
    try:
        connection = _handed_over()
    except (_Unserved, OSError) as reason:
        if os.environ.get(warm.DEBUG):
            print(f"probzero: no warm server: {reason}", file=sys.stderr, flush=True)
        return None
    with connection:
        return _finished(connection)


def _handed_over() -> socket.socket:
    """Return the connection to a server that has begun the job."""
    path = _socket_path()
    request, started, deadline = warm.encode(_request()), False, time.monotonic() + START
    while time.monotonic() < deadline:
        connection = _connected(path)
        if connection is not None:
            if _begun(connection, request):
                return connection
            connection.close()  # the server was about to end
        with open(f"{path}.log", "ab") as log:
            if _locked(log):  # there is no server
                if started:
                    raise _Unserved(f"it did not start; see {log.name}")
                _start(path, log)
                started = True
        time.sleep(PAUSE)
    raise _Unserved(f"none within {START:.0f} s; see {path}.log")


def _socket_path() -> str:
    if not sys.platform.startswith("linux"):  # macOS can fork, but its libraries do not survive it
        raise _Unserved("only on Linux")
    folder = os.path.abspath(os.environ[warm.FOLDER])
    os.makedirs(folder, mode=0o700, exist_ok=True)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise _Unserved(f"{folder}: expected a folder that is ours and that nobody else can write to")
    path = os.path.join(folder, warm.identity())
    if len(os.fsencode(path)) > LONGEST:
        raise _Unserved(f"{path}: expected at most {LONGEST} bytes")
    return path


def _request() -> dict[str, Any]:
    """Return all that makes this process's job what it is, but for the files of the standard streams."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if any(stream is None for stream in streams):  # another file may have its number by now
        raise _Unserved("a standard stream is closed")
    umask = os.umask(0)
    os.umask(umask)
    return {
        "arguments": sys.argv,
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "path": sys.path,
        "umask": umask,
        "streams": [
            {name: getattr(stream, name) for name in ("encoding", "errors", "write_through")} for stream in streams
        ],
        "ignored": [number for number in warm.FORWARDED if signal.getsignal(number) is signal.SIG_IGN],
    }


def _connected(path: str) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # keeps messages apart
    try:
        connection.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    return connection


def _begun(connection: socket.socket, request: bytes) -> bool:
    """Send the job; return whether it began. A server that ends before it has read it hangs up.

    The standard streams are sent only to a server that has said something: as long as they lie unread in the socket of
    one that hangs, whoever reads this process's output waits.
    """
    connection.settimeout(START)
    try:
        welcome = connection.recv(warm.LARGEST)
        socket.send_fds(connection, [request], [0, 1, 2])
        answer = connection.recv(warm.LARGEST)
    except (ConnectionResetError, BrokenPipeError):
        return False
    if not (welcome and answer):
        return False
    if "refused" in (said := json.loads(answer)):
        raise _Unserved(said["refused"])
    connection.settimeout(None)
    return True


def _locked(log: BinaryIO) -> bool:
    """Try to lock the log. A server holds this lock from before it starts until the system has buried it."""
    try:
        fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _start(path: str, log: BinaryIO) -> None:
    """Start a server that writes to `log`, and with it inherits the lock: there is never a moment without a holder."""
    import subprocess

    options = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    program = [sys.executable, *options, "-P", "-c", PROGRAM, os.path.dirname(warm.PACKAGE), path]
    # It leaves this process's tree at once, so that nobody waits for it or counts it as part of the job.
    subprocess.run(program, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, check=False)


def _finished(connection: socket.socket) -> int:
    """Pass signals on to the job until it has ended; end as it did, or return its status."""

    def forward(number: int, _: FrameType | None) -> None:
        with suppress(OSError):
            connection.send(warm.encode({"signal": number}))

    for number in warm.FORWARDED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, forward)
    try:
        answer = connection.recv(warm.LARGEST)
    except ConnectionResetError:
        answer = b""
    if not answer:  # too late to do the job here: it may have done half
        print("probzero: error: warm server: expected the end of the job, found the end of the server", file=sys.stderr)
        return 1
    status: int = json.loads(answer)["status"]
    return status if status >= 0 else _die(-status)


def _die(number: int) -> int:
    """End by the signal that ended the job."""
    with suppress(OSError):  # some cannot be caught, and need no default
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number
