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

TESTS = Path(__file__).parent.parent
ORDER = list(INSTRUCTIONS)  # each has all that those before it have
CAPABILITY = "import torch; print(torch.backends.cpu.get_cpu_capability().lower())"
PRODUCT = """
import processors
try:
    processors.pretend({!r})
    print(processors.fingerprint())
except OSError:
    pass
"""


def without_switches(**variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in (*SWITCHES, MAKER)}
    # Threads that wait by spinning would hold up the other tests, and each other.
    return {**kept, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", **variables}


def printed(program: str, **variables: str) -> str:
    shown = subprocess.run(
        [sys.executable, "-c", program], env=without_switches(PYTHONPATH=str(TESTS), **variables),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return shown.stdout.strip()


@cache
def most() -> str:
    """The name of the richest set of instructions that torch uses here."""
    return printed(CAPABILITY)


def same_bits(**variables: str) -> None:
    """Run the tests that an evaluation does not depend on slot or company, in a process with these variables."""
    shown = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "processors", "-p", "no:cacheprovider", "-k", "same_bits",
         str(TESTS / "network" / "test_network.py")],
        env=without_switches(**variables), capture_output=True, text=True, check=False, cwd=TESTS.parent,
    )  # fmt: skip
    if shown.returncode == IN_VAIN:
        pytest.skip((shown.stdout + shown.stderr).strip().splitlines()[-1])
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert " passed" in shown.stdout and "skipped" not in shown.stdout


def available() -> list[str]:
    """The sets of instructions that this machine has, the richest last."""
    return ORDER[: ORDER.index(most()) + 1] if most() in ORDER else []


@cache
def can_pretend() -> bool:
    """Whether MKL can be told who made the processor. It obeys its switch only on a processor of Intel's."""
    return printed(PRODUCT.format("Intel")) != ""


@pytest.mark.parametrize("instructions", ORDER)
def test_evaluations_are_steady_with_these_instructions(instructions: str) -> None:
    if instructions not in available():
        pytest.skip(f"this machine has {most()} instructions, no {instructions}")
    same_bits(**restricted(instructions), **({MAKER: "Intel"} if can_pretend() else {}))


@pytest.mark.parametrize("maker", [maker for maker in MAKERS if maker != "Intel"])
def test_evaluations_are_steady_on_processors_of_this_maker(maker: str) -> None:
    same_bits(**{MAKER: maker})


def test_torch_takes_this_machine_for_each_of_these_processors() -> None:
    """Or the tests above would show nothing: each computes a product in another way."""
    if not can_pretend():
        pytest.skip("this torch has no MKL, or it cannot be changed")
    capabilities = [printed(CAPABILITY, **restricted(instructions)) for instructions in available()]
    assert capabilities == available()
    products = [printed(PRODUCT.format("Intel"), **restricted(name)) for name in available()]
    products += [printed(PRODUCT.format(maker)) for maker in MAKERS if maker != "Intel"]
    assert len(set(products)) == len(products)


def test_a_command_runs_as_on_another_processor() -> None:
    program = [sys.executable, str(TESTS / "processors.py")]
    shown = subprocess.run(
        [*program, "default", sys.executable, "-c", CAPABILITY], env=without_switches(), capture_output=True, text=True
    )
    assert shown.stdout.strip() == "default"
    refused = subprocess.run([*program, "avx3", "true"], capture_output=True, text=True)
    assert (
        refused.returncode == 1
        and refused.stderr == "processors: expected one of default, avx2, avx512, then a command\n"
    )
