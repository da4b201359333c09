"""The notebook for Kaggle and Colab runs from its first cell to the Elo figure; here on the processor."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "notebooks" / "gpu.ipynb"


def read() -> nbformat.NotebookNode:
    return nbformat.read(NOTEBOOK, as_version=4)


def test_no_output_is_committed() -> None:
    cells = [cell for cell in read().cells if cell.cell_type == "code"]
    assert len(cells) >= 6
    assert not any(cell.outputs or cell.execution_count for cell in cells)


def test_commands_of_the_notebook_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    text = "\n".join(cell.source for cell in read().cells)
    for target in ("gpu-check", "reproduce"):
        assert f'make("{target}"' in text and f"\n{target}: " in makefile
    assert "results/bench/gpu.md" in text and "--output results/bench/gpu.csv" in makefile


def copied(folder: Path) -> Path:
    """Put the files of the project there, with the environment that runs this test in the place of a new one."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("snakemake", "probzero", "pytest"):
        program = programs / name
        module = {"snakemake": "snakemake", "probzero": "probzero", "pytest": "pytest"}[name]
        program.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}/src" exec "{sys.executable}" -m {module} "$@"\n')
        program.chmod(0o755)
    (folder / ".venv" / ".installed").touch()
    return folder


@pytest.mark.slow
def test_the_notebook_runs_on_a_processor(tmp_path: Path) -> None:
    project, notebook = copied(tmp_path / "project"), read()
    settings = next(cell for cell in notebook.cells if cell.source.startswith("# A git address"))
    settings.source += f"\nFOLDER = {str(project)!r}"
    inherited = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    NotebookClient(notebook, timeout=3000, kernel_name="python3").execute(cwd=str(tmp_path), env=inherited)
    said = {cell.source.split("\n")[0]: cell.get("outputs", []) for cell in notebook.cells}
    checked = "".join(output.get("text", "") for output in said["from IPython.display import Image, Markdown, display"])
    assert "device: cuda: expected a CUDA device of this machine, found none" in checked
    shown = [output.data for output in said['seed = Path("results") / SCALE / "seed0"'] if "data" in output]
    assert any("image/png" in data for data in shown) and any("text/markdown" in data for data in shown)
