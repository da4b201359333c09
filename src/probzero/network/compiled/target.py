"""For which processor code is compiled: chosen once, from what the machine has or from PROBZERO_INSTRUCTIONS.

    avx512  x86-64 with AVX-512: vectors of 16 numbers
    avx2    x86-64 with AVX2 and FMA: vectors of 8
    neon    ARM of 64 bits: vectors of 4 (compiled by the tests, not run)
    plain   anything else: vectors of 4 in whatever instructions there are, a product and a sum in the place of fma

The first three give the same bits. `plain` rounds twice where they round once, so its bits are others, but the same on
every machine that takes it.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm

from probzero.errors import bad

VARIABLE = "PROBZERO_INSTRUCTIONS"


class Target(NamedTuple):
    """A kind of processor. Code for it depends on nothing else of the machine."""

    name: str
    triple: str
    cpu: str
    features: str
    width: int  # numbers of a vector
    rows: int  # of a tile of a product: with three vectors of columns its sums fill the registers
    fused: bool = True  # a · b + c is rounded once

    def machine(self, jit: bool = True) -> Any:
        """Return LLVM's machine for it."""
        found = llvm.Target.from_triple(self.triple)
        return found.create_target_machine(cpu=self.cpu, features=self.features, opt=3, jit=jit)


def targets(triple: str) -> dict[str, Target]:
    """Return the targets of an architecture by name, the best first."""
    plain = Target("plain", triple, "", "", 4, 4, fused=False)
    architecture = triple.split("-")[0]
    if architecture in ("x86_64", "amd64"):
        wide = Target("avx512", triple, "x86-64-v4", "-prefer-256-bit", 16, 8)
        return {"avx512": wide, "avx2": Target("avx2", triple, "x86-64-v3", "", 8, 4), "plain": plain}
    if architecture in ("aarch64", "arm64"):
        return {"neon": Target("neon", triple, "generic", "+neon", 4, 8), "plain": plain}
    return {"plain": plain}


NEEDS = {"avx512": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"), "avx2": ("avx2", "fma", "bmi2"),
         "neon": ("neon",), "plain": ()}  # fmt: skip


@cache
def available() -> dict[str, Target]:
    """Return what this machine can run, the best first."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    found = targets(llvm.get_process_triple())
    return {name: target for name, target in found.items() if all(features.get(need) for need in NEEDS[name])}


def choose() -> Target:
    """Return the target of this process: the one that PROBZERO_INSTRUCTIONS names, or the best of the machine."""
    known, wanted = available(), os.environ.get(VARIABLE)
    if wanted and wanted not in known:
        raise bad("processor", VARIABLE, f"one of {', '.join(known)}, which this machine has", wanted)
    return known[wanted] if wanted else next(iter(known.values()))


def said(target: Target) -> str:
    """Return in words what the network is compiled for."""
    slower = "" if target.fused else " vectors: slower than with AVX2 or NEON, and with last bits of its own"
    return f"network compiled for {target.name}{slower}"
