"""The server: listens, forks a child for each job, tells clients how it ended, and ends itself when not needed."""

from __future__ import annotations

import gc
import json
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any, cast

from probzero import warm
from probzero.warm import job, preload
from probzero.warm.preload import say

SLOWEST = 600  # seconds to get ready, for a computer that has to compile first; then something hangs
TICK = 1.0  # seconds between looks at the clock and at the owners
GRACE = 1.0  # seconds between asking a job to end and making it
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(path: str) -> None:
    """Serve at the socket `path`, in the background; the standard streams are the log, which is locked."""
    if os.fork():
        os._exit(0)  # whoever started this waits no longer
    os.ftruncate(1, 0)
    os.umask(0o077)
    os.chdir("/")
    signal.alarm(SLOWEST)
    prepare = preload.everything(os.path.dirname(path))
    if not _alone():
        return say("other threads are running, and would be missing in a child: not serving")
    server = Server(path, prepare)
    signal.alarm(0)
    gc.freeze()  # else the first collection in each child copies every page
    server.serve()


def _alone() -> bool:
    """Return whether a child would miss no thread. OpenBLAS ends its own before a fork, so there has to be one."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return len(os.listdir("/proc/self/task")) == 1


@dataclass
class Job:
    pid: int
    connection: socket.socket
    killed: float | None = None  # when to kill it, once it has been asked to end

    def send(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def send_all(self, number: int) -> None:
        """Send a signal to the job and to whatever it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def end(self) -> None:
        if self.killed is None:
            self.send_all(signal.SIGTERM)
            self.killed = time.monotonic() + GRACE


class Server:
    def __init__(self, path: str, prepare: Callable[[], None]) -> None:
        self.path, self.prepare = path, prepare
        self.jobs: dict[int, Job] = {}
        self.owners = _owner(os.environ)
        self.stopping = False
        self.idle = float(os.environ.get(warm.IDLE) or 60)
        self.busy_at = time.monotonic()
        self.selector = selectors.DefaultSelector()
        self.woken, self.wake = socket.socketpair()
        for end in (self.woken, self.wake):
            end.setblocking(False)
        signal.set_wakeup_fd(self.wake.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # the call wakes the loop
        for number in ENDING:
            signal.signal(number, self._stop)
        with suppress(FileNotFoundError):
            os.unlink(path)  # of a server that was killed: this one holds the lock
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(path)
        self.listener.listen(128)
        self.inode = os.stat(path).st_ino
        self.listener.setblocking(False)
        self.selector.register(self.woken, selectors.EVENT_READ, self._wake_up)
        self.selector.register(self.listener, selectors.EVENT_READ, self._accept)

    def _stop(self, number: int, _: FrameType | None) -> None:
        self.stopping = True

    def serve(self) -> None:
        say(f"ready: process {os.getpid()}")
        while self._wanted():
            hurry = any(running.killed for running in self.jobs.values())
            for key, _ in self.selector.select(GRACE / 10 if hurry else TICK):
                key.data()
            self._reap()
            for running in self.jobs.values():
                if self.stopping:
                    running.end()
                if running.killed is not None and time.monotonic() > running.killed:
                    running.send_all(signal.SIGKILL)
        if self._reachable():
            os.unlink(self.path)
        say("ended")

    def _wanted(self) -> bool:
        now = time.monotonic()
        if self.jobs:
            self.busy_at = now
            return True
        gone = self.owners and not any(_alive(owner) for owner in self.owners)
        return not (self.stopping or gone or now - self.busy_at > self.idle) and self._reachable()

    def _reachable(self) -> bool:
        """Return whether the socket is still where clients look; somebody may have cleaned up."""
        try:
            return os.stat(self.path).st_ino == self.inode
        except OSError:
            return False

    def _accept(self) -> None:
        with suppress(BlockingIOError, ConnectionAbortedError):
            connection, _ = self.listener.accept()
            connection.setblocking(False)
            with suppress(OSError):
                connection.send(warm.encode({"welcome": os.getpid()}))
            self.selector.register(connection, selectors.EVENT_READ, lambda: self._begin(connection))

    def _hang_up(self, connection: socket.socket) -> None:
        self.selector.unregister(connection)
        connection.close()

    def _begin(self, connection: socket.socket) -> None:
        """Read a job and start it. A client that has not been told so knows that its job has not begun."""
        files: list[int] = []
        try:
            text, files, flags, _ = socket.recv_fds(connection, warm.LARGEST, 3)
            if not text or self.stopping or _gone(connection):
                return self._hang_up(connection)
            if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC) or len(files) != 3:
                raise ValueError("incomplete")
            self._fork(connection, json.loads(text), files)
        except (OSError, ValueError) as error:
            say(f"refused a job: {error}")
            with suppress(OSError):
                connection.send(warm.encode({"refused": str(error)}))
            self._hang_up(connection)
        finally:
            for file in files:
                os.close(file)

    def _fork(self, connection: socket.socket, request: dict[str, Any], files: list[int]) -> None:
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # until the child has its handlers
        try:
            server = os.getpid()
            child = os.fork()
            if child == 0:
                job.run(request, files, server, blocked, self._leave)  # never returns
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        with suppress(OSError):  # the child does the same; whoever comes first
            os.setpgid(child, child)
        running = self.jobs[child] = Job(child, connection)
        self.selector.modify(connection, selectors.EVENT_READ, lambda: self._listen(running))
        with suppress(OSError):  # a client that is gone is noticed in the next round
            connection.send(warm.encode({"begun": child}))
        self.owners |= _owner(request["environment"])
        say(f"{child} began: {' '.join(request['arguments'][1:2])}")

    def _leave(self) -> None:
        """Let go of all that is the server's: called in a child."""
        signal.set_wakeup_fd(-1)
        watched = [cast(socket.socket, key.fileobj) for key in self.selector.get_map().values()]
        self.selector.close()
        for owned in (*watched, *(running.connection for running in self.jobs.values()), self.wake):
            owned.close()
        self.prepare()

    def _listen(self, running: Job) -> None:
        """Pass on a signal from the client, or end the job of a client that is gone."""
        try:
            text = running.connection.recv(warm.LARGEST)
        except OSError:
            text = b""
        if text:
            return running.send(json.loads(text)["signal"])
        say(f"{running.pid} lost its client")
        self.selector.unregister(running.connection)
        running.end()

    def _wake_up(self) -> None:
        with suppress(BlockingIOError):
            while self.woken.recv(4096):
                pass

    def _reap(self) -> None:
        """Tell the clients of jobs that have ended how they did."""
        while self.jobs:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child == 0:
                return
            running, code = self.jobs.pop(child), os.waitstatus_to_exitcode(status)
            with suppress(OSError):
                running.connection.send(warm.encode({"status": code}))
            with suppress(KeyError):
                self.selector.unregister(running.connection)
            running.connection.close()
            say(f"{child} ended: {code}")


def _gone(connection: socket.socket) -> bool:
    """Return whether the other side has hung up: a client that has waited too long does its job itself."""
    try:
        return not connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False


def _owner(environment: Mapping[str, str]) -> set[int]:
    number = environment.get(warm.OWNER, "")
    return {int(number)} if number.isdecimal() else set()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
