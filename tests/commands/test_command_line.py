"""The command line: no command waits for libraries it does not need."""

from __future__ import annotations

import gc
import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def test_a_command_runs_with_the_garbage_collector_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[bool, bool]] = []
    command: Any = ModuleType("probzero.commands.config")
    command.add_arguments = lambda parser: seen.append((gc.isenabled(), False))
    command.run = lambda args: seen.append((gc.isenabled(), gc.get_freeze_count() > 0))
    monkeypatch.setitem(sys.modules, command.__name__, command)
    monkeypatch.delitem(sys.modules, "probzero.__main__", raising=False)
    monkeypatch.setattr(sys, "argv", ["probzero", "config"])
    try:
        with pytest.raises(SystemExit) as ended:
            runpy.run_module("probzero", run_name="__main__", alter_sys=False)
    finally:
        gc.enable()
        gc.unfreeze()
    assert ended.value.code == 0
    assert seen == [(False, False), (True, True)]  # off while importing, then on, but not for what was imported


@pytest.mark.parametrize(
    ("command", "unneeded"),
    [
        ("config", "numpy torch pandas"),
        ("paper", "torch numba matplotlib"),
        ("certify", "torch matplotlib"),
        ("choose", "torch matplotlib"),
        ("report", "torch numba"),
        ("study_report", "torch numba"),
        ("init", "numba pandas scipy matplotlib"),
        ("train", "numba pandas scipy matplotlib"),
        ("import_", "numba pandas scipy matplotlib"),
        ("selfplay", "matplotlib triton"),
        ("tournament", "matplotlib triton"),
        ("truth", "matplotlib triton"),
    ],
)
def test_a_command_does_not_import_what_it_does_not_need(command: str, unneeded: str) -> None:
    code = f"import sys, probzero.commands.{command}; print(*(set({unneeded.split()}) & set(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert shown.stdout.split() == []


def test_training_leaves_the_compiler_of_torch_alone() -> None:
    """A job takes longer to import it than torch itself."""
    code = """
import sys
from learnable import GAME, SETTINGS, small, some_samples
from probzero.learning.training import train
train(small(), {}, [some_samples()], SETTINGS, GAME, 1, 0)
print("torch._dynamo" in sys.modules)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])}
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert shown.stdout.strip() == "False"
