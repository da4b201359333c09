"""What a run was made on: versions of the libraries that its numbers depend on, and the processor."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path

from probzero import files
from probzero.errors import bad

LIBRARIES = ("matplotlib", "numba", "numpy", "pandas", "safetensors", "scipy", "torch", "typst")
KIND = "machine"


def describe() -> dict[str, str]:
    """Return versions and processor, a line each."""
    versions = [f"python {platform.python_version()}", *(f"{name} {version(name)}" for name in LIBRARIES)]
    return {"versions": ", ".join(versions), "processor": processor()}


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
