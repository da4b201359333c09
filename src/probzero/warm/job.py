"""A job: what a child of the server does from the fork to its end."""

from __future__ import annotations

import atexit
import ctypes
import io
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from probzero import warm

Signals = set[int | signal.Signals]
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
FLUSH_FAILED = 120  # the interpreter's status for that


def run(
    request: dict[str, Any], files: list[int], server: int, blocked: Signals, leave: Callable[[], None]
) -> NoReturn:
    """Become the process that sent the request, run its command and end. Signals are blocked when this begins."""
    status = 1
    try:
        _die_with(server)
        _take_streams(files, request["streams"])
        leave()
        _take_on(request)
        status = _call(request["arguments"], blocked)
    except BaseException:  # nothing may get back into the server's loop
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(_flushed(status))


def _die_with(server: int) -> None:
    """Have the system kill this process when the server dies, since nobody would watch its client any more."""
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != server:
        os._exit(1)


def _take_streams(files: list[int], settings: list[dict[str, Any]]) -> None:
    """Put `files` in the place of the standard streams."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.dup2(files[number], number)
        os.close(files[number])
        stream = _stream(number, f"<{name}>", **settings[number])
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _stream(number: int, name: str, encoding: str, errors: str, write_through: bool) -> io.TextIOWrapper:
    """Return a new standard stream, made as the interpreter does; one in use knows too much of its former file."""
    mode = "r" if number == 0 else "w"
    raw = io.FileIO(number, mode, closefd=False)
    raw.name = name
    lines = not write_through and (number == 2 or raw.isatty())
    buffer = io.BufferedReader(raw) if number == 0 else raw if write_through else io.BufferedWriter(raw)
    newline = None if number == 0 else "\n"
    stream = io.TextIOWrapper(buffer, encoding, errors, newline, line_buffering=lines, write_through=write_through)
    stream.mode = mode  # type: ignore[misc]
    return stream


def _take_on(request: dict[str, Any]) -> None:
    """Take on the client's surroundings."""
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    os.umask(request["umask"])
    sys.argv[:] = request["arguments"]
    sys.path[:] = request["path"]
    tempfile.tempdir = None  # found anew, from the environment
    atexit._clear()  # what the server has registered is the server's to do
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number in warm.FORWARDED:
        usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, signal.SIG_IGN if number in request["ignored"] else usual)


def _call(arguments: list[str], blocked: Signals) -> int:
    """Run the command, then what it has left to do at its end; return the status for the shell."""
    from probzero.__main__ import main

    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        status = main(arguments[1:])
    except SystemExit as leaving:
        status = _status(leaving.code)
    except KeyboardInterrupt:
        status = 130
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the interpreter does at its end
    atexit._run_exitfuncs()
    return status


def _status(code: object) -> int:
    """Return the status that `sys.exit(code)` gives."""
    if code is None or isinstance(code, int):
        return (code or 0) & 0xFF
    print(code, file=sys.stderr)
    return 1


def _flushed(status: int) -> int:
    """Write what is left, and if that fails, say and return what the interpreter would."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        status = FLUSH_FAILED
        with suppress(OSError, ValueError):
            print(f"Exception ignored in: {sys.stdout!r}\n{type(error).__name__}: {error}", file=sys.stderr)
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    return status
