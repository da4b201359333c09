"""Choosing the move to play from a searched root."""

from __future__ import annotations

import torch

from probzero.random_keys import key, uniform
from probzero.search.tree import Tree


def _explored_policy(tree: Tree, games: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the roots' actions [n, K], which are explored [n, K], and policy_search over those, normalised [n, K]."""
    edges = tree.edges_of(tree.root[games])
    policy = tree.edge_policy[edges.index].to(torch.float64) * edges.explored
    total = policy.sum(1, keepdim=True)
    even = edges.explored / edges.explored.sum(1, keepdim=True)
    return tree.edge_action[edges.index], edges.explored, torch.where(total > 0, policy / total, even)


def best(tree: Tree, games: torch.Tensor) -> torch.Tensor:
    """Return the explored action [n] with the largest policy_search at the root of each of games [n]."""
    action, explored, policy = _explored_policy(tree, games)
    return action.gather(1, torch.where(explored, policy, -1.0).argmax(1, keepdim=True))[:, 0]


def sample(tree: Tree, games: torch.Tensor, exploration: float, ply: int) -> torch.Tensor:
    """Return actions [n] drawn from (1 − ε)·policy_search + ε·uniform, both over the explored moves of the root."""
    action, explored, policy = _explored_policy(tree, games)
    even = explored / explored.sum(1, keepdim=True)
    bounds = ((1 - exploration) * policy + exploration * even).cumsum(1)
    drawn = uniform(tree.game_key[games] ^ key("move", ply))[:, None]
    slot = (bounds <= drawn * bounds[:, -1:]).sum(1, keepdim=True)
    last = explored.sum(1, keepdim=True) - 1
    return action.gather(1, torch.minimum(slot, last))[:, 0]
