"""backup: the new policies and values of every touched node of a batch of games, deepest first, in place."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from probzero.errors import bad
from probzero.kernels.backup import compiled, reference
from probzero.kernels.backup.tree import BackupTree
from probzero.kernels.dispatch import takes_triton

__all__ = ["BackupTree", "backup"]


def backup(
    tree: BackupTree,
    nodes: torch.Tensor,
    level_sizes: Sequence[int] | None,
    games: torch.Tensor | None,
    temperature: float = 1.0,
    *,
    use_triton: bool | None = None,
) -> None:
    """Update `tree` in place for the touched nodes; the equations are in `reference`.

    nodes        int64 [T]  touched nodes, each once, deepest level first, each with at least one explored child
    level_sizes  sums to T  nodes of one level depend only on earlier (deeper) levels and on untouched nodes; None
                            if the order is deepest first but not by level, which the reference does not take
    games        int64 [T]  game of each node; nodes of different games share nothing; None: the kernel is not taken
    temperature  that of winner_prob
    use_triton   force the kernel (True) or the reference (False); by default the device of `nodes` decides between the
                 kernel and the compiled loop
    """
    if not temperature > 0:
        raise bad("backup", "temperature", "a number above 0", temperature)
    if level_sizes is None and use_triton is False:
        raise bad("backup", "level_sizes", "the sizes of the levels", None)
    if level_sizes is not None and sum(level_sizes) != nodes.numel():
        raise bad("backup", "level_sizes", f"a sum of {nodes.numel()} (touched nodes)", sum(level_sizes))
    if nodes.numel() == 0:
        return
    if takes_triton(nodes, use_triton):
        from probzero.kernels.backup import triton_kernel

        if games is None:
            raise bad("backup", "games", "the game of each node", None)
        triton_kernel.backup(tree, nodes, games, temperature)
    elif level_sizes is not None and use_triton is False:
        reference.backup(tree, nodes, level_sizes, temperature)
    else:
        compiled.backup(tree, nodes, temperature)
