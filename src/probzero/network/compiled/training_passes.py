"""The passes of training, beside those of `layers`: with y = convolution and z = ReLU(scale · y + shift (+ skip)),

    product    values · kernels → products
    collect    outputs · products → y, and its sums for the batch norm
    activate   y → z → values of the next layer

and backwards, with g = gradient before the ReLU and the batch norm's dy = a · g + b · y + c:

    spread     g, y → outputsᵀ · dy → products' gradient
    gradient   valuesᵀ · that → kernels' gradient
    product    that · kernelsᵀ → values' gradient
    back       inputsᵀ · that (+ skip) where z > 0 → g of the layer before, and its sums

and for the weights of a layer, taps [3, 3, inputs, outputs],

    evaluate      taps → kernels
    interpolate   kernels' gradient → taps' gradient

Tensors are as in `layers`; what is per channel is […, 8, C].
"""

from __future__ import annotations

from llvmlite import ir

from probzero.network.compiled.layers import ROWS, Board, each, write_pass, write_product
from probzero.network.compiled.target import Target
from probzero.network.compiled.writer import LONG, Writer
from probzero.network.winograd import TAPS


def write_training(module: ir.Module, target: Target, board: Board, planes: int, channels: int) -> None:
    """Write all functions of a trunk's training."""
    write_pass(module, target, "enter", board, planes, inverse=False)
    write_pass(module, target, "forward", board, channels, inverse=False)
    shape = board, channels
    write_collect(module, target, *shape)
    write_activate(module, target, "activate_open", *shape, skip=False, keep=True, forward=True)
    write_activate(module, target, "activate_middle", *shape, skip=False, keep=False, forward=True)
    write_activate(module, target, "activate_close", *shape, skip=True, keep=True, forward=True)
    write_activate(module, target, "activate_last", *shape, skip=True, keep=True, forward=False)
    write_back(module, target, "back_middle", *shape, inverse=True, kept=False)
    write_back(module, target, "back_close", *shape, inverse=True, kept=True)
    write_back(module, target, "back_last", *shape, inverse=False, kept=True)
    write_spread(module, target, *shape)
    points = board.points[0] * board.points[1]
    for name, inputs in (("stem", planes), ("trunk", channels)):
        write_kernels(module, target, f"evaluate_{name}", board, inputs, channels, back=False)
        write_kernels(module, target, f"interpolate_{name}", board, inputs, channels, back=True)
        write_product(module, target, f"product_{name}", points=points, inputs=inputs, outputs=channels)
        before, after = ROWS * inputs, ROWS * channels  # numbers of a pack at one point
        write_product(
            module, target, f"gradient_{name}", points=points, rows=inputs, inputs=ROWS, outputs=channels, terms=None,
            more=True, a_pack=0, a_point=before, a_term=points * before, a_row=1, a_input=inputs,
            w_point=after, w_term=points * after, w_input=channels,
        )  # fmt: skip


def write_collect(module: ir.Module, target: Target, board: Board, channels: int) -> None:
    """Write collect(products, y, sums, packs): sums [pack, 2, 8, C] of y and y² over the squares."""
    writer = Writer(module, "collect", "pppl", target.fused)
    products, y, sums, packs = writer.args
    with each(writer, target, channels, packs) as lanes:
        out, totals = lanes.grid(y, board.squares), lanes.sums(2)

        def change(r: int, c: int, value: ir.Value) -> ir.Value:
            writer.store(value, out[r][c])
            totals[0] = writer.add(totals[0], value)
            totals[1] = writer.fma(value, value, totals[1])
            return value

        lanes.through(board.squares, lanes.reader(products, board.points), change, before=board.outputs)
        lanes.store_sums(sums, totals)
    writer.end()


def write_activate(
    module: ir.Module, target: Target, name: str, board: Board, channels: int, *, skip: bool, keep: bool, forward: bool
) -> None:
    """Write name(y, affine, skip, z, values, packs), affine being [scale and shift, 8, C]."""
    writer = Writer(module, name, "pppppl", target.fused)
    y, affine, skipped, z, values, packs = writer.args
    with each(writer, target, channels, packs) as lanes:
        added, kept = lanes.reader(skipped, board.squares), lanes.grid(z, board.squares)

        def change(r: int, c: int, value: ir.Value) -> ir.Value:
            value = writer.fma(value, lanes.channel(affine), lanes.channel(affine, 1))
            if skip:
                value = writer.add(value, added(r, c))
            value = writer.relu(value)
            if keep:
                writer.store(value, kept[r][c])
            return value

        lanes.through(
            board.squares, lanes.reader(y, board.squares), change, after=board.inputs if forward else None,
            places=lanes.grid(values, board.points),
        )  # fmt: skip
    writer.end()


def write_back(
    module: ir.Module, target: Target, name: str, board: Board, channels: int, *, inverse: bool, kept: bool
) -> None:
    """Write name(values' gradient, skip's gradient, z or affine, y, g, sums, packs): sums of g and g · y.

    Where z was not kept, its sign follows from y and the affine map, and no skip begins there. Without `inverse` the
    skip's gradient is all there is.
    """
    writer = Writer(module, name, "ppppppl", target.fused)
    values, skipped, z, y, g, sums, packs = writer.args
    with each(writer, target, channels, packs) as lanes:
        added, active, before = (lanes.reader(pointer, board.squares) for pointer in (skipped, z, y))
        out, totals = lanes.grid(g, board.squares), lanes.sums(2)

        def change(r: int, c: int, value: ir.Value) -> ir.Value:
            if kept and inverse:
                value = writer.add(value, added(r, c))
            convolved = before(r, c)
            sign = active(r, c) if kept else writer.fma(convolved, lanes.channel(z), lanes.channel(z, 1))
            value = writer.where_positive(sign, value)
            writer.store(value, out[r][c])
            totals[0] = writer.add(totals[0], value)
            totals[1] = writer.fma(value, convolved, totals[1])
            return value

        if inverse:
            lanes.through(
                board.squares, lanes.reader(values, board.points), change, before=board.inputs.transposed
            )  # fmt: skip
        else:
            lanes.through(board.squares, added, change)
        lanes.store_sums(sums, totals)
    writer.end()


def write_spread(module: ir.Module, target: Target, board: Board, channels: int) -> None:
    """Write spread(g, y, factors, products' gradient, packs), factors being [a, b and c, 8, C]."""
    writer = Writer(module, "spread", "ppppl", target.fused)
    g, y, factors, products, packs = writer.args
    with each(writer, target, channels, packs) as lanes:
        gradient, convolved = (lanes.reader(pointer, board.squares) for pointer in (g, y))

        def read(r: int, c: int) -> ir.Value:
            rest = writer.fma(convolved(r, c), lanes.channel(factors, 1), lanes.channel(factors, 2))
            return writer.fma(gradient(r, c), lanes.channel(factors), rest)

        places = lanes.grid(products, board.points)
        lanes.through(board.squares, read, after=board.outputs.transposed, places=places)
    writer.end()


def write_kernels(
    module: ir.Module, target: Target, name: str, board: Board, inputs: int, outputs: int, *, back: bool
) -> None:
    """Write name(taps, kernels), or name(kernels, taps) of gradients: a board of 3×3 for each input and output."""
    writer = Writer(module, name, "pp", target.fused)
    given, found = writer.args
    taps = TAPS, TAPS
    before, after, matrices = (
        (board.points, taps, board.kernels.transposed) if back else (taps, board.points, board.kernels)
    )
    with each(writer, target, outputs, LONG(1), rows=inputs) as lanes:
        lanes.through(before, lanes.reader(given, before), after=matrices, places=lanes.grid(found, after))
    writer.end()
