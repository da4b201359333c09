"""Monte Carlo tree search over a batch of games: AlphaZero's PUCT, and UCB1.

Every simulation goes down one path of every game at once, to leaves that are evaluated in one network call for all
games, and their values come back up with alternating sign. The graph is the particle search's; only the edges' sums of
results are added. Simulations of one game follow one another, as AlphaZero's do without virtual loss.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from probzero import wdl
from probzero.config import Search
from probzero.search import compiled_mcts
from probzero.search.arrays import zeros
from probzero.search.choice import Moves
from probzero.search.evaluation import Evaluate
from probzero.search.graph import GraphSearch
from probzero.search.scores import scores
from probzero.search.tree import Tree


class Paths(NamedTuple):
    """The way of one simulation in each of n games."""

    roots: torch.Tensor  # [n]
    games: torch.Tensor  # [n]
    edges: torch.Tensor  # [n, depth] taken from the root on; 0 after the last
    leaves: torch.Tensor  # [n] where it ended: a node reached for the first time, or a finished game


class MctsSearch(GraphSearch):
    """Searches the games of one tree by simulations that each follow the best score (see `scores`)."""

    def __init__(self, tree: Tree, evaluate: Evaluate, settings: Search) -> None:
        super().__init__(tree, evaluate, settings)
        device = tree.device
        self.edge_value = zeros(len(tree.edge_child), dtype=torch.float64, device=device)  # [E] W, for the mover
        self.low = torch.full((tree.games,), torch.inf, dtype=torch.float64, device=device)  # [G] least Q of a search
        self.high = torch.full((tree.games,), -torch.inf, dtype=torch.float64, device=device)  # [G] and greatest

    def run(self, games: torch.Tensor, particles: int, batches: int, step: int) -> None:
        """Search games [n] with particles × batches simulations, one after another."""
        self.low[games], self.high[games] = torch.inf, -torch.inf
        super().run(games, 1, particles * batches, step)

    def simulate(self, roots: torch.Tensor, particles: torch.Tensor, salt: int) -> None:
        paths = select_in_step(self, roots) if self.tree.in_step else _select_compiled(self, roots)
        self._evaluate(paths.leaves[~self.tree.evaluated[paths.leaves]])
        result = wdl.expectation(self.tree.search[paths.leaves, Tree.VALUE]).double()
        (add_results_in_step if self.tree.in_step else _add_results_compiled)(self, paths, result)

    def moves(self, games: torch.Tensor) -> Moves:
        """Return the roots' moves, weighted by visits."""
        edges = self.tree.edges_of(self.tree.root[games])
        visits = self.tree.edge_visits[edges.index].double()
        return Moves(self.tree.edge_action[edges.index].long(), visits > 0, visits)

    def value(self, games: torch.Tensor) -> torch.Tensor:
        """Return the mean result [n] of all simulations through the roots."""
        edges = self.tree.edges_of(self.tree.root[games])
        visits = self.tree.edge_visits[edges.index].sum(1)
        return self.edge_value[edges.index].sum(1) / visits.clamp(min=1)


def _select_compiled(search: MctsSearch, roots: torch.Tensor) -> Paths:
    tree, settings = search.tree, search.settings
    games = tree.game(roots)
    path = torch.zeros(len(roots), tree.rules.longest_game + 1, dtype=torch.int64)
    leaves = torch.empty_like(roots)
    arrays = (
        tree.evaluated, tree.first_edge, tree.edge_count, tree.edge_child, tree.edge_policy, tree.edge_visits,
        search.edge_value, path, leaves,
    )  # fmt: skip
    compiled_mcts.select(
        roots.numpy(),
        games.numpy(),
        search.low.numpy(),
        search.high.numpy(),
        settings.algorithm == "ucb1",
        settings.exploration,
        settings.exploration_growth == "logarithmic",
        settings.q_scale == "minmax",
        settings.unvisited == "first",
        *(array.numpy() for array in arrays),
    )
    return Paths(roots, games, path, leaves)


def select_in_step(search: MctsSearch, roots: torch.Tensor) -> Paths:
    """Follow the best scores from roots [n] down; the same with tensor operations on any device."""
    tree = search.tree
    games = tree.game(roots)
    path = torch.zeros(len(roots), tree.rules.longest_game + 1, dtype=torch.int64, device=tree.device)
    node = roots.clone()
    rows = torch.arange(len(roots), device=tree.device)
    for depth in range(path.shape[1]):
        rows = rows[tree.edge_count[node[rows]] > 0]  # neither leaves nor finished games have edges
        if not len(rows):
            break
        edges = tree.edges_of(node[rows])
        game = games[rows]
        score = scores(
            search.settings,
            tree.edge_visits[edges.index] * edges.real,
            search.edge_value[edges.index],
            tree.edge_policy[edges.index],
            search.low[game],
            search.high[game],
        )
        slot = score.masked_fill(~edges.real, -torch.inf).argmax(1, keepdim=True)
        taken = edges.index.gather(1, slot)[:, 0]
        path[rows, depth] = taken
        node[rows] = edges.child.gather(1, slot)[:, 0]
        tree.edge_child[taken] = node[rows]  # explored from now on
    return Paths(roots, games, path, node)


def _add_results_compiled(search: MctsSearch, paths: Paths, result: torch.Tensor) -> None:
    tree = search.tree
    arrays = (
        paths.roots, paths.edges, result, paths.games, search.low, search.high, tree.edge_child, tree.edge_visits,
        search.edge_value, tree.visits,
    )  # fmt: skip
    compiled_mcts.add_results(*(array.numpy() for array in arrays))


def add_results_in_step(search: MctsSearch, paths: Paths, result: torch.Tensor) -> None:
    """Carry results [n], seen by the players to move at the leaves, up their paths with alternating sign."""
    tree = search.tree
    taken = paths.edges > 0
    above = taken.sum(1, keepdim=True) - torch.arange(taken.shape[1], device=tree.device)  # plies to the leaf
    value = torch.where(above % 2 == 0, result[:, None], -result[:, None])[taken]
    edges = paths.edges[taken]
    games = paths.games[:, None].expand_as(taken)[taken]
    tree.edge_visits.index_add_(0, edges, torch.ones_like(edges, dtype=torch.int32))
    search.edge_value.index_add_(0, edges, value)
    mean = search.edge_value[edges] / tree.edge_visits[edges]
    search.low.scatter_reduce_(0, games, mean, "amin")
    search.high.scatter_reduce_(0, games, mean, "amax")
    reached = torch.cat([paths.roots, tree.edge_child[edges]])
    tree.visits.index_add_(0, reached, torch.ones_like(reached, dtype=torch.int32))
