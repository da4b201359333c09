"""Make the libraries take another processor for the one they run on, so that one machine shows what others will see.

Two things decide how torch computes a matrix product: the instructions it believes to have, which variables restrict,
and, in Intel's MKL, who made the processor, which no variable changes. As a pytest plugin (`-p processors`) this file
replaces MKL's questions about the maker by answers, in memory and before MKL has asked any of them.

    python tests/processors.py avx2 COMMAND ...    runs a command as on a processor with AVX2 and no more
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys

import pytest

MAKER = "PROBZERO_TEST_MAKER"  # the variable that names one of MAKERS
IN_VAIN = 77  # pytest's status if a maker is named and MKL is not there or cannot be changed

# What a processor with these instructions and no more would make of it: our own compiled network, numpy, numba, torch
# itself, oneDNN, MKL, OpenBLAS. (Which of the last two multiplies matrices depends on the build of torch.)
INSTRUCTIONS = {
    "default": ("plain", "X86_V3 X86_V4 AVX512_ICL AVX512_SPR", "x86-64", "default", "SSE41", "SSE4_2", "Nehalem"),
    "avx2": ("avx2", "X86_V4 AVX512_ICL AVX512_SPR", "x86-64-v3", "avx2", "AVX2", "AVX2", "Haswell"),
    "avx512": ("avx512", "AVX512_ICL AVX512_SPR", "x86-64-v4", "avx512", "AVX512_CORE", "AVX512", "SkylakeX"),
}
SWITCHES = (
    "PROBZERO_INSTRUCTIONS", "NPY_DISABLE_CPU_FEATURES", "NUMBA_CPU_NAME", "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA",
    "MKL_ENABLE_INSTRUCTIONS", "OPENBLAS_CORETYPE",
)  # fmt: skip

# MKL's answers by maker: is it from Intel, is it a Zen of AMD's?
MAKERS = {"Intel": (True, False), "AMD": (False, True), "another": (False, False)}


def restricted(instructions: str) -> dict[str, str]:
    """Return the variables that hide all instructions beyond the named ones."""
    return dict(zip(SWITCHES, INSTRUCTIONS[instructions], strict=True))


def pretend(maker: str) -> None:
    """Have MKL believe in this maker, or raise OSError."""
    import torch  # loads the library that MKL is part of

    library = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"))
    intel, zen = MAKERS[maker]
    for name, answer in (
        ("mkl_serv_intel_cpu", intel),
        ("mkl_serv_intel_cpu_true", intel),
        ("mkl_serv_cpuiszen", zen),
    ):
        if not hasattr(library, name):
            raise OSError("this torch has no MKL, which alone asks who made the processor")
        _replace(getattr(library, name), answer)


def _replace(function: ctypes._CFuncPtr, answer: bool) -> None:
    """Overwrite the code of a function of x86-64 by `return answer`."""
    code = b"\xb8" + int(answer).to_bytes(4, "little") + b"\xc3"  # mov eax, answer; ret
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    first = address - address % mmap.PAGESIZE
    length = address + len(code) - first
    _allow(first, length, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    ctypes.memmove(address, code, len(code))
    _allow(first, length, mmap.PROT_READ | mmap.PROT_EXEC)
    assert function() == answer


def _allow(first: int, length: int, what: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(first), ctypes.c_size_t(length), what):
        raise OSError(ctypes.get_errno(), "mprotect")


def fingerprint() -> str:
    """Return the bits of two products, a wide and a narrow one: they depend on the code that computes them."""
    import torch

    torch.set_num_threads(1)
    drawing = torch.Generator().manual_seed(1)
    wide, narrow = torch.rand(96, 4000, generator=drawing), torch.rand(50, 48 + 7, generator=drawing)
    products = wide @ wide.T, narrow[:, :48].T @ narrow[:, 48:]
    return "".join(product.numpy().tobytes().hex() for product in products)


def pytest_configure() -> None:
    if maker := os.environ.get(MAKER):
        try:
            pretend(maker)
        except OSError as error:
            pytest.exit(f"{MAKER}: {error}", returncode=IN_VAIN)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in INSTRUCTIONS:
        sys.exit(f"processors: expected one of {', '.join(INSTRUCTIONS)}, then a command")
    os.execvpe(sys.argv[2], sys.argv[2:], {**os.environ, **restricted(sys.argv[1])})
