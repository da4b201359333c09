"""A warm server: one process that has imported everything and forks a child for each command of the command line.

Importing torch and reading compiled code takes seconds, and a short job spends much of its time on that. With
PROBZERO_WARM set to a folder, `python -m probzero …` is a light client (`client`): it hands its arguments, environment,
folder and standard streams to a server (`server`) through a socket in that folder, starts one if there is none, and
ends as the job ended. The server's child that does the job (`job`) takes on all that the client is, so that the job
cannot tell the difference. If anything is amiss before the job has begun, the client does it itself.

PROBZERO_WARM        folder of sockets and logs, short enough for a socket's path; made with mode 0700. Empty: no server
PROBZERO_WARM_OWNER  process on whose behalf the jobs run; a server ends when all owners it heard of are gone
PROBZERO_WARM_IDLE   seconds without a job after which a server ends (60)
PROBZERO_WARM_DEBUG  if set, a client that does its job itself says why

Clients import this package: nothing heavy here.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import site
import sys
from typing import Any

FOLDER, OWNER, IDLE, DEBUG = (f"PROBZERO_WARM{end}" for end in ("", "_OWNER", "_IDLE", "_DEBUG"))
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LARGEST = 1 << 20  # bytes of a message; the system allows less, and says so to the sender
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)

# Variables that libraries read while they are loaded, when it is too late for a child to set them.
_LOADED = ("ATEN_", "CUDA", "DNNL_", "GOMP_", "GOTO_", "HIP_", "HOME", "KMP_", "LANG", "LC_", "LD_", "MALLOC_", "MKL_",
           "MPL", "NUMBA_", "NUMEXPR_", "NVIDIA_", "OMP_", "ONEDNN_", "OPENBLAS_", "PANDAS_", "PYTHON", "PYTORCH_",
           "ROCR_", "TORCH", "TQDM_", "TRITON_", "TZ", "VECLIB_", "XDG_CONFIG_")  # fmt: skip


def identity() -> str:
    """Return a short name of the server that may do this process's job.

    It depends on all that a child inherits from its server and cannot change: the interpreter, the source as it is now,
    the installed packages, the variables that libraries read while loading, and the limits set by the system.
    """
    parts = [
        [sys.executable, sys.prefix, sys.version, list(sys.flags), sys.warnoptions],
        [PACKAGE, _sources(PACKAGE)],
        [(path, os.stat(path).st_mtime_ns) for path in site.getsitepackages() if os.path.isdir(path)],
        sorted(item for item in os.environ.items() if item[0].startswith(_LOADED)),
        _limits(),
    ]
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()


def _sources(folder: str) -> list[tuple[str, int, int]]:
    """Return path, time of change and size of every source file and schema."""
    paths = [os.path.join(at, name) for at, _, names in os.walk(folder, followlinks=True) for name in names]
    found = [(path, os.stat(path)) for path in sorted(paths) if path.endswith((".py", ".yaml"))]
    return [(path, status.st_mtime_ns, status.st_size) for path, status in found]


def _limits() -> list[Any]:
    """Return where and how this process may run: machine, control group, processors, priority, limits."""
    with open("/proc/self/cgroup", encoding="utf-8") as group:
        groups = group.read()
    limits = [resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")]
    return [os.uname().nodename, groups, sorted(os.sched_getaffinity(0)), os.nice(0), limits]


def encode(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode("ascii")
