"""The files that package the work agree with each other."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import yaml

import probzero

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXACT = re.compile(r"^[A-Za-z0-9-]+==[0-9][^;\s]*(; sys_platform == 'linux')?$")


def test_every_dependency_is_pinned_exactly() -> None:
    pins = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]]
    assert [pin for pin in pins if not EXACT.match(pin)] == []


def test_conda_users_get_the_same_pins() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    assert sorted(pip) == sorted(PROJECT["dependencies"])
    assert "python=3.11" in environment["dependencies"]
    assert PROJECT["requires-python"] == ">=3.11"


def test_constraints_agree_with_the_pins() -> None:
    lines = (ROOT / "workflow" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    constraints = dict(line.lower().split("==") for line in lines if not line.startswith("#"))
    for pin in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]]:
        name, version = pin.split(";")[0].lower().split("==")
        assert constraints[name] == version


def test_kernels_are_part_of_the_package() -> None:
    from setuptools import find_packages

    found = find_packages(str(ROOT / "src"))
    assert {"probzero", "probzero.games", "probzero.kernels", "probzero.commands"} <= set(found)
    assert (ROOT / "src" / "probzero" / "kernels").resolve() == ROOT / "kernels"


def test_the_version_is_the_same_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert PROJECT["version"] == probzero.__version__ == str(citation["version"])


def test_the_citation_names_the_software_and_the_original_work() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors", "version", "license", "references"} <= set(citation)
    (original,) = citation["references"]
    assert original["authors"] == [{"name": "Mothish M"}]
    assert original["url"] == "https://github.com/chrono-motz/ProbZero"
    assert {"type", "title", "year"} <= set(original)


def test_the_licence_is_apache_2() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text and "Version 2.0, January 2004" in text and "END OF TERMS AND CONDITIONS" in text
    assert PROJECT["license"] == "Apache-2.0"


def test_help_does_not_wait_for_torch() -> None:
    code = "import sys; from probzero.__main__ import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    code += "print('torch' in sys.modules, 'pandas' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT / "src")
    assert shown.stdout.splitlines()[-1] == "False False"
    assert "selfplay" in shown.stdout


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = grimp.build_graph("probzero", exclude_type_checking_imports=True, cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(list(TopologicalSorter(imported).static_order())) == len(graph.modules) > 100


def test_ci_runs_the_test_command() -> None:
    assert "\nmake test\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
