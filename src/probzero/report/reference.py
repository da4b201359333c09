"""What is committed of a finished run or study: all that its tables, figures and tournament can be checked by.

Self-play data, optimiser states, logs and checkpoints that met nobody are left behind: the workflow makes them anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from probzero import config, files, machine, study
from probzero.config import Config
from probzero.errors import bad
from probzero.report import manifest
from probzero.study import Study

OF_SEED = ("tables/*", "figures/*", "matches/*")
OF_STUDY = ("positions.csv", "tables/*", "figures/*")
IF_THERE = ("paper.pdf", "cost.csv", "cost.md", "seed*/checkpoints/ceiling.safetensors", "published/*")
CHECKPOINTS_OF_STUDY = 18_000_000  # bytes: see docs/files.md


def keep(run: Path, target: Path) -> int:
    """Put what is committed of a run or study into `target`, in the place of what was there; return the files' number.

    Every file is verified. If one is missing or damaged, `target` stays as it was."""
    names = committed(run)
    for name in names:
        manifest.origin_of(run / name)  # which verifies it
    machine.read(run / manifest.MACHINE)
    new = target.with_name(f".partial-{target.name}")
    shutil.rmtree(new, ignore_errors=True)
    try:
        for name in names:
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
    found = read_record(run / "config.json")
    needed = _of_run(found) if isinstance(found, Config) else _of_study(found, run)
    names = {name for pattern in ("config.json", "machine.json", *needed) for name in _matching(run, pattern)}
    names |= {name for pattern in IF_THERE for name in _matching(run, pattern, needed=False)}
    return sorted(names)


def read_record(path: Path) -> Config | Study:
    """Return the settings of a run or a study from its record."""
    raw = files.read_json(path, config.KIND)
    is_study = isinstance(raw, dict) and "variants" in raw
    return study.parse(raw, str(path)) if is_study else config.parse(raw, str(path))


def _of_run(settings: Config) -> Iterator[str]:
    """Yield what every seed of a run must have left: one that lacks a checkpoint of the tournament is not finished."""
    last = f"certificates/iteration-{settings.arena.checkpoints[-1]:04}.json.gz"
    solvable = settings.game.entry.solvable(**settings.game.options)
    measured = ("truth/**/*", "certificates/*.csv", last) if solvable else ()
    for seed in settings.seeds:
        yield from (f"seed{seed}/{pattern}" for pattern in (*OF_SEED, *measured))
        yield from (f"seed{seed}/{_checkpoint(iteration)}" for iteration in settings.arena.checkpoints)


def _of_study(found: Study, run: Path) -> Iterator[str]:
    yield from OF_STUDY
    for seed in found.seeds:
        yield from (f"seed{seed}/tables/*", f"seed{seed}/matches/*")
        yield from (f"{name}/seed{seed}/{kind}.csv" for name in found.variants for kind in ("measures", "costs"))
    yield from _small_tournaments(found, run)


def _small_tournaments(found: Study, run: Path) -> Iterator[str]:
    """Yield the last checkpoints of the first seeds, as many whole seeds as are small together."""
    learners = {name: settings for name, settings in found.variants.items() if found.learns(name)}
    room = CHECKPOINTS_OF_STUDY
    for seed in found.seeds:
        names = [f"{name}/seed{seed}/{_checkpoint(part.training.iterations)}" for name, part in learners.items()]
        room -= sum((run / path).stat().st_size for name in names for path in _matching(run, name))
        if room < 0:
            return
        yield from names


def _checkpoint(iteration: int) -> str:
    return f"checkpoints/{iteration:04}.safetensors"


def _matching(run: Path, pattern: str, needed: bool = True) -> list[Path]:
    found = [path.relative_to(run) for path in run.glob(pattern) if path.is_file() and path.parent.name != files.SEALS]
    if needed and not found:
        raise bad("run", run / pattern, "the files of a finished run", "none")
    return found
