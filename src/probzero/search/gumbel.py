"""Gumbel AlphaZero (Danihelka, Guez, Schrittwieser and Silver, ICLR 2022): a better policy from few visits.

With the network's policy π and value v̂, visits N, results W seen by the player who moves, and n = Σ N over the moves
of a node:

    q      = W / N, and for a move never tried the mixed value (v̂ + n · Σ π q / Σ π) / (n + 1), sums over tried moves
    σ(q)   = (c_visit + max N) · c_scale · q                               q in [−1, 1]
    π′     = softmax(log π + σ(q))                                         the improved policy

Root: the m moves of largest g + log π, with Gumbel noise g drawn once a search (none in evaluation), are halved again
and again. A phase visits each of the k that are left max(1, ⌊budget / (⌈log₂ m⌉ · k)⌋) times and hands on
max(2, ⌊k / 2⌋), those of largest g + log π + σ(q). The best by that score among the most visited is played.
Below the root: the move of largest π′ − N / (1 + n). The policy target is π′ at the root.

The visits of one round, one to each move left, go down together: they are a game's leaf batch, and need no virtual
loss, as each begins with another move.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from probzero.config import Search
from probzero.kinds import Array, cast, count_up, plain, space
from probzero.random_keys import key, uniform
from probzero.search.base import SIMULATIONS_PER_LEAF
from probzero.search.evaluation import Evaluate
from probzero.search.graph import Graph
from probzero.search.mcts import MctsSearch
from probzero.search.move_choice import TINY, Moves


class Rule(NamedTuple):
    """The constants, as compiled loops take them."""

    moves: int  # m, at most
    visits: float  # c_visit
    scale: float  # c_scale


class RootArrays(NamedTuple):
    """What is kept of the roots, as numpy sees it."""

    noise: np.ndarray  # [G, K] g, by the order of the moves
    before: np.ndarray  # [G, K] visits that a move had when the search began


class GumbelSearch(MctsSearch):
    """Searches the games of one graph by sequential halving of the roots' moves."""

    UCB1 = False
    CONTINUES = False  # the budget decides when moves are dropped

    def __init__(self, graph: Graph, evaluate: Evaluate, settings: Search) -> None:
        super().__init__(graph, evaluate, settings)
        self.noise = graph.backend.zeros(graph.games, graph.rules.most_moves, dtype="float64")
        self.before = graph.backend.zeros(graph.games, graph.rules.most_moves, dtype="int64")
        self.rule = Rule(settings.gumbel_moves, settings.gumbel_visits, settings.gumbel_scale)
        self.stages = stages(self.rule.moves, 1, 1)
        self.round = 0

    @cached_property
    def root_arrays(self) -> RootArrays:
        return RootArrays(plain(self.noise), plain(self.before))

    @property
    def stage(self) -> np.ndarray:
        """The stage [m + 1, 2] of the present round, by the number of moves that a root considers."""
        return self.stages[:, self.round]

    def add_noise(self, games: Array, share: float, concentration: float, ply: int) -> None:
        """Draw g = −log(−log u), times `share`, for the roots of games [n]; it is of the next search alone."""
        slots = count_up(games, self.graph.rules.most_moves)
        drawn = uniform((self.graph.game_key[games] ^ key("gumbel", ply))[:, None], slots)
        xp = space(drawn)
        self.noise[games] = -xp.log(-xp.log(drawn.clip(min=TINY))) * share

    def advance(self, games: Array, action: Array) -> None:
        super().advance(games, action)
        self.noise[games] = 0

    def run(self, games: Array, particles: int, batches: int, step: int) -> None:
        """Search games [n] with particles × batches simulations, or so many leaves, in rounds of sequential halving."""
        budget = particles * batches
        simulations = budget * SIMULATIONS_PER_LEAF if self.settings.budget == "leaves" else budget
        self.stages, self.round = stages(self.rule.moves, budget, simulations), 0
        super(MctsSearch, self).run(games, budget, 1, step)

    def most_batches(self, batches: int) -> int:
        return self.stages.shape[1]

    def simulate(self, roots: Array, particles: Array, most: int, salt: int) -> None:
        if self.round == 0:
            edges = self.graph.edges_of(roots)
            games = self.graph.game(roots)
            self.before[games] = 0
            self.before[games[:, None], count_up(games, edges.index.shape[1])] = cast(
                self.graph.edge_visits[edges.index], "int64"
            )
        self._settle(self.graph.backend.select_improved(self, roots, particles))
        self.round += 1

    def moves(self, games: Array) -> Moves:
        """Return the roots' moves; all weight is on the one to play."""
        return self._moves(games, 0)

    def lesson(self, games: Array, moves: Moves) -> Moves:
        """Return the roots' moves, weighted by the improved policy."""
        return self._moves(games, 1)

    def _moves(self, games: Array, row: int) -> Moves:
        edges = self.graph.edges_of(self.graph.root[games])
        weight = self.graph.backend.improve(self, self.graph.root[games])[row]
        tried = (self.graph.edge_visits[edges.index] > 0) & edges.real
        return Moves(cast(self.graph.edge_action[edges.index], "int64"), tried, weight)


def stages(most: int, budget: int, simulations: int) -> np.ndarray:
    """Return [most + 1, rounds, 2]: for a root that considers m moves, how many visits of this search the moves of a
    round have had, and how many of them are visited; none after the last round.

    The phases are those of a budget; after them the moves that are left are visited on, up to so many simulations.
    """
    plans = [_rounds(moves, budget, simulations) for moves in range(most + 1)]
    table = np.zeros((most + 1, max(map(len, plans)), 2), np.int64)
    for moves, plan in enumerate(plans):
        table[moves, : len(plan)] = np.array(plan).reshape(-1, 2)
    return table


def _rounds(moves: int, budget: int, simulations: int) -> list[tuple[int, int]]:
    """Return the rounds of a root that considers so many moves: visits before, and moves visited."""
    plan: list[tuple[int, int]] = []
    left, kept = simulations if moves else 0, moves
    phases = max(1, math.ceil(math.log2(max(moves, 1))))
    while left > 0:
        for _ in range(max(1, budget // (phases * kept))):
            if left > 0:
                plan.append((len(plan), min(kept, left)))
                left -= kept
        kept = min(moves, max(2, kept // 2))
    return plan
