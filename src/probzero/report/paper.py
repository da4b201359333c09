"""The paper of a run, compiled from its tables and figures without a network connection.

Beside the run it may be given a finished study, the table of verdicts on the published claims, and the folder of
committed results, which says on what machine and in what time they were made; of each that it is not given, it says so.
The Snakefile asks this module which files a paper reads, so it imports nothing beyond the standard library.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from probzero.errors import bad

SOURCE = Path(__file__).parents[3] / "paper" / "paper.typ"
TABLES = ("ratings", "differences", "pairings", "model", "truth", "errors", "calibration", "reliability", "perfect",
          "certificates", "blunders", "selfplay", "training")  # fmt: skip
FIGURES = ("elo", "truth", "errors", "reliability")
FOLDERS = {"tables": "table", "figures": "figure"}  # kinds of the files in them
KINDS = {"config.json": "configuration", "positions.csv": "evaluation set", "ceiling.json": "metrics",
         "verdicts.csv": "table", "growth.csv": "table", "machine.json": "machine"}  # fmt: skip
STUDY_TABLES = ("final", "elo", "ablations", "accounting", "efficiency")
STUDY_FIGURES = ("study_truth", "study_ablations")
DEFAULT = "laptop"  # the committed run whose machine is named


class Beside(NamedTuple):
    """What a paper may be given beside its run."""

    study: Path | None = None  # the folder of a finished study
    verdicts: Path | None = None  # the table of verdicts
    committed: Path | None = None  # the folder of committed results


ALONE = Beside()


def run_files(folder: Path, seed: int) -> list[Path]:
    """Return the files of a run that the paper reads."""
    part = folder / f"seed{seed}"
    return [
        folder / "config.json",
        part / "truth" / "positions.csv",
        part / "truth" / "ceiling.json",
        *(part / "tables" / f"{table}.csv" for table in TABLES),
        *(part / "figures" / f"{figure}.pdf" for figure in FIGURES),
    ]


def study_files(folder: Path) -> list[Path]:
    """Return the files of a study that the paper reads."""
    return [
        folder / "config.json",
        folder / "positions.csv",
        *(folder / "tables" / f"{table}.csv" for table in STUDY_TABLES),
        *(folder / "figures" / f"{figure}.pdf" for figure in STUDY_FIGURES),
    ]


def committed_files(results: Path) -> list[Path]:
    """Return the files that say on what machine, with what memory and in what time the committed results were made."""
    reference = results / "reference"
    return [
        results / "bench" / "growth.csv",
        reference / DEFAULT / "machine.json",
        *sorted(reference.glob("*/seed*/tables/costs.csv")),  # of runs
        *sorted(reference.glob("*/tables/costs.csv")),  # of studies
    ]


def kind_of(path: Path) -> str:
    """Return what kind of file stands at a path that the paper reads."""
    return FOLDERS.get(path.parent.name) or KINDS[path.name]


def settings(folder: Path, seed: int, beside: Beside = ALONE) -> dict[str, Any]:
    """Return what typst has to be told. Fonts are those inside typst, so that the bytes are the same everywhere.

    typst reads nothing outside its root: the closest folder that holds the paper's source and all that it reads.
    """
    source = SOURCE.resolve()
    given = {"run": folder, **{name: path for name, path in beside._asdict().items() if path}}
    paths = {name: path.resolve() for name, path in given.items()}
    root = Path(os.path.commonpath([source, *paths.values()]))
    inputs = {name: f"/{path.relative_to(root).as_posix()}" for name, path in paths.items()}
    if beside.committed:
        costs = [path for path in committed_files(paths["committed"]) if path.name == "costs.csv"]
        inputs["costs"] = json.dumps([f"/{path.relative_to(root).as_posix()}" for path in costs])
    return {"input": source, "root": root, "ignore_system_fonts": True, "sys_inputs": {**inputs, "seed": str(seed)}}


def compile_pdf(folder: Path, seed: int, beside: Beside = ALONE) -> bytes:
    """Return the paper of a run, of files that were checked (`paper_inputs`); the same files give the same bytes."""
    import typst  # here, because the Snakefile does without it

    if not SOURCE.is_file():
        raise bad("paper", SOURCE, "a file", "nothing")
    try:
        return typst.compile(**settings(folder, seed, beside), format="pdf")
    except typst.TypstError as error:  # a table that lacks a row
        where = " or ".join(map(str, [folder, *filter(None, beside)]))
        raise bad("paper", where, "tables and figures of a finished run", error.message) from None
