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
PINS = [*PROJECT["dependencies"], *(pin for extra in PROJECT["optional-dependencies"].values() for pin in extra)]
EXACT = re.compile(r"^[A-Za-z0-9-]+==[0-9][^;\s]*(; sys_platform == 'linux')?$")


def test_every_dependency_is_pinned_exactly() -> None:
    assert [pin for pin in PINS if not EXACT.match(pin)] == []


def test_conda_users_get_the_same_pins() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    assert sorted(pip) == sorted(PROJECT["dependencies"])
    assert "python=3.11" in environment["dependencies"]
    assert PROJECT["requires-python"] == ">=3.11"


def test_constraints_agree_with_the_pins() -> None:
    lines = (ROOT / "workflow" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    constraints = dict(line.lower().split("==") for line in lines if not line.startswith("#"))
    for pin in PINS:
        name, version = pin.split(";")[0].lower().split("==")
        assert constraints[name] == version


LOCKS = ("requirements.lock", "workflow/cuda.lock", "workflow/build.lock")
OF_PROCESSORS = "workflow/cpu.lock"  # another build of one of those packages


def locked(*locks: str) -> dict[str, str]:
    """Version by name of every package in the locks."""
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in locks)
    return {name.lower(): version for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE)}


def test_the_lock_holds_every_pin_and_the_versions_of_the_constraints() -> None:
    """If it does not: `make lock`."""
    found = locked(*LOCKS)
    for pin in PINS:
        name, version = pin.split(";")[0].split("==")
        assert found[name.lower()] == version, "make lock"
    lines = (ROOT / "workflow" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    constraints = dict(line.split("==") for line in lines if not line.startswith("#"))
    bound = {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in constraints.items()}
    assert {name: version for name, version in found.items() if bound.get(name, version) != version} == {}
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert found["setuptools"] == whole["build-system"]["requires"][0].split("==")[1]
    assert locked(OF_PROCESSORS) == {"torch": f"{found['torch']}+cpu"}, "make lock"


def test_everything_locked_has_hashes_and_no_registry_is_named() -> None:
    for lock in (*LOCKS, OF_PROCESSORS):
        text = (ROOT / lock).read_text(encoding="utf-8")
        assert "://" not in text and "index" not in text and "find-links" not in text
        blocks = re.findall(r"^[\w.-]+==(?:.*\\\n)*.*\n", text, re.MULTILINE)
        rest = text.replace("".join(blocks), "")
        assert blocks and rest.count("\n") == 1 and rest.startswith("# Written by `make lock`")
        for block in blocks:
            assert re.fullmatch(r"\S+==\S+( ; [^\\]+)?(\s\\\n    --hash=sha256:[0-9a-f]{64})+\n", block), block[:80]


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
    named = {"cff-version", "message", "title", "authors", "version", "date-released", "license", "references"}
    assert named <= set(citation)
    (original,) = citation["references"]
    assert original["authors"] == [{"name": "Mothish M", "orcid": "https://orcid.org/0009-0007-5891-4840"}]
    assert original["doi"] == "10.5281/zenodo.18701250"
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
