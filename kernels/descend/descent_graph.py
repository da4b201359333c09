"""What descend needs to see of a search graph."""

from __future__ import annotations

from typing import Protocol

import torch


class DescentGraph(Protocol):
    """M nodes and E edges of G games together; the edges of a node are consecutive. All tensors contiguous."""

    key: torch.Tensor  # int64 [M], to which a node's random draw is keyed
    rank: torch.Tensor  # int16 [M], rises along every edge
    evaluated: torch.Tensor  # bool [M]
    closed: torch.Tensor  # bool [M], terminal or exhausted: nothing left to explore below
    visits: torch.Tensor  # int32 [M], written
    volume: torch.Tensor  # int32 [M], particles waiting; 0 before and after
    first_edge: torch.Tensor  # int64 [M]
    edge_count: torch.Tensor  # int64 [M]
    edge_child: torch.Tensor  # int64 [E] child; ~child while unexplored; written
    edge_policy: torch.Tensor  # float32 [E], policy_search: sums to 1 over the edges of a node
    edge_visits: torch.Tensor  # int32 [E], written
    scratch: torch.Tensor  # int64 [M], written: the node of the same game that was split before; −1 after the first
    rank_heads: torch.Tensor  # int64 [G, ranks], −1 before and after
    most_moves: int  # no node has more edges
