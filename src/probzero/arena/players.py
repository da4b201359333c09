"""Players: whoever can choose moves for a batch of games at once."""

from __future__ import annotations

from typing import Protocol

import torch

from probzero.config import Search
from probzero.games.othello import Othello
from probzero.network.inference import Evaluator
from probzero.search.choice import best
from probzero.search.evaluation import remembered
from probzero.search.particle import ParticleSearch
from probzero.search.tree import Tree


class Player(Protocol):
    """Plays a batch of games side by side. Games are numbered from 0; `games` [n] names some of them."""

    def begin(self, own: torch.Tensor, opp: torch.Tensor, keys: torch.Tensor) -> None:
        """Start new games from positions [G]; keys [G] are the games' roots of randomness."""

    def choose(self, games: torch.Tensor, ply: int) -> torch.Tensor:
        """Return a legal action [n] for each of games [n], in which it is this player's turn."""

    def observe(self, games: torch.Tensor, action: torch.Tensor) -> None:
        """Learn of actions [n] played, by either side, in games [n]."""


class SearchPlayer:
    """Particle search with one network; plays the move with the largest policy_search."""

    def __init__(
        self,
        rules: Othello,
        evaluator: Evaluator,
        search: Search,
        particles: int,
        batches: int,
        capacity: int,
        what: str,
    ) -> None:
        self.rules = rules
        self.settings = search
        self.particles, self.batches = particles, batches
        self.capacity, self.what = capacity, what  # most tree nodes, and the setting that says so
        self.device = evaluator.device
        self.evaluate = remembered(evaluator, search, rules.actions, capacity, self.device)

    def begin(self, own: torch.Tensor, opp: torch.Tensor, keys: torch.Tensor) -> None:
        tree = Tree(self.rules, len(own), self.capacity, self.what, self.device)
        tree.game_key[:] = keys
        self.search = ParticleSearch(tree, self.evaluate, self.settings)
        self.search.start(torch.arange(len(own), device=self.device), own, opp)

    def choose(self, games: torch.Tensor, ply: int) -> torch.Tensor:
        self.search.run(games, self.particles, self.batches, ply)
        return best(self.search.tree, games)

    def observe(self, games: torch.Tensor, action: torch.Tensor) -> None:
        self.search.advance(games, action)
