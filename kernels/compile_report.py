"""Compile every kernel ahead of time for NVIDIA and AMD targets, without a GPU, and report what it needs there.

    python -m probzero.kernels.compile_report [--output FILE.csv] [--assembly FOLDER]

Spills are the bytes stored to and loaded from spilled registers (NVIDIA) or the number of spilled registers (AMD):
0 either way when the kernel fits.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from probzero import files
from probzero.errors import bad
from probzero.origin import Origin
from probzero.tables import TABLE, write_csv

# Name: triton backend, architecture, threads of a warp. sm_80 is the A100, sm_90 the H100, sm_100 the B200, gfx942 the
# MI300.
TARGETS: dict[str, tuple[str, int | str, int]] = {
    "sm_80": ("cuda", 80, 32),
    "sm_90": ("cuda", 90, 32),
    "sm_100": ("cuda", 100, 32),
    "gfx942": ("hip", "gfx942", 64),
}
BLOCKS = (16, 32, 64)  # the last serves the largest game with a tensor form, of 60 moves at most


@dataclass(frozen=True)
class Variant:
    """One kernel with its compile-time choices, ready for triton.compile."""

    kernel: str
    function: Any
    signature: dict[str, str]
    constants: dict[str, int | bool]
    options: dict[str, int | bool]
    scheme: str = ""  # by which descend splits particles

    @property
    def name(self) -> str:
        tempered = "_tempered" if self.constants.get("TEMPERED") else ""
        return self.kernel + tempered + (f"_{self.scheme}" if self.scheme else "")

    @property
    def block(self) -> int:
        return self.constants["BLOCK_K" if "BLOCK_K" in self.constants else "BLOCK"]


@dataclass(frozen=True)
class Usage:
    """What a compiled kernel needs of its target."""

    kernel: str
    target: str
    block: int  # moves of a node side by side; of place, keys of a program
    num_warps: int
    registers: int  # per thread
    shared_bytes: int  # per program
    stack_bytes: int  # per thread
    spills: int


def variants() -> Iterator[Variant]:
    """Yield every kernel for every block size; for the largest also at another temperature, and with every scheme.

    place comes for states of two and of four words."""
    from probzero.kernels.backup import triton_kernel as backup
    from probzero.kernels.descend import triton_kernel as descend
    from probzero.kernels.place import triton_kernel as place
    from probzero.kernels.winner_prob import triton_kernel as winner_prob

    for block_k in BLOCKS:
        for tempered in (False, True) if block_k == max(BLOCKS) else (False,):
            yield Variant(
                "winner_prob",
                winner_prob.winner_prob_kernel,
                _signature(winner_prob.winner_prob_kernel, "*fp32 *i1 *fp32 i32 i32 fp32"),
                {"TEMPERED": tempered, "BLOCK_N": winner_prob.block_rows(block_k), "BLOCK_K": block_k},
                {"num_warps": winner_prob.NUM_WARPS},
            )
            yield Variant(
                "backup",
                backup.backup_kernel,
                _signature(backup.backup_kernel, "*i64 *i64 *i64 *i64 *i64 *fp32 *fp32 *fp32 *i1 *i64 *i64 fp32 i32"),
                {"TEMPERED": tempered, "BLOCK_K": block_k},
                {"num_warps": backup.NUM_WARPS, "num_stages": backup.NUM_STAGES},
            )
        for scheme in descend.SCHEMES if block_k == max(BLOCKS) else list(descend.SCHEMES)[:1]:
            yield Variant(
                "descend",
                descend.descend_kernel,
                _signature(
                    descend.descend_kernel,
                    "*i64 *i64 *i64 *i16 *i1 *i1 *i32 *i32 *i64 *i64 *i64 *fp32 *i32 *i64 *i64 *i64 *i64 i64 i32 i32",
                ),
                {"SCHEME": descend.SCHEMES[scheme], "BLOCK_K": block_k},
                {"num_warps": descend.NUM_WARPS, "num_stages": descend.NUM_STAGES, "enable_fp_fusion": False},
                scheme,
            )
    for width in (3, 5):  # a state and its scope
        yield Variant(
            f"place_{width}",
            place.place_kernel,
            _signature(place.place_kernel, "*i64 *i64 *i64 *i64 *i64 i32 i32"),
            {"WIDTH": width, "BLOCK": place.BLOCK},
            {"num_warps": place.NUM_WARPS},
        )


def compile_for(variant: Variant, target: str) -> Any:
    """Return triton's compiled kernel, whose `asm` holds the ptx or the amdgcn text."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    source = ASTSource(variant.function, signature=variant.signature, constexprs=variant.constants)
    # Contraction to fused multiply-add is Triton's default when it launches a kernel; said here, not assumed.
    return triton.compile(
        source, target=GPUTarget(*TARGETS[target]), options={"enable_fp_fusion": True} | variant.options
    )


def usage(variant: Variant, target: str, folder: Path | None = None) -> Usage:
    """Compile the variant for the target and read off registers, memory and spills; keep the assembly in `folder`."""
    compiled = compile_for(variant, target)
    text = compiled.asm["ptx" if TARGETS[target][0] == "cuda" else "amdgcn"]
    block, warps = variant.block, variant.options["num_warps"]
    if folder is not None:
        files.write_text(folder / f"{variant.name}-{block}-{target}.s", text)
    registers, stack, spills = (_read_ptxas if TARGETS[target][0] == "cuda" else _read_amdgcn)(text)
    return Usage(variant.name, target, block, warps, registers, compiled.metadata.shared, stack, spills)


def report(folder: Path | None = None) -> list[Usage]:
    """Return the usage of every variant on every target."""
    if os.environ.get("TRITON_INTERPRET", "0") not in ("", "0"):
        raise bad("compile report", "TRITON_INTERPRET", "unset (the interpreter cannot compile)", "set")
    return [usage(variant, target, folder) for variant in variants() for target in TARGETS]


def _signature(function: Any, types: str) -> dict[str, str]:
    """Return the argument types by name; the arguments left over are the constants."""
    names = function.arg_names
    given = types.split()
    return dict(zip(names, given + ["constexpr"] * (len(names) - len(given)), strict=True))


def _read_ptxas(ptx: str) -> tuple[int, int, int]:
    """Return registers, stack bytes and spilled bytes by the assembler's own account (ptxas -v)."""
    from triton import knobs

    (target,) = re.findall(r"^\.target (\w+)", ptx, re.MULTILINE)
    assembler = knobs.nvidia.ptxas_blackwell if target.startswith("sm_1") else knobs.nvidia.ptxas
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernel.ptx"
        source.write_text(ptx, encoding="utf-8")
        command = [assembler.path, "-v", f"--gpu-name={target}", str(source), "-o", str(source.with_suffix(".cubin"))]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    registers = _number(r"Used (\d+) registers", said)
    stack = _number(r"(\d+) bytes stack frame", said)
    return registers, stack, _number(r"(\d+) bytes spill stores", said) + _number(r"(\d+) bytes spill loads", said)


def _read_amdgcn(assembly: str) -> tuple[int, int, int]:
    """Return registers, stack bytes and spilled registers as the kernel's own metadata have them."""
    registers = _number(r"\.vgpr_count:\s*(\d+)", assembly)
    stack = _number(r"\.private_segment_fixed_size:\s*(\d+)", assembly)
    spills = (_number(rf"\.{kind}_spill_count:\s*(\d+)", assembly) for kind in ("vgpr", "sgpr"))
    return registers, stack, sum(spills)


def _number(pattern: str, text: str) -> int:
    """Return the one number the pattern finds; several or none would mean that the tool's wording has changed."""
    found = re.findall(pattern, text)
    if len(found) != 1:
        raise bad("compile report", "compiler output", f"one match of {pattern!r}", len(found))
    return int(found[0])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Compile the Triton kernels ahead of time and report what they need.")
    parser.add_argument("--output", type=Path, help="also write the table as CSV to this file")
    parser.add_argument("--assembly", type=Path, metavar="FOLDER", help="also write the assembly of each kernel there")
    options = parser.parse_args(arguments)
    rows = report(options.assembly)
    table = pd.DataFrame(rows)
    print(table.to_string(index=False))
    if options.output is not None:
        write_csv(options.output, table, TABLE, Origin(command="compile-report"))


if __name__ == "__main__":
    main()
