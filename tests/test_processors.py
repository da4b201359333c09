"""What must hold on every processor, tried under those that this machine can pass for.

The rest of the tests can be run in the same way, by setting the variables that `processors.restricted` names.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from processors import IN_VAIN, INSTRUCTIONS, MAKER, MAKERS, SWITCHES, restricted

TESTS = Path(__file__).parent
ORDER = list(INSTRUCTIONS)  # each has all that those before it have
CAPABILITY = "import torch; print(torch.backends.cpu.get_cpu_capability().lower())"


def without_switches(**variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in (*SWITCHES, MAKER)}
    # Threads that wait by spinning would hold up the other tests, and each other.
    return {**kept, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", **variables}


@cache
def most() -> str:
    """The name of the richest set of instructions that torch uses here."""
    shown = subprocess.run(
        [sys.executable, "-c", CAPABILITY], env=without_switches(), capture_output=True, text=True, check=True
    )
    return shown.stdout.strip()


def same_bits(**variables: str) -> None:
    """Run the tests that an evaluation does not depend on slot or company, in a process with these variables."""
    arguments = ["-q", "-p", "processors", "-p", "no:cacheprovider", "-k", "same_bits", str(TESTS / "test_network.py")]
    shown = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        env=without_switches(PYTHONPATH=str(TESTS), **variables), capture_output=True, text=True, check=False,
        cwd=TESTS.parent,
    )  # fmt: skip
    if shown.returncode == IN_VAIN:
        pytest.skip((shown.stdout + shown.stderr).strip().splitlines()[-1])
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert " passed" in shown.stdout and "skipped" not in shown.stdout


@pytest.mark.parametrize("instructions", ORDER)
def test_evaluations_are_steady_with_these_instructions(instructions: str) -> None:
    if most() not in ORDER or ORDER.index(instructions) > ORDER.index(most()):
        pytest.skip(f"this machine has {most()} instructions, no {instructions}")
    same_bits(**restricted(instructions))


@pytest.mark.parametrize("maker", MAKERS)
def test_evaluations_are_steady_on_processors_of_this_maker(maker: str) -> None:
    same_bits(**{MAKER: maker})
