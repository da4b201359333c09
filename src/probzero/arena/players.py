"""Players: whoever can choose moves for a batch of games at once."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from probzero.devices import on
from probzero.games.base import Game, list_moves
from probzero.kinds import Array, pick, plain
from probzero.network.inference import Evaluator
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


class PolicyPlayer:
    """A network that does not search: plays the move its policy gives the largest prior."""

    def __init__(self, evaluator: Evaluator, game: Game) -> None:
        self.evaluator, self.game = evaluator, game

    def begin(self, states: Array, keys: Array) -> None:
        self.states = plain(states).copy()

    def choose(self, games: Array, ply: int) -> np.ndarray:
        return raw_moves(self.evaluator, self.game, on(self.states[games], self.evaluator.device))

    def observe(self, games: Array, action: Array) -> None:
        self.states[games] = self.game.play(self.states[games], action)


def raw_moves(evaluator: Evaluator, game: Game, states: Array) -> np.ndarray:
    """Return the legal action [n] with the largest prior; the states lie where the evaluator computes."""
    moves = list_moves(game.legal(states), game.most_moves)
    prior = plain(evaluator(states, moves).prior)
    return pick(plain(moves), prior.argmax(1, keepdims=True))[:, 0]
