"""Players without a network: they know the rules and look one move ahead."""

from __future__ import annotations

from collections.abc import Callable

import torch

from probzero.games.base import Game
from probzero.random_keys import key, uniform

# Whole numbers [n]: how good states [n, words], the opponent to move, are for us.
Score = Callable[[Game, torch.Tensor], torch.Tensor]


def indifferent(game: Game, states: torch.Tensor) -> torch.Tensor:
    """Every move is as good as another."""
    return states[:, 0] * 0


def largest_margin(game: Game, states: torch.Tensor) -> torch.Tensor:
    return -game.margin(states)


def fewest_replies(game: Game, states: torch.Tensor) -> torch.Tensor:
    return -game.legal(states).sum(1)


SCORES: dict[str, Score] = {"random": indifferent, "greedy": largest_margin, "mobility": fewest_replies}


class Follower:
    """What players without a tree share: from move to move they keep the states of their games, nothing else."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def begin(self, states: torch.Tensor, keys: torch.Tensor) -> None:
        self.states, self.keys = states.clone(), keys.clone()

    def observe(self, games: torch.Tensor, action: torch.Tensor) -> None:
        self.states[games] = self.game.play(self.states[games], action)


class OnePlyPlayer(Follower):
    """Plays the legal move with the highest score; equal ones are decided by the game's key."""

    def __init__(self, game: Game, score: Score) -> None:
        super().__init__(game)
        self.score = score
        score(game, torch.from_numpy(game.start())[None])  # an error now if the game lacks what the score asks for

    def choose(self, games: torch.Tensor, ply: int) -> torch.Tensor:
        states = self.states[games]
        legal = self.game.legal(states)
        row, action = legal.nonzero(as_tuple=True)
        after = self.game.play(states[row], action)
        chance = uniform(self.keys[games][row] ^ key("tie", ply), action)  # below the step between whole scores
        score = torch.full(legal.shape, -torch.inf, dtype=torch.float64)
        score[row, action] = self.score(self.game, after).double() + chance
        return score.argmax(1)
