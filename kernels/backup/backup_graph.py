"""What backup needs to see of a search graph."""

from __future__ import annotations

from typing import Protocol

import torch


class BackupGraph(Protocol):
    """M nodes and E edges of all games together; the edges of a node are consecutive. All tensors contiguous."""

    first_edge: torch.Tensor  # int64 [M]
    edge_count: torch.Tensor  # int64 [M], at least 1 for evaluated non-terminal nodes
    edge_child: torch.Tensor  # int64 [E], node reached, or negative while unexplored
    edge_policy: torch.Tensor  # float32 [E], policy_search: sums to 1 over the edges of a node
    search: torch.Tensor  # float32 [M, 2, 3], rows value_search and value_target
    net: torch.Tensor  # float32 [M, 2, 3], rows value_net and reward_net
    closed: torch.Tensor  # bool [M], terminal or exhausted: nothing left to explore below
    first_parent: torch.Tensor  # int64 [M], the first move to a node: parent · most_moves + slot + 1, or 0
    next_parent: torch.Tensor  # int64 [E], the next of the moves to the same child, or 0
    scratch: torch.Tensor  # int64 [M], the touched node after each, −1 after the last; written
    most_moves: int  # no node has more edges


# Rows of `search` and of `net`.
VALUE, TARGET = 0, 1
