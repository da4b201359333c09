"""The forms of each kernel under one signature. TRITON_INTERPRET must be set before this is imported."""

from __future__ import annotations

import torch
from oracles.slow_backup import SmallGraph

from probzero import templates
from probzero.kernels.backup import reference as plain_backup
from probzero.kernels.backup import triton_kernel as triton_backup
from probzero.kernels.winner_prob import reference as plain_winner_prob
from probzero.kernels.winner_prob import triton_kernel as triton_winner_prob
from probzero.search.arrays import GraphArrays

KERNEL_FORMS = ("compiled", "reference", "triton")


def winner_prob(
    values: torch.Tensor, mask: torch.Tensor, temperature: float = 1.0, form: str = "reference"
) -> torch.Tensor:
    """Return the weights [n, K] of children [n, K, 3] where mask [n, K]."""
    if form == "reference":
        return plain_winner_prob.winner_prob(values, mask, temperature)
    if form == "triton":
        return triton_winner_prob.winner_prob(values, mask, temperature)
    weights = torch.full(mask.shape, torch.nan)
    loop = templates.load("probzero.kernels.winner_prob.compiled").winner_prob
    loop(values.contiguous().numpy(), mask.contiguous().numpy(), 1.0 / temperature, weights.numpy())
    return weights


def backup(graph: SmallGraph, levels: list[list[int]], games: dict[int, int], temperature: float, form: str) -> None:
    """Update the graph for the nodes of levels, deepest first; `games` says whose they are, 0 unless said."""
    nodes = torch.tensor([node for level in levels for node in level], dtype=torch.int64)
    if form == "reference":
        plain_backup.backup(graph, nodes, [len(level) for level in levels], temperature)
    elif form == "triton":
        touched = chained(graph, nodes.tolist(), [games.get(node, 0) for node in nodes.tolist()])
        triton_backup.backup(graph, touched, temperature)
    else:
        loop = templates.load("probzero.kernels.backup.compiled").backup
        loop(arrays(graph), nodes.numpy(), 1.0 / temperature, int(graph.edge_count.max()))


def chained(graph: SmallGraph, nodes: list[int], games: list[int]) -> torch.Tensor:
    """Make a list in `scratch` of each game's nodes, in their order; return the first of each, −1 for none."""
    first = [-1] * (max(games, default=0) + 1)
    for node, game in zip(reversed(nodes), reversed(games), strict=True):
        graph.scratch[node] = first[game]
        first[game] = node
    return torch.tensor(first)


def arrays(graph: SmallGraph) -> GraphArrays:
    """The memory of a small graph in the struct that the search gives to backup; what backup does not use is empty.

    A struct of the tests' own would end up in the cache of compiled code, which other programs could then not read.
    """
    unused = torch.empty(0, dtype=torch.int64)
    return GraphArrays(*(getattr(graph, name, unused).numpy() for name in GraphArrays._fields))
