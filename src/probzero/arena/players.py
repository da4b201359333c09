"""Players: whoever can choose moves for a batch of games at once."""

from __future__ import annotations

from typing import Protocol

import torch

from probzero.search.build import SearchFactory
from probzero.search.move_choice import best


class Player(Protocol):
    """Plays a batch of games side by side. Games are numbered from 0; `games` [n] names some of them.

    All tensors, given and returned, lie in the processor's memory."""

    def begin(self, states: torch.Tensor, keys: torch.Tensor) -> None:
        """Start new games from states [G, words]; keys [G] are the games' roots of randomness."""

    def choose(self, games: torch.Tensor, ply: int) -> torch.Tensor:
        """Return a legal action [n] for each of games [n], in which it is this player's turn."""

    def observe(self, games: torch.Tensor, action: torch.Tensor) -> None:
        """Learn of actions [n] played, by either side, in games [n]."""


class SearchPlayer:
    """A search with one network, or with playouts; plays the move it gives the largest weight."""

    def __init__(self, factory: SearchFactory, particles: int, batches: int) -> None:
        self.factory = factory
        self.particles, self.batches = particles, batches

    def begin(self, states: torch.Tensor, keys: torch.Tensor) -> None:
        self.search = self.factory.start(states, keys)

    def choose(self, games: torch.Tensor, ply: int) -> torch.Tensor:
        games = games.to(self.factory.device)
        self.search.run(games, self.particles, self.batches, ply)
        return best(self.search.moves(games)).cpu()

    def observe(self, games: torch.Tensor, action: torch.Tensor) -> None:
        self.search.advance(games.to(self.factory.device), action.to(self.factory.device))
