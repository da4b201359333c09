"""What is committed of a finished run or study: all that its tables, figures and tournament can be checked by.

Self-play data, optimiser states, logs and checkpoints that met nobody are left behind: the workflow makes them anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from probzero import config, files, machine, study, tournament
from probzero.config import Config
from probzero.errors import bad
from probzero.report import manifest
from probzero.study import Study
from probzero.tournament import Tournaments

OF_SEED = ("tables/*", "figures/*", "matches/*")
OF_VERDICTS = (
    "verdicts.*",
    "outcomes.safetensors",
    "picks.*",
    "openings.*",
)  # what studies together led to has no record of its own
OF_STUDY = ("positions.csv", "tables/*", "figures/*")
IF_THERE = (
    "seed*/certificates/*.csv",
    "*/figures/*",  # of tournaments; runs and studies must have theirs
    "paper.pdf",
    "explore.html",
    "cost.csv",
    "cost.md",
    "published/*",
    "problems/**/*",
    "endings/*",
    "opponents/*",  # records of matches against programs of others, and between runs
)
CEILINGS = "seed*/checkpoints/ceiling.safetensors"  # where a run trained its own; a given one is committed elsewhere
CHECKPOINTS_OF_STUDY = 12_000_000  # bytes: see docs/files.md


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
    names = {name for pattern in ("machine.json", *_needed(run)) for name in _matching(run, pattern)}
    trained = [CEILINGS] if _has_a_ceiling_to_keep(run) else []
    names |= {name for pattern in (*IF_THERE, *trained) for name in _matching(run, pattern, needed=False)}
    return sorted(names)


def _has_a_ceiling_to_keep(run: Path) -> bool:
    if not (run / "config.json").is_file():
        return True
    found = read_record(run / "config.json")
    return not isinstance(found, Config) or (_keeps_its_networks(found) and not found.truth.ceiling)


def _keeps_its_networks(settings: Config) -> bool:
    """Return whether all networks are kept that a run is told by; of games that are not solved it is the last alone."""
    return settings.game.entry.certifiable(**settings.game.options)


def _needed(run: Path) -> Iterator[str]:
    """Yield what must be there, by patterns of names."""
    if not (run / "config.json").is_file() and (run / "verdicts.csv").is_file():
        yield from OF_VERDICTS
        return
    yield "config.json"
    found = read_record(run / "config.json")
    if isinstance(found, Study):
        yield from _of_study(found, run)
    else:
        yield from _of_run(found) if isinstance(found, Config) else _of_tournaments(found)


def read_record(path: Path) -> Config | Study | Tournaments:
    """Return the settings of a run, a study or tournaments from their record."""
    raw = files.read_json(path, config.KIND)
    keys = raw if isinstance(raw, dict) else {}
    parse = study.parse if "variants" in keys else tournament.parse if "tournaments" in keys else config.parse
    return parse(raw, str(path))


def _of_run(settings: Config) -> Iterator[str]:
    """Yield what every seed of a run must have left: one that lacks such a checkpoint is not finished."""
    entry, options = settings.game.entry, settings.game.options
    measured: tuple[str, ...] = ("truth/**/*",) if entry.solvable(**options) else ()
    if entry.certifiable(**options):
        measured += ("certificates/*.csv", f"certificates/iteration-{settings.arena.checkpoints[-1]:04}.json.gz")
    networks = settings.arena.checkpoints if _keeps_its_networks(settings) else settings.arena.checkpoints[-1:]
    for seed in settings.seeds:
        yield from (f"seed{seed}/{pattern}" for pattern in (*OF_SEED, *measured))
        yield from (f"seed{seed}/{_checkpoint(iteration)}" for iteration in networks)


def _of_study(found: Study, run: Path) -> Iterator[str]:
    yield from OF_STUDY
    for seed in found.seeds:
        yield from (f"seed{seed}/tables/*", f"seed{seed}/matches/*")
        names = [name for name in found.variants if seed in found.seeds_of(name)]
        yield from (f"{name}/seed{seed}/{kind}.csv" for name in names for kind in ("measures", "costs"))
    yield from _small_tournaments(found, run)


def _of_tournaments(found: Tournaments) -> Iterator[str]:
    """Yield games, tables and measurements; the networks are elsewhere, and made anew from there."""
    for name in found.players:
        yield from (f"{name}/tables/*", f"{name}/matches/*")
    if found.measured:
        yield from ("tables/*", "positions.csv")
        for name in found.networks:
            yield from (f"truth/{name}/*.csv", f"certificates/{name}.csv")


def _small_tournaments(found: Study, run: Path) -> Iterator[str]:
    """Yield the last checkpoints of the first seeds, as many whole seeds as are small together."""
    learners = {name: settings for name, settings in found.variants.items() if found.learns(name)}
    room = CHECKPOINTS_OF_STUDY
    for seed in found.seeds:
        names = [
            f"{name}/seed{seed}/{_checkpoint(part.training.iterations)}"
            for name, part in learners.items()
            if seed in part.seeds
        ]
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
