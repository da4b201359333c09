"""What an unfinished run needs to go on elsewhere, in a small folder: packed at any moment, unpacked in another clone.

Learning goes on from one checkpoint and one optimiser file, those of the newest finished iteration k. Beside them are
packed, for each seed: the checkpoints up to k that others still wait for, the datasets that further iterations learn
from too, and, as one archive, all records and measurements so far. Older optimisers, datasets and checkpoints are not
needed again. What was going on beyond k is done again, with the same bytes, as every draw is keyed.
"""

from __future__ import annotations

import io
import lzma
import os
import shutil
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from probzero import config, files
from probzero.config import Config
from probzero.errors import bad
from probzero.origin import Origin
from probzero.report import manifest

ARCHIVE = "records.tar.xz"
KIND = "records"
OF_RUN = ("config.json", "machine.json")
MEASURED = ("matches", "truth", "certificates")  # folders of a seed, whole
OF_ITERATION = (
    "selfplay/{:04}/*.json", "selfplay/{:04}/*.csv", "training/{:04}.json", "costs/selfplay/{:04}-*.json",
    "costs/train/{:04}.json", "benchmarks/selfplay/{:04}-*.tsv", "benchmarks/train/{:04}.tsv",
)  # fmt: skip
CHECKPOINT, OPTIMIZER = "checkpoints/{:04}.safetensors", "optimizer/{:04}.safetensors"
SHARD = "selfplay/{:04}/shard{}.safetensors"


def pack(run: Path, target: Path) -> dict[int, int]:
    """Put what a run needs to go on into `target`, in the place of what was there; return newest iterations by seed.

    Every file is verified. If one is damaged or missing, `target` stays as it was."""
    settings = config.load(run / "config.json", config.PARTS)
    newest = {seed: newest_iteration(run / f"seed{seed}", settings) for seed in settings.seeds}
    new = target.with_name(f".partial-{target.name}")
    shutil.rmtree(new, ignore_errors=True)
    try:
        records = [run / name for name in OF_RUN]
        for seed, last in newest.items():
            folder = run / f"seed{seed}"
            records += _records(folder, last)
            for name in _tensors(folder, settings, last):
                manifest.origin_of(folder / name)
                (new / folder.name / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(folder / name, new / folder.name / name)
        made = Origin(command="pack", settings=settings.fingerprints(config.PARTS))
        files.write(new / ARCHIVE, _archive(run, records), KIND, made)
        shutil.rmtree(target, ignore_errors=True)
        new.replace(target)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return newest


def unpack(packed: Path, settings: Config, run: Path) -> dict[int, int]:
    """Make the run that was packed, so that it goes on; return its newest iterations by seed.

    All files get one time: Snakemake then finds nothing newer than what was made of it."""
    if run.exists():
        raise bad("run", run, "nothing there yet", "a folder; move it away, or go on with what is in it")
    found = read_records(packed / ARCHIVE, settings=settings.fingerprints(config.PARTS))
    new, now = run.with_name(f".partial-{run.name}"), time.time()
    shutil.rmtree(new, ignore_errors=True)
    try:
        shutil.copytree(packed, new, ignore=shutil.ignore_patterns(ARCHIVE, files.SEALS))
        for name, content in found.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_bytes(content)
        whole = config.load(new / "config.json", config.PARTS)  # its seeds may be others than those at hand
        newest = {seed: newest_iteration(new / f"seed{seed}", whole) for seed in whole.seeds}
        for seed, last in newest.items():
            for needed in _tensors(new / f"seed{seed}", whole, last):
                manifest.origin_of(new / f"seed{seed}" / needed)
        for path in new.rglob("*"):
            os.utime(path, (now, now))
        new.replace(run)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return newest


def newest_iteration(folder: Path, settings: Config) -> int:
    """Return the newest iteration of a seed from which learning can go on: it and all before it are finished."""
    recorded = 0
    while recorded < settings.training.iterations and all(
        (folder / name).is_file() for name in _records_of(recorded + 1, settings)
    ):
        recorded += 1
    for iteration in range(recorded, -1, -1):
        if all((folder / name.format(iteration)).is_file() for name in (CHECKPOINT, OPTIMIZER)):
            return iteration
    raise bad("run", folder, "a checkpoint and an optimiser file of one iteration", "none")


def _records_of(iteration: int, settings: Config) -> Iterator[str]:
    """Yield what every iteration leaves and the report reads."""
    yield f"training/{iteration:04}.json"
    yield f"costs/train/{iteration:04}.json"
    for shard in range(settings.selfplay.shards):
        yield f"selfplay/{iteration:04}/shard{shard}.json"
        yield f"selfplay/{iteration:04}/shard{shard}.csv"
        yield f"costs/selfplay/{iteration:04}-shard{shard}.json"


def _tensors(folder: Path, settings: Config, last: int) -> list[str]:
    """Return the checkpoints, the optimiser file and the datasets without which a seed cannot go on after `last`."""
    checkpoints = {last, *range(max(0, last - settings.selfplay.lag), last)}
    checkpoints |= {number for number in settings.arena.checkpoints if number <= last}
    half = (settings.training.iterations + 1) // 2  # where no evaluation set is given, one is of its self-play
    if not (folder / "truth" / "positions.csv").is_file():
        checkpoints |= {number for number in [max(0, half - 1 - settings.selfplay.lag)] if number <= last}
    found = [CHECKPOINT.format(number) for number in sorted(checkpoints)] + [OPTIMIZER.format(last)]
    if (folder / "checkpoints" / "ceiling.safetensors").is_file():
        found.append("checkpoints/ceiling.safetensors")
    if last < settings.training.iterations:
        first = max(1, last + 2 - settings.training.replay_window)
        shards = range(settings.selfplay.shards)
        found += [SHARD.format(number, shard) for number in range(first, last + 1) for shard in shards]
    return found


def _records(folder: Path, last: int) -> Iterator[Path]:
    """Yield all that was recorded of a seed up to `last`, and measured."""
    for iteration in range(1, last + 1):
        for pattern in OF_ITERATION:
            yield from folder.glob(pattern.format(iteration))
    for name in MEASURED:
        for place in (folder / name, folder / "benchmarks" / name):
            yield from (path for path in place.rglob("*") if path.is_file() and path.parent.name != files.SEALS)


def _archive(run: Path, records: list[Path]) -> bytes:
    """Return the records with their seals as a compressed archive; the same files give the same bytes."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(records):
            if path.suffix != ".tsv":  # Snakemake's, without a seal
                manifest.origin_of(path)
            for part in (path, files.seal_of(path)):
                if part.is_file():
                    content = part.read_bytes()
                    member = tarfile.TarInfo(part.relative_to(run).as_posix())
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))
    return lzma.compress(data.getvalue())


def read_records(path: Path, **wanted: Any) -> dict[str, bytes]:
    """Return the contents of an archive by name, verified; names are of files within the run alone."""
    data, found = files.read(path, KIND, **wanted), {}
    try:
        with tarfile.open(fileobj=io.BytesIO(lzma.decompress(data))) as archive:
            for member in archive:
                name, content = PurePosixPath(member.name), archive.extractfile(member)
                if content is None or name.is_absolute() or ".." in name.parts:
                    raise bad(KIND, f"{path}: {member.name!r}", "a file within the run", "another thing")
                found[member.name] = content.read()
    except (lzma.LZMAError, tarfile.TarError, EOFError, ValueError, KeyError) as error:
        raise bad(KIND, path, "a whole archive", " ".join(str(error).split())) from None
    return found
