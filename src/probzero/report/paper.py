"""The paper of a run, compiled from its tables and figures without a network connection.

If a finished study is named, the paper has a section on it; if not, it says that it has none. The Snakefile asks
this module which files a paper reads, so it imports nothing beyond the standard library.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from probzero.errors import bad

SOURCE = Path(__file__).parents[3] / "paper" / "paper.typ"
TABLES = ("ratings", "differences", "pairings", "model", "truth", "errors", "calibration", "reliability", "perfect",
          "blunders", "selfplay", "training")  # fmt: skip
FIGURES = ("elo", "truth", "errors", "reliability")
FOLDERS = {"tables": "table", "figures": "figure"}  # kinds of the files in them
STUDY_TABLES = ("final", "elo", "ablations", "accounting", "efficiency")
STUDY_FIGURES = ("study_truth", "study_ablations")


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


def kind_of(path: Path) -> str:
    """Return what kind of file stands at a path that the paper reads."""
    if path.parent.name in FOLDERS:
        return FOLDERS[path.parent.name]
    return {"config.json": "configuration", "positions.csv": "evaluation set", "ceiling.json": "metrics"}[path.name]


def settings(folder: Path, seed: int, study: Path | None = None) -> dict[str, Any]:
    """Return what typst has to be told. Fonts are those inside typst, so that the bytes are the same everywhere.

    typst reads nothing outside its root: the closest folder that holds the paper's source and all that it reads.
    """
    source = SOURCE.resolve()
    folders = {"run": folder.resolve(), **({"study": study.resolve()} if study else {})}
    root = Path(os.path.commonpath([source, *folders.values()]))
    inputs = {name: f"/{path.relative_to(root).as_posix()}" for name, path in folders.items()}
    return {"input": source, "root": root, "ignore_system_fonts": True, "sys_inputs": {**inputs, "seed": str(seed)}}


def compile_pdf(folder: Path, seed: int, study: Path | None = None) -> bytes:
    """Return the paper of a run, of files that were checked (`paper_inputs`); the same files give the same bytes."""
    import typst  # here, because the Snakefile does without it

    if not SOURCE.is_file():
        raise bad("paper", SOURCE, "a file", "nothing")
    try:
        return typst.compile(**settings(folder, seed, study), format="pdf")
    except typst.TypstError as error:  # a table that lacks a row
        where = " or ".join(map(str, [folder, *([study] if study else [])]))
        raise bad("paper", where, "tables and figures of a finished run", error.message) from None
