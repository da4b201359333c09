"""What a run was made on: versions of the libraries that its numbers depend on, the commit, and the processor."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from probzero import files
from probzero.errors import bad

LIBRARIES = ("matplotlib", "numba", "numpy", "pandas", "safetensors", "scipy", "torch", "typst")
KIND = "machine"
SOURCE, UNKNOWN = Path(__file__).parent, "unknown"


def describe() -> dict[str, str]:
    """Return versions, the commit among them, and processor, a line each."""
    versions = [f"python {platform.python_version()}", *(f"{name} {version(name)}" for name in LIBRARIES)]
    versions.append(f"probzero {commit()}")
    return {"versions": ", ".join(versions), "processor": processor()}


def commit() -> str:
    """Return the commit of the code at hand, with a mark if files differ from it; unknown where there is no git."""
    try:
        asked = [("rev-parse", "HEAD"), ("status", "--porcelain", "--untracked-files=no")]
        head, changes = (
            subprocess.run(["git", *words], cwd=SOURCE, capture_output=True, text=True, check=True).stdout.strip()
            for words in asked
        )
    except (OSError, subprocess.CalledProcessError):
        return UNKNOWN
    return f"{head}+changes" if changes else head


def read(path: str | Path) -> dict[str, str]:
    """Return versions and processor from the file of a run."""
    found = files.read_json(path, KIND)
    if not isinstance(found, dict) or sorted(found) != ["processor", "versions"]:
        raise bad(KIND, path, "an object of versions and processor", type(found).__name__)
    for name, text in found.items():
        if not isinstance(text, str) or not text.isprintable():
            raise bad(KIND, f"{path}: {name}", "a line of text", repr(text))
    return found


def processor() -> str:
    """Return the processor's name and what kind of code the compiler makes for it."""
    from llvmlite import binding  # here, because most jobs do without

    names = [line.partition(":")[2].strip() for line in _cpuinfo() if line.startswith("model name")]
    return f"{names[0] if names else platform.processor() or platform.machine()} ({binding.get_host_cpu_name()})"


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
