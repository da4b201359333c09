"""Machine code: compiled from what a function writes, kept on disk, called as attributes."""

from __future__ import annotations

import ctypes
import hashlib
import inspect
import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from llvmlite import __version__ as version
from llvmlite import ir

from probzero import templates
from probzero.errors import ProbZeroError
from probzero.files import replacing
from probzero.network import winograd
from probzero.network.compiled import layers, target, writer
from probzero.network.compiled.target import Target

Write = Callable[..., None]  # write(module, target, *parameters) writes functions
SOURCES = [Path(str(module.__file__)) for module in (winograd, target, writer, layers)] + [Path(__file__)]


class Library:
    """The functions that `write` writes for some parameters, compiled for a target.

    They must follow from the parameters, from `SOURCES` and from the file that `write` stands in: these, llvmlite's
    version and the target name the file in which machine code is kept.
    """

    def __init__(self, write: Write, target: Target, *parameters: Any) -> None:
        path = templates.folder("network") / f"{key(write, parameters, target)}.o"
        stored = _read(path)
        if stored is None:
            stored = compiled(write, parameters, target)
            # Another process that keeps the same just now will do; if the disk is full, the next compiles again.
            with suppress(ProbZeroError, OSError), replacing(path) as temporary:
                temporary.write_bytes(_sealed(stored))
        functions, code = stored.split(b"\n", 1)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target.machine())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        self.addresses = {name: self._engine.get_function_address(name) for name in json.loads(functions)}
        for name, kinds in json.loads(functions).items():
            types = [ctypes.c_void_p if kind == "p" else ctypes.c_int64 for kind in kinds]
            setattr(self, name, ctypes.CFUNCTYPE(None, *types)(self.addresses[name]))

    @classmethod
    @cache
    def of(cls, write: Write, target: Target, *parameters: Any) -> Library:
        """Return the library, the same one each time in a process."""
        return cls(write, target, *parameters)

    def __getattr__(self, name: str) -> Callable[..., None]:  # for type checkers
        raise AttributeError(name)


def key(write: Write, parameters: tuple[Any, ...], target: Target) -> str:
    """Return a word that says all that the machine code depends on."""
    stamp = hashlib.sha256(repr((version, target, write.__name__, parameters)).encode())
    for path in [*SOURCES, Path(str(inspect.getsourcefile(write)))]:
        text = path.read_bytes()
        stamp.update(f"{path.name} {len(text)} ".encode() + text)
    return stamp.hexdigest()[:32]


def compiled(write: Write, parameters: tuple[Any, ...], target: Target, jit: bool = True) -> bytes:
    """Return a line that names the functions and the kinds of their arguments, then the object file."""
    module, machine = ir.Module(), target.machine(jit)
    write(module, target, *parameters)
    functions = {
        function.name: "".join("p" if argument.type == writer.POINTER else "l" for argument in function.args)
        for function in module.functions
        if not function.is_declaration
    }
    parsed = llvm.parse_assembly(str(module))
    parsed.triple, parsed.data_layout = machine.triple, str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(parsed, builder)
    return json.dumps(functions).encode() + b"\n" + bytes(machine.emit_object(parsed))


def _sealed(stored: bytes) -> bytes:
    return hashlib.sha256(stored).digest() + stored


def _read(path: Path) -> bytes | None:
    """Return what was kept, or None; what is damaged is compiled anew."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return data[32:] if _sealed(data[32:]) == data else None
