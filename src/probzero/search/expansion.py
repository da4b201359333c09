"""What a new node needs before and after its evaluation: its legal moves and rank, then its edges and children.

Each is there as tensor operations, for GPUs, and as a compiled loop, for processors.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch

from probzero.errors import bad
from probzero.games.othello import Othello
from probzero.search import compiled
from probzero.search.table import hash_rows
from probzero.search.tree import Tree


@cache
def _lines(rules: Othello) -> np.ndarray:
    return np.array(rules.lines, dtype=np.int64)  # [4, 3] shift and the two landing masks


def legal_moves(tree: Tree, own: torch.Tensor, opp: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the legal moves [n, A] (bool) and the rank [n] (int16) of positions own, opp [n]."""
    rules = tree.rules
    if tree.in_step:
        legal = rules.legal(own, opp)
        return legal, rules.rank(own, opp, legal).to(torch.int16)
    legal, rank = torch.empty(len(own), rules.actions, dtype=torch.bool), torch.empty(len(own), dtype=torch.int16)
    arrays = (own.numpy(), opp.numpy(), _lines(rules), rules.full, rules.longest_run, legal.numpy(), rank.numpy())
    compiled.legal_moves(*arrays)
    return legal, rank


def add_edges(tree: Tree, nodes: torch.Tensor, prior: torch.Tensor, legal: torch.Tensor) -> None:
    """Lay out the edges of newly evaluated nodes [n] by priors [n, A] over legal moves [n, A]; enter the children."""
    count = int(legal.sum())
    first, last = tree.edges, tree.edges + count
    if last > len(tree.edge_child):
        raise bad("memory", tree.what, f"at most {len(tree.edge_child)} edges", f"{last} needed")
    keys, hashes = (lay_out_in_step if tree.in_step else _lay_out_compiled)(tree, nodes, prior, legal, count)
    if not tree.transpositions:
        tree.worlds += count  # one for each child
    tree.edge_child[first:last] = ~tree.enter(keys, hashes)
    tree.edges = last


def _lay_out_compiled(
    tree: Tree, nodes: torch.Tensor, prior: torch.Tensor, legal: torch.Tensor, count: int
) -> tuple[torch.Tensor, torch.Tensor]:
    keys, hashes = torch.empty(count, 3, dtype=torch.int64), torch.empty(count, dtype=torch.int64)
    compiled.lay_out(
        nodes.numpy(), prior.numpy(), legal.numpy(), tree.edges, _lines(tree.rules), tree.rules.longest_run,
        tree.table.keys.numpy(), tree.key.numpy(), tree.game_key.numpy(), tree.transpositions, tree.worlds,
        tree.first_edge.numpy(), tree.edge_count.numpy(), tree.edge_action.numpy(), tree.edge_policy.numpy(),
        keys.numpy(), hashes.numpy(),
    )  # fmt: skip
    return keys, hashes


def lay_out_in_step(
    tree: Tree, nodes: torch.Tensor, prior: torch.Tensor, legal: torch.Tensor, count: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Fill in the edges of nodes [n] in order of falling prior; return keys [count, 3] and hashes of the children."""
    counts = legal.sum(1)
    order = torch.where(legal, prior, -1.0).sort(dim=1, descending=True, stable=True).indices
    row, slot = (torch.arange(legal.shape[1], device=tree.device) < counts[:, None]).nonzero(as_tuple=True)
    action, parent = order[row, slot], nodes[row]
    edges = slice(tree.edges, tree.edges + count)
    tree.first_edge[nodes] = tree.edges + counts.cumsum(0) - counts
    tree.edge_count[nodes] = counts
    tree.edge_action[edges] = action.to(torch.int8)
    tree.edge_policy[edges] = prior[row, action]
    own, opp = tree.rules.place(tree.own[parent], tree.opp[parent], action)
    place, salt = tree.table.keys[parent, 2], tree.game_key[tree.game(parent)]
    if not tree.transpositions:
        worlds = torch.arange(tree.worlds, tree.worlds + count, device=tree.device)
        place, salt = tree.game(parent) + tree.games * worlds, tree.key[parent]
    return torch.stack([own, opp, place], dim=1), hash_rows(torch.stack([own, opp, salt], dim=1))
