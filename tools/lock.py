"""Write the locks: every package that `make` installs, at the versions of workflow/constraints.txt, with its hashes.

    make lock    calls uv (from pip's registry, in an environment of its own) and this file

requirements.lock       what every machine needs, torch among it
workflow/cpu.lock       the build of torch for processors alone, which `make` takes where one of pip's sources has it
workflow/cuda.lock      what the CUDA build of torch brings along, the usual one on Linux
workflow/build.lock     what builds the one package that its authors give away as source alone, and ours

Then every version of Python and every platform that we name is resolved, without installing anything: each package must
have a wheel there. Nothing in the locks names a registry; whose hash is right may come from anywhere.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = ("test", "explore", "cluster")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin")
MACOS = "14.0"  # the oldest for which torch has wheels
FROM_SOURCE = {
    "chess": PYTHONS,
    "connection-pool": PYTHONS,
    "immutables": ("3.14",),
}  # have no wheel there; the last needs a C compiler
OF_CUDA = re.compile(r"(nvidia|cuda)-")
HEAD = "# Written by `make lock` (tools/lock.py): do not edit. {}\n"


def compile_pins(uv: str, output: Path, *more: str, sources: tuple[Path, ...]) -> None:
    extras = [word for extra in EXTRAS for word in ("--extra", extra)] if sources[0].name == "pyproject.toml" else []
    command = [uv, "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--no-emit-index-url", *extras, *more]
    command += ["--constraint", str(ROOT / "workflow" / "constraints.txt"), "--output-file", str(output)]
    environment = {**os.environ, "MACOSX_DEPLOYMENT_TARGET": MACOS}
    subprocess.run([*command, *map(str, sources)], check=True, stdout=subprocess.DEVNULL, env=environment)


def blocks(text: str) -> dict[str, str]:
    """Split a lock into its packages: name and pin with all hashes."""
    found = re.findall(r"^(([A-Za-z0-9_.-]+)==(?:.*\\\n)*.*\n)", text, re.MULTILINE)
    return {name: block for block, name in found}


def for_processors(pin: str, before: Path) -> str:
    """Return the lock of torch for processors alone, 2.13.0+cpu: known hashes, and that of what pip finds."""
    name = f"{pin}+cpu"
    kept = blocks(before.read_text(encoding="utf-8")).get("torch", "")
    known = set(re.findall(r"(?<=--hash=sha256:)\w+", kept)) if kept.startswith(f"{name} ") else set()
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, name]
        subprocess.run(pip, check=False)  # where no source has it, what is known stays
        known |= {hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in Path(folder).glob("torch-*.whl")}
    return name + "".join(f" \\\n    --hash=sha256:{found}" for found in sorted(known)) + "\n" if known else ""


def lock(uv: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole, building = Path(folder, "whole.txt"), Path(folder, "build.in")
        universal = ("--universal", "--python-version", PYTHONS[0], "--generate-hashes")
        compile_pins(uv, whole, *universal, sources=(ROOT / "pyproject.toml",))
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        building.write_text("\n".join(project["build-system"]["requires"]) + "\n", encoding="utf-8")
        compile_pins(uv, Path(folder, "build.txt"), *universal, sources=(building,))
        packages = blocks(whole.read_text(encoding="utf-8"))
        of_building = blocks(Path(folder, "build.txt").read_text(encoding="utf-8"))
    alone = ROOT / "workflow" / "cpu.lock"
    processors = {"torch": for_processors(packages["torch"].split()[0], alone)}
    cuda = {name: block for name, block in packages.items() if OF_CUDA.match(name)}
    rest = {name: block for name, block in packages.items() if name not in cuda and name not in of_building}
    for path, chosen, what in (
        (ROOT / "requirements.lock", rest, "What every machine needs."),
        (alone, processors, "The build of torch for processors alone."),
        (ROOT / "workflow" / "cuda.lock", cuda, "What the CUDA build of torch brings along."),
        (ROOT / "workflow" / "build.lock", of_building, "What builds packages from source."),
    ):
        path.write_text(HEAD.format(what) + "".join(chosen.values()), encoding="utf-8")
        hashes = sum(block.count("sha256") for block in chosen.values())
        print(f"{path.relative_to(ROOT)}: {len(chosen)} packages, {hashes} hashes")


def resolve(uv: str) -> None:
    """Check that there are wheels for every version of Python and every platform."""
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("requirements.lock", "workflow/cuda.lock"))
    for python in PYTHONS:
        wheels = [name for name in blocks(text) if python not in FROM_SOURCE.get(name, ())]
        only = [word for name in wheels for word in ("--only-binary", name)]
        for platform in PLATFORMS:
            with tempfile.TemporaryDirectory() as folder:
                found = Path(folder, "found.txt")
                where = ("--python-version", python, "--python-platform", platform)
                compile_pins(uv, found, *where, *only, sources=(ROOT / "pyproject.toml",))
                count = len(re.findall(r"^[A-Za-z]", found.read_text(encoding="utf-8"), re.MULTILINE))
            print(f"Python {python} on {platform}: {count} packages resolved")


if __name__ == "__main__":
    if "--resolve" not in sys.argv:
        lock(sys.argv[1])
    resolve(sys.argv[1])
