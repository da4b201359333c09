"""Players without a network: they know the rules and look one move ahead."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from probzero.games.base import Game
from probzero.kinds import Array, plain
from probzero.random_keys import key, uniform

# Whole numbers [n]: how good states [n, words], the opponent to move, are for us.
Score = Callable[[Game, Array], Array]


def indifferent(game: Game, states: Array) -> Array:
    """Every move is as good as another."""
    return states[:, 0] * 0


def largest_margin(game: Game, states: Array) -> Array:
    return -game.margin(states)


def fewest_replies(game: Game, states: Array) -> Array:
    return -game.legal(states).sum(1)


SCORES: dict[str, Score] = {"random": indifferent, "greedy": largest_margin, "mobility": fewest_replies}


class Follower:
    """What players without a tree share: from move to move they keep the states of their games, nothing else."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def begin(self, states: Array, keys: Array) -> None:
        self.states, self.keys = plain(states).copy(), plain(keys).copy()

    def observe(self, games: Array, action: Array) -> None:
        games, action = plain(games), plain(action)
        self.states[games] = self.game.play(self.states[games], action)


class OnePlyPlayer(Follower):
    """Plays the legal move with the highest score; equal ones are decided by the game's key."""

    def __init__(self, game: Game, score: Score) -> None:
        super().__init__(game)
        self.score = score
        score(game, game.start()[None])  # an error now if the game lacks what the score asks for

    def choose(self, games: Array, ply: int) -> Array:
        games = plain(games)
        states = self.states[games]
        legal = self.game.legal(states)
        row, action = legal.nonzero()
        after = self.game.play(states[row], action)
        chance = uniform(self.keys[games][row] ^ key("tie", ply), action)  # below the step between whole scores
        score = np.full(legal.shape, -np.inf)
        score[row, action] = self.score(self.game, after) + chance
        return score.argmax(1)
