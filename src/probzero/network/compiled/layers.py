"""Compiled Winograd layers: one pass over memory between two channel products, and the channel products themselves.

Positions go in packs of ROWS = 8, and every tensor is [pack, square or point, row of the pack, channel]. A layer is

    product   for each point: values [8, I] · kernels [I, O]                      (`write_product`)
    pass      outputs · products + bias (+ skip), ReLU, inputs · that → values    (`write_pass`)

Each number of a result is the same chain of operations whatever row, pack or vector lane it is in, and each operation
is rounded as IEEE 754 says: a position has the same bits in every slot, every company, and with every vector length.

The transforms are those of one axis, on the columns and then on the rows. Half of their points mirror the others (θ and
π − θ): there, even and odd powers are summed once and then added and subtracted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from probzero.network.compiled.target import Target
from probzero.network.compiled.writer import LONG, Writer, zero
from probzero.network.winograd import axis

ROWS = 8  # positions of a pack
PANEL = 3  # vectors of columns in a tile of a product

Grid = list[list[ir.Value]]
Read = Callable[[int, int], ir.Value]
Change = Callable[[int, int, ir.Value], ir.Value]


class Map(NamedTuple):
    """A linear map of boards, X → down · X · acrossᵀ."""

    down: np.ndarray
    across: np.ndarray

    @property
    def transposed(self) -> Map:
        return Map(self.down.T, self.across.T)


class Board(NamedTuple):
    """A board of H×W squares and its transforms."""

    height: int
    width: int

    @property
    def squares(self) -> tuple[int, int]:
        return self.height, self.width

    @property
    def points(self) -> tuple[int, int]:
        return len(axis(self.height).inputs), len(axis(self.width).inputs)

    @property
    def inputs(self) -> Map:
        return Map(axis(self.height).inputs, axis(self.width).inputs)

    @property
    def kernels(self) -> Map:
        return Map(axis(self.height).kernels, axis(self.width).kernels)

    @property
    def outputs(self) -> Map:
        return Map(axis(self.height).outputs, axis(self.width).outputs)


def transform(writer: Writer, matrix: np.ndarray, values: Sequence[ir.Value]) -> list[ir.Value]:
    """Write matrix · values, making use of mirrored rows (if it is tall) or columns (if it is wide)."""
    if len(matrix) > len(values):
        mirror = mirrored(matrix)
        results: list[ir.Value] = [None] * len(matrix)
        for i, row in enumerate(matrix):
            if i in mirror:
                same = row * matrix[mirror[i]] > 0
                even, odd = writer.dot(row * same, values), writer.dot(row * ~same, values)
                results[i], results[mirror[i]] = writer.add(even, odd), writer.subtract(even, odd)
            elif i not in mirror.values():
                results[i] = writer.dot(row, values)
        return results
    columns = matrix.T
    mirror = mirrored(columns)
    factors, terms = [], []
    for j, column in enumerate(columns):
        if j in mirror:
            same = column * columns[mirror[j]] > 0
            factors += [column * same, column * ~same]
            terms += [writer.add(values[j], values[mirror[j]]), writer.subtract(values[j], values[mirror[j]])]
        elif j not in mirror.values():
            factors.append(column)
            terms.append(values[j])
    return [writer.dot(row, terms) for row in np.transpose(factors)]


def mirrored(rows: np.ndarray) -> dict[int, int]:
    """Return i → j > i where row j is row i with some signs changed; no row is in two pairs."""
    found: dict[int, int] = {}
    for i in range(len(rows)):
        for j in range(i + 1, len(rows)):
            free = i not in found.values() and i not in found and j not in found.values()
            if free and np.allclose(abs(rows[i]), abs(rows[j]), rtol=0, atol=1e-11):
                found[i] = j
    return found


class Lanes(NamedTuple):
    """The boards of a vector of (row, channel) pairs: a number of each in every lane."""

    writer: Writer
    width: int
    numbers: int  # of a pack at one square
    pack: ir.Value
    i: ir.Value  # the first pair

    def grid(self, pointer: ir.Value, sides: tuple[int, int]) -> Grid:
        """Return the places of the squares or points of the tensor at `pointer`."""
        rows, columns = sides
        first = self.writer.at(pointer, (self.pack, rows * columns * self.numbers), self.i)
        return [[self.writer.at(first, (r * columns + c) * self.numbers) for c in range(columns)] for r in range(rows)]

    def load(self, place: ir.Value) -> ir.Value:
        return self.writer.load(place, self.width)

    def reader(self, pointer: ir.Value, sides: tuple[int, int]) -> Read:
        places = self.grid(pointer, sides)
        return lambda r, c: self.load(places[r][c])

    def channel(self, pointer: ir.Value, index: int = 0) -> ir.Value:
        """Load from the vector [index] of some [8, C] that are the same for every pack."""
        return self.load(self.writer.at(pointer, self.i, index * self.numbers))

    def sums(self, count: int) -> list[ir.Value]:
        return [zero(self.width)] * count

    def store_sums(self, pointer: ir.Value, sums: Sequence[ir.Value]) -> None:
        """Store to [pack, sum, 8, C]."""
        first = self.writer.at(pointer, (self.pack, len(sums) * self.numbers), self.i)
        for index, value in enumerate(sums):
            self.writer.store(value, self.writer.at(first, index * self.numbers))

    def through(
        self, sides: tuple[int, int], read: Read, change: Change | None = None, *, before: Map | None = None,
        after: Map | None = None, places: Grid | None = None,
    ) -> None:  # fmt: skip
        """Write before(board) where there is such a map, change each of its squares, write after(that) to `places`.

        `sides` are those of the board that is changed."""
        height, width = sides
        if before is not None:
            across, down = (range(matrix.shape[1]) for matrix in (before.across, before.down))
            columns = [transform(self.writer, before.down, [read(r, c) for r in down]) for c in across]
        rows = []
        for r in range(height):
            if before is None:
                row = [read(r, c) for c in range(width)]
            else:
                row = transform(self.writer, before.across, [column[r] for column in columns])
            row = row if change is None else [change(r, c, value) for c, value in enumerate(row)]
            if after is not None:
                rows.append(transform(self.writer, after.across, row))
        if after is not None and places is not None:
            for c in range(len(after.across)):
                for r, value in enumerate(transform(self.writer, after.down, [row[c] for row in rows])):
                    self.writer.store(value, places[r][c])


@contextmanager
def each(writer: Writer, target: Target, channels: int, packs: ir.Value, rows: int = ROWS) -> Iterator[Lanes]:
    """Write a loop over all (row, channel) pairs of all packs."""
    numbers = rows * channels
    width = math.gcd(numbers, target.width)  # which is a power of two
    with writer.loop(packs) as pack, writer.loop(numbers, width) as i:
        yield Lanes(writer, width, numbers, pack, i)


def write_pass(
    module: ir.Module, target: Target, name: str, board: Board, channels: int, *, inverse: bool = True,
    skip: bool = False, keep: bool = False, forward: bool = True,
) -> None:  # fmt: skip
    """Write name(products, bias, squares, values, packs) for inference.

    `bias` is [8, C]. `squares` is what `skip` adds and where `keep` stores. Without `inverse`, squares → values only.
    """
    writer = Writer(module, name, "ppppl", target.fused)
    products, bias, squares, values, packs = writer.args
    with each(writer, target, channels, packs) as lanes:
        on_board, places = lanes.grid(squares, board.squares), lanes.grid(values, board.points)

        def change(r: int, c: int, value: ir.Value) -> ir.Value:
            value = writer.add(value, lanes.channel(bias))
            if skip:
                value = writer.add(value, lanes.load(on_board[r][c]))
            value = writer.relu(value)
            if keep:
                writer.store(value, on_board[r][c])
            return value

        after = board.inputs if forward else None
        if inverse:
            read = lanes.reader(products, board.points)
            lanes.through(board.squares, read, change, before=board.outputs, after=after, places=places)
        else:
            lanes.through(board.squares, lanes.reader(squares, board.squares), after=after, places=places)
    writer.end()


class Strides(NamedTuple):
    """Of the tensors of a product, in numbers; the last axes of weights and results are contiguous."""

    a_pack: int
    a_point: int
    a_term: int
    a_row: int
    a_input: int
    w_point: int
    w_term: int
    w_input: int


def write_product(
    module: ir.Module, target: Target, name: str, *, points: int, inputs: int, outputs: int, rows: int = ROWS,
    terms: int | None = 1, bias: bool = False, relu: bool = False, more: bool = False, **other: int,
) -> None:  # fmt: skip
    """Write name(a, weights, bias, out, packs): for each point and pack, out = Σ_terms a · weights (+ bias) (ReLU).

    a [pack, point, term, row, input] and weights [point, term, input, output] are contiguous but for the strides in
    `other`. bias is [point, output] or, if the points share their weights, [output]; out is [pack, point, row, output].
    With terms=None the packs are the terms: out is the sum over all packs. `more` adds to what is in out already.
    """
    matrix, step = inputs * outputs, rows * inputs
    usual = Strides(points * step, step, 0, inputs, 1, (terms or 1) * matrix, matrix, outputs)
    strides = usual._replace(**other)
    writer = Writer(module, name, "ppppl", target.fused)
    left, weights, biases, out, packs = writer.args
    count, turns = (packs, terms) if terms else (1, packs)

    def tile(row: ir.Value, height: int, a: ir.Value, w: ir.Value, bias_at: ir.Value, out_at: ir.Value) -> None:
        """Write `height` rows of a result, some columns at a time: their sums stay in registers."""
        a, out_at = writer.at(a, (row, strides.a_row)), writer.at(out_at, (row, outputs))
        for panel in panels(outputs, target.width):
            cells = [(r, c, width) for r in range(height) for c, width in panel]
            places = [writer.at(out_at, r * outputs + c) for r, c, _ in cells]
            if more:
                start = [writer.load(place, width) for place, (_, _, width) in zip(places, cells, strict=True)]
            else:
                start = [writer.load(writer.at(bias_at, c), width) if bias else zero(width) for _, c, width in cells]
            with writer.loop_carrying(turns, start) as (term, sums):
                a_term, w_term = writer.at(a, (term, strides.a_term)), writer.at(w, (term, strides.w_term))
                with writer.loop_carrying(inputs, sums) as (k, inner):
                    row_of = {c: writer.load(writer.at(w_term, (k, strides.w_input), c), width) for c, width in panel}
                    for index, (r, c, width) in enumerate(cells):
                        factor = writer.broadcast(writer.at(a_term, r * strides.a_row, (k, strides.a_input)), width)
                        inner[index] = writer.fma(factor, row_of[c], inner[index])
                sums[:] = inner
            for place, total in zip(places, sums, strict=True):
                writer.store(writer.relu(total) if relu else total, place)

    with writer.loop(points) as point, writer.loop(count) as pack:
        at: tuple[Any, ...] = (
            writer.at(left, (pack, strides.a_pack), (point, strides.a_point)),
            writer.at(weights, (point, strides.w_point)),
            writer.at(biases, (point, outputs if strides.w_point else 0)),
            writer.at(out, (pack, points * rows * outputs), (point, rows * outputs)),
        )
        whole, rest = rows - rows % target.rows, rows % target.rows
        if whole:
            with writer.loop(whole, target.rows) as row:
                tile(row, target.rows, *at)
        if rest:
            tile(LONG(whole), rest, *at)
    writer.end()


def panels(columns: int, width: int) -> list[list[tuple[int, int]]]:
    """Return (first column, width) of vectors that cover all columns, PANEL of them at a time."""
    pieces, first = [], 0
    while first < columns:
        while width > columns - first:
            width //= 2
        pieces.append((first, width))
        first += width
    return [pieces[i : i + PANEL] for i in range(0, len(pieces), PANEL)]
