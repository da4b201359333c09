"""What is committed of a finished run or study: all that its tables, figures and tournament can be checked by.

Self-play data, optimiser states, logs and checkpoints that met nobody are left behind: the workflow makes them anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from probzero import config, files
from probzero.errors import bad
from probzero.report import manifest

OF_RUN = (
    "config.json", "machine.json", "seed*/tables/*", "seed*/figures/*", "seed*/matches/*", "seed*/truth/**/*",
    "seed*/certificates/*.csv",
)  # fmt: skip
OF_STUDY = (
    "config.json", "machine.json", "positions.csv", "tables/*", "figures/*", "seed*/tables/*", "seed*/matches/*",
    "*/seed*/measures.csv", "*/seed*/costs.csv",
)  # fmt: skip
IF_THERE = ("paper.pdf", "cost.csv", "cost.md", "seed*/checkpoints/ceiling.safetensors", "published/*")


def keep(run: Path, target: Path) -> int:
    """Put what is committed of a run or study into `target`, in the place of what was there; return the files' number.

    Every file is verified. If one is missing or damaged, `target` stays as it was."""
    new = target.with_name(f".partial-{target.name}")
    shutil.rmtree(new, ignore_errors=True)
    try:
        for name in committed(run):
            for path in (name, files.seal_of(name)):
                if (run / path).is_file():
                    (new / path).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(run / path, new / path)
        count = len(manifest.write_manifest(new))
        shutil.rmtree(target, ignore_errors=True)
        new.replace(target)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return count


def committed(run: Path) -> list[Path]:
    """Return the files to commit, relative to the run's folder."""
    settings = files.read_json(run / "config.json", config.KIND)
    study = "variants" in settings
    patterns = OF_STUDY if study else (*OF_RUN, *_tournament(settings))
    found = {name for pattern in patterns for name in _matching(run, pattern, needed=True)}
    found |= {name for pattern in IF_THERE for name in _matching(run, pattern, needed=False)}
    return sorted(found)


def _tournament(settings: dict) -> Iterator[str]:
    for iteration in settings["arena"]["checkpoints"]:
        yield f"seed*/checkpoints/{iteration:04}.safetensors"
    yield f"seed*/certificates/iteration-{settings['arena']['checkpoints'][-1]:04}.json.gz"


def _matching(run: Path, pattern: str, needed: bool) -> list[Path]:
    found = [path.relative_to(run) for path in run.glob(pattern) if path.is_file() and path.parent.name != files.SEALS]
    if (
        needed and not found and not pattern.startswith(("seed*/truth", "seed*/certificates"))
    ):  # a game without a solver has none
        raise bad("run", run / pattern, "the files of a finished run", "none")
    return found
