"""Conda users: the Snakefile is read with Snakemake alone, and every job takes the Python that is meant for it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from stand_in_conda import StandInConda
from test_workflow import DEADLINE, ROOT, SMOKE, planned

from probzero import config

TARGET = "results/smoke/config.json"  # of a job that takes no time: probzero config
FOREIGN = ["matplotlib", "numba", "numpy", "pandas", "probzero", "safetensors", "scipy", "torch", "typst"]


def snakemake(
    python: str | Path, folder: Path, variables: dict[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    line = [str(python), "-m", "snakemake", "--cores", "2", "--nocolor", "--snakefile", str(ROOT / "Snakefile")]
    return subprocess.run(
        [*line, "--directory", str(folder), *arguments],
        env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=DEADLINE,
    )  # fmt: skip


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a virtual environment with the pinned Snakemake, all that it requires, and nothing else."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    names, found = ["snakemake"], set()
    while names:
        name = re.sub(r"[-_.]+", "-", names.pop()).lower()
        if name in found:
            continue
        found.add(name)
        needed = map(Requirement, distribution(name).requires or [])
        names += [one.name for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})]
        for top in {path.parts[0] for path in distribution(name).files or []} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(distribution(name).locate_file(top))
    return folder / "bin" / "python"


@pytest.fixture
def conda(tmp_path: Path) -> StandInConda:
    return StandInConda(tmp_path / "conda")


def test_the_bare_environment_is_bare(bare: Path) -> None:
    asked = f"from importlib.util import find_spec; print([name for name in {FOREIGN} if find_spec(name)])"
    shown = subprocess.run([bare, "-I", "-c", asked], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "configfiles",
    [
        [],
        ["smoke"],
        ["connect-four"],
        ["othello4"],
        ["go5"],
        ["study", "study-smoke"],
        *(pytest.param([name], marks=pytest.mark.slow) for name in ("paper", "study", "settings")),  # only longer
    ],
    ids=lambda names: "+".join(names) or "default",
)
def test_the_snakefile_is_read_with_snakemake_alone(
    configfiles: list[str], bare: Path, conda: StandInConda, tmp_path: Path
) -> None:
    chosen = ["--configfile", *(str(ROOT / "config" / f"{name}.yaml") for name in configfiles)] if configfiles else []
    variables = conda.environment(dict(os.environ), active=False)
    shown = snakemake(bare, tmp_path, variables, "--dry-run", "--use-conda", "--quiet", "rules", *chosen)
    jobs = planned(shown)
    assert jobs["selfplay"] > 1 and jobs["train"] > 1
    assert "environment.yml will be created" in shown.stdout


@pytest.mark.parametrize("active", [False, True], ids=["none active", "another active"])
def test_with_conda_a_job_takes_the_python_made_for_it(active: bool, conda: StandInConda, tmp_path: Path) -> None:
    variables = conda.environment(dict(os.environ), active)
    variables |= {"PYTHONPATH": "/of/the/user", "PIP_CONSTRAINT": "/of/the/user.txt"}
    shown = snakemake(sys.executable, tmp_path, variables, TARGET, "--configfile", str(SMOKE), "--use-conda")
    assert shown.returncode == 0, shown.stdout
    prefix, no_user_site, path = (tmp_path / TARGET).read_text(encoding="utf-8").splitlines()
    assert Path(prefix).parent == tmp_path / ".snakemake" / "conda"
    assert no_user_site == "1"
    assert path == str(ROOT / "src")
    constraints = Path(prefix, "constraint").read_text(encoding="utf-8").split()
    assert constraints == ["/of/the/user.txt", (ROOT / "workflow" / "constraints.txt").as_uri()]


@pytest.mark.parametrize("active", [False, True], ids=["none active", "another active"])
def test_without_conda_a_job_takes_the_python_of_snakemake(active: bool, conda: StandInConda, tmp_path: Path) -> None:
    variables = conda.environment(dict(os.environ), active)
    shown = snakemake(sys.executable, tmp_path, variables, TARGET, "--configfile", str(SMOKE))
    assert shown.returncode == 0, shown.stdout
    assert json.loads((tmp_path / TARGET).read_text(encoding="utf-8")) == config.load(SMOKE).as_dict()


def test_in_an_activated_environment_a_job_takes_its_python(bare: Path, conda: StandInConda, tmp_path: Path) -> None:
    """The environment holds Snakemake too: it is marked as conda's, and its `python` tells who it is."""
    prefix = tmp_path / "probzero"
    shutil.copytree(bare.parent.parent, prefix, symlinks=True)
    (prefix / "conda-meta").mkdir()
    interpreter = prefix / "bin" / "interpreter"
    interpreter.symlink_to(bare.resolve())
    (prefix / "bin" / "python").unlink()
    shutil.copy(conda.active / "bin" / "python", prefix / "bin" / "python")
    shown = snakemake(
        interpreter, tmp_path, conda.environment(dict(os.environ), active=True), TARGET,
        "--configfile", str(SMOKE),
    )  # fmt: skip
    assert shown.returncode == 0, shown.stdout
    assert (tmp_path / TARGET).read_text(encoding="utf-8").splitlines()[:2] == [str(prefix), "1"]
