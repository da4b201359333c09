"""backup: the new policies and values of every touched node of a batch of games, deepest first, in place."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from probzero.errors import bad
from probzero.kernels.backup import reference
from probzero.kernels.backup.tree import BackupTree
from probzero.kernels.dispatch import takes_triton

__all__ = ["BackupTree", "backup"]


def backup(
    tree: BackupTree,
    nodes: torch.Tensor,
    level_sizes: Sequence[int],
    games: torch.Tensor,
    temperature: float = 1.0,
    *,
    use_triton: bool | None = None,
) -> None:
    """Update `tree` in place for the touched nodes; the equations are in `reference`.

    nodes        int64 [T]  touched nodes, each once, deepest level first, each with at least one explored child
    level_sizes  sums to T  nodes of one level depend only on earlier (deeper) levels and on untouched nodes
    games        int64 [T]  game of each node; nodes of different games share nothing
    temperature  that of winner_prob
    use_triton   force the kernel (True) or the reference (False); by default the device of `nodes` decides
    """
    if not temperature > 0:
        raise bad("backup", "temperature", "a number above 0", temperature)
    if sum(level_sizes) != nodes.numel():
        raise bad("backup", "level_sizes", f"a sum of {nodes.numel()} (touched nodes)", sum(level_sizes))
    if nodes.numel() == 0:
        return
    if takes_triton(nodes, use_triton):
        from probzero.kernels.backup import triton_kernel

        triton_kernel.backup(tree, nodes, games, temperature)
    else:
        reference.backup(tree, nodes, level_sizes, temperature)
