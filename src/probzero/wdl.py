"""Win/draw/loss triples: the order of the three numbers and the change of point of view.

A triple always speaks for the player to move at its node. Nobody outside this module indexes one with bare numbers.
"""

from __future__ import annotations

from probzero.kinds import Array, cast, is_tensor, space

WIN, DRAW, LOSS = 0, 1, 2
NAMES = ("win", "draw", "loss")
SIZE = 3


UNKNOWN = 2  # in the place of a result


def flip(triples: Array) -> Array:
    """Return the triples [..., 3] as the other player sees them: win and loss change places."""
    return triples.flip(-1) if is_tensor(triples) else triples[..., ::-1]


def from_result(result: Array) -> Array:
    """Return one-hot triples [..., 3] (float32) for results [...] of +1, 0, −1 seen by the player to move.

    ± UNKNOWN, of a game that was left unfinished, gives zeros."""
    order = space(result).arange(1, -2, -1, device=result.device)  # +1, 0, −1
    return cast(result[..., None] == order, "float32")


def expectation(triples: Array) -> Array:
    """Return win − loss [...] of triples [..., 3]: the expected result, from −1 to 1."""
    return triples[..., WIN] - triples[..., LOSS]


def from_expectation(value: Array) -> Array:
    """Return triples [..., 3] without draws whose expectation is `value` [...], from −1 to 1."""
    parts = [(1 + value) / 2, value * 0, (1 - value) / 2]
    return space(value).stack(parts, axis=-1)
