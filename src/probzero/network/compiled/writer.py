"""A small way to write LLVM code: vectors of float32 numbers and loops. Pointers and offsets count numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir

FLOAT, LONG, POINTER = ir.FloatType(), ir.IntType(64), ir.PointerType()


class Writer:
    """Writes one function of pointers and whole numbers, `void name(…)`; `kinds` has a p or an l for each."""

    def __init__(self, module: ir.Module, name: str, kinds: str, fused: bool = True) -> None:
        types = [POINTER if kind == "p" else LONG for kind in kinds]
        self.function = ir.Function(module, ir.FunctionType(ir.VoidType(), types), name)
        self.function.attributes.add("noinline")
        self.builder = ir.IRBuilder(self.function.append_basic_block())
        self.args = self.function.args
        self.fused = fused

    def end(self) -> None:
        self.builder.ret_void()

    @contextmanager
    def loop(self, count: Any, step: int = 1) -> Iterator[ir.Value]:
        """for i in range(0, count, step), count > 0."""
        with self.loop_carrying(count, [], step) as (i, _):
            yield i

    @contextmanager
    def loop_carrying(
        self, count: Any, carried: Sequence[ir.Value], step: int = 1
    ) -> Iterator[tuple[ir.Value, list[ir.Value]]]:
        """The same, with values carried from turn to turn: the body must change the list that it gets in place."""
        builder, before = self.builder, self.builder.block
        body = self.function.append_basic_block()
        builder.branch(body)
        builder.position_at_end(body)
        i = builder.phi(LONG)
        i.add_incoming(LONG(0), before)
        phis = [builder.phi(value.type) for value in carried]
        for phi, value in zip(phis, carried, strict=True):
            phi.add_incoming(value, before)
        inside = list(phis)
        yield i, inside
        for phi, value in zip(phis, inside, strict=True):
            phi.add_incoming(value, builder.block)
        following = builder.add(i, LONG(step))
        i.add_incoming(following, builder.block)
        after = self.function.append_basic_block()
        builder.cbranch(builder.icmp_signed("<", following, whole(count)), body, after)
        builder.position_at_end(after)

    def at(self, pointer: ir.Value, *offsets: Any) -> ir.Value:
        """pointer + offsets; each a number, a value, or a pair to multiply."""
        for offset in offsets:
            if isinstance(offset, tuple):
                offset = self.builder.mul(*map(whole, offset))
            pointer = self.builder.gep(pointer, [whole(offset)], source_etype=FLOAT)
        return pointer

    def load(self, pointer: ir.Value, width: int) -> ir.Value:
        return self.builder.load(pointer, typ=vector(width), align=4)

    def store(self, value: ir.Value, pointer: ir.Value) -> None:
        self.builder.store(value, pointer, align=4)

    def broadcast(self, pointer: ir.Value, width: int) -> ir.Value:
        """The number at a pointer in every lane."""
        number = self.builder.load(pointer, typ=FLOAT, align=4)
        one = self.builder.insert_element(ir.Constant(vector(width), ir.Undefined), number, ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), width), None)
        return self.builder.shuffle_vector(one, one, zeros)

    def add(self, a: ir.Value, b: ir.Value) -> ir.Value:
        return self.builder.fadd(a, b)

    def subtract(self, a: ir.Value, b: ir.Value) -> ir.Value:
        return self.builder.fsub(a, b)

    def fma(self, a: ir.Value, b: ir.Value, c: ir.Value) -> ir.Value:
        """a · b + c, rounded once; twice where the target has no such instruction."""
        if not self.fused:
            return self.builder.fadd(self.builder.fmul(a, b), c)
        name, kind = f"llvm.fma.v{c.type.count}f32", c.type
        module = self.function.module
        function = module.globals.get(name) or ir.Function(module, ir.FunctionType(kind, [kind] * 3), name)
        return self.builder.call(function, [a, b, c])

    def relu(self, value: ir.Value) -> ir.Value:
        """max(value, 0); what is not a number stays so."""
        nothing = zero(value.type.count)
        return self.builder.select(self.builder.fcmp_ordered("<", value, nothing), nothing, value)

    def where_positive(self, condition: ir.Value, value: ir.Value) -> ir.Value:
        nothing = zero(value.type.count)
        return self.builder.select(self.builder.fcmp_ordered(">", condition, nothing), value, nothing)

    def dot(self, factors: Sequence[float], values: Sequence[ir.Value]) -> ir.Value:
        """Σ factor · value from left to right, by fma."""
        total: Any = None
        for factor, value in zip(factors, values, strict=True):
            if factor:
                constant = ir.Constant(value.type, [float(np.float32(factor))] * value.type.count)
                if total is not None:
                    total = self.fma(constant, value, total)
                else:
                    total = value if factor == 1 else self.builder.fmul(constant, value)
        return zero(values[0].type.count) if total is None else total


def write_sequence(module: ir.Module, target: Any) -> None:
    """Write sequence(table, steps, n): for each step of table [steps, 5], call f(p, p, p, p, n) with what stands there.

    f is the address of a compiled function, p are those of its arrays."""
    writer = Writer(module, "sequence", "pll")
    table, steps, n = writer.args
    kind = ir.FunctionType(ir.VoidType(), [POINTER] * 4 + [LONG])
    with writer.loop(steps) as step:
        row = writer.builder.gep(table, [writer.builder.mul(step, LONG(5))], source_etype=POINTER)
        places = [writer.builder.gep(row, [LONG(i)], source_etype=POINTER) for i in range(5)]
        address, *arrays = (writer.builder.load(place, typ=POINTER if i else LONG) for i, place in enumerate(places))
        writer.builder.call(writer.builder.inttoptr(address, kind.as_pointer()), [*arrays, n])
    writer.end()


def vector(width: int) -> ir.Type:
    return ir.VectorType(FLOAT, width)


def zero(width: int) -> ir.Value:
    return ir.Constant(vector(width), None)


def whole(number: Any) -> ir.Value:
    return LONG(number) if isinstance(number, (int, np.integer)) else number
