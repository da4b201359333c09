"""What becomes of nodes that are reached for the first time.

Before their evaluation: legal moves, and the outcome where there are none (`reach`). After it: values, edges and
children (`settle`). Each is there as tensor operations, for GPUs, and as a compiled loop, for processors.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import torch

from probzero import wdl
from probzero.errors import bad
from probzero.games.othello import Othello
from probzero.network.inference import Evaluation
from probzero.search import compiled
from probzero.search.table import hash_rows
from probzero.search.tree import Tree


class Reached(NamedTuple):
    """Nodes at which the game goes on, with their positions."""

    nodes: torch.Tensor  # [n]
    own: torch.Tensor  # [n]
    opp: torch.Tensor  # [n]
    legal: torch.Tensor  # [n, A] bool
    moves: int  # legal moves of all of them


def reach(tree: Tree, nodes: torch.Tensor) -> Reached:
    """Mark distinct new nodes [m] as evaluated and rank them; terminals get their true outcome and are closed.

    Returns the others, whose estimate must follow."""
    return (reach_in_step if tree.in_step else _reach_compiled)(tree, nodes)


def settle(tree: Tree, reached: Reached, evaluation: Evaluation) -> None:
    """Give the nodes their estimates, lay out their edges by falling prior and enter the children."""
    first, last = tree.edges, tree.edges + reached.moves
    if last > len(tree.edge_child):
        raise bad("memory", tree.what, f"at most {len(tree.edge_child)} edges", f"{last} needed")
    (settle_in_step if tree.in_step else _settle_compiled)(tree, reached, evaluation, slice(first, last))
    if not tree.transpositions:
        tree.worlds += reached.moves  # one for each child
    tree.edges = last


@cache
def _lines(rules: Othello) -> np.ndarray:
    return np.array(rules.lines, dtype=np.int64)  # [4, 3] shift and the two landing masks


def _reach_compiled(tree: Tree, nodes: torch.Tensor) -> Reached:
    rules, arrays, count = tree.rules, tree.arrays, len(nodes)
    boards = torch.empty(3, count, dtype=torch.int64)
    legal = torch.empty(count, rules.actions, dtype=torch.bool)
    going, moves = compiled.reach(
        nodes.numpy(), _lines(rules), rules.full, rules.longest_run, arrays.keys, arrays.evaluated, arrays.closed,
        arrays.rank, arrays.search, arrays.net, boards.numpy(), legal.numpy(),
    )  # fmt: skip
    live, own, opp = boards[:, :going].unbind()
    return Reached(live, own, opp, legal[:going], moves)


def reach_in_step(tree: Tree, nodes: torch.Tensor) -> Reached:
    rules = tree.rules
    own, opp = tree.own[nodes], tree.opp[nodes]
    legal = rules.legal(own, opp)
    over = ~legal.any(1)
    tree.evaluated[nodes] = True
    tree.closed[nodes] = over
    tree.rank[nodes] = rules.rank(own, opp, legal).to(torch.int16)
    outcome = wdl.from_result(rules.result(own[over], opp[over]))[:, None]
    tree.search[nodes[over]] = outcome
    tree.net[nodes[over]] = outcome
    live = Reached(nodes[~over], own[~over], opp[~over], legal[~over], 0)
    return live._replace(moves=int(live.legal.sum()))


def _settle_compiled(tree: Tree, reached: Reached, evaluation: Evaluation, edges: slice) -> None:
    arrays, count = tree.arrays, reached.moves
    keys, scratch = np.empty((count, 3), np.int64), np.empty((3, count), np.int64)
    nodes = compiled.settle(
        reached.nodes.numpy(), evaluation.prior.numpy(), evaluation.value.numpy(), evaluation.reward.numpy(),
        reached.legal.numpy(), edges.start, _lines(tree.rules), tree.rules.longest_run, tree.transpositions,
        tree.worlds, arrays.game_key, arrays.slots, arrays.keys, tree.nodes, arrays.key, arrays.search, arrays.net,
        arrays.first_edge, arrays.edge_count, arrays.edge_action, arrays.edge_policy, arrays.edge_child, keys, scratch,
    )  # fmt: skip
    tree.table.reserve(nodes - tree.nodes)


def settle_in_step(tree: Tree, reached: Reached, evaluation: Evaluation, edges: slice) -> None:
    nodes, legal, prior = reached.nodes, reached.legal, evaluation.prior
    estimate = torch.stack([evaluation.value, evaluation.reward], dim=1)
    tree.search[nodes] = estimate
    tree.net[nodes] = estimate
    counts = legal.sum(1)
    order = torch.where(legal, prior, -1.0).sort(dim=1, descending=True, stable=True).indices
    row, slot = (torch.arange(legal.shape[1], device=tree.device) < counts[:, None]).nonzero(as_tuple=True)
    action, parent = order[row, slot], nodes[row]
    tree.first_edge[nodes] = edges.start + counts.cumsum(0) - counts
    tree.edge_count[nodes] = counts
    tree.edge_action[edges] = action.to(torch.int8)
    tree.edge_policy[edges] = prior[row, action]
    own, opp = tree.rules.place(tree.own[parent], tree.opp[parent], action)
    place, salt = tree.table.keys[parent, 2], tree.game_key[tree.game(parent)]
    if not tree.transpositions:
        worlds = torch.arange(tree.worlds, tree.worlds + len(action), device=tree.device)
        place, salt = tree.game(parent) + tree.games * worlds, tree.key[parent]
    keys, hashes = torch.stack([own, opp, place], dim=1), hash_rows(torch.stack([own, opp, salt], dim=1))
    tree.edge_child[edges] = ~tree.enter(keys, hashes)
