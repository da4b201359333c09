"""Players: whoever can choose moves for a batch of games at once."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from probzero.kinds import Array, plain
from probzero.search.build import SearchFactory
from probzero.search.move_choice import best


class Player(Protocol):
    """Plays a batch of games side by side. Games are numbered from 0; `games` [n] names some of them.

    All arrays, given and returned, lie in the processor's memory."""

    def begin(self, states: Array, keys: Array) -> None:
        """Start new games from states [G, words]; keys [G] are the games' roots of randomness."""

    def choose(self, games: Array, ply: int) -> Array:
        """Return a legal action [n] for each of games [n], in which it is this player's turn."""

    def observe(self, games: Array, action: Array) -> None:
        """Learn of actions [n] played, by either side, in games [n]."""


class SearchPlayer:
    """A search with one network, or with playouts; plays the move it gives the largest weight."""

    def __init__(self, factory: SearchFactory, particles: int, batches: int) -> None:
        self.factory = factory
        self.particles, self.batches = particles, batches

    def begin(self, states: Array, keys: Array) -> None:
        self.search = self.factory.start(states, keys)

    def choose(self, games: Array, ply: int) -> np.ndarray:
        games = self.search.graph.backend.accept(games)
        self.search.run(games, self.particles, self.batches, ply)
        return plain(best(self.search.moves(games)))

    def observe(self, games: Array, action: Array) -> None:
        accept = self.search.graph.backend.accept
        self.search.advance(accept(games), accept(action))
