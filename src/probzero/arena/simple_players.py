"""Players without a network: they know the rules and look one move ahead."""

from __future__ import annotations

from collections.abc import Callable

import torch

from probzero.games.bits import popcount
from probzero.games.othello import Othello
from probzero.random_keys import key, uniform

# Whole numbers [n]: how good positions (own, opp) [n], the opponent to move, are for us.
Score = Callable[[Othello, torch.Tensor, torch.Tensor], torch.Tensor]


def indifferent(rules: Othello, own: torch.Tensor, opp: torch.Tensor) -> torch.Tensor:
    """Every move is as good as another."""
    return own * 0


def most_discs(rules: Othello, own: torch.Tensor, opp: torch.Tensor) -> torch.Tensor:
    return rules.margin(opp, own)


def fewest_replies(rules: Othello, own: torch.Tensor, opp: torch.Tensor) -> torch.Tensor:
    return -popcount(rules.placements(own, opp))


SCORES: dict[str, Score] = {"random": indifferent, "greedy": most_discs, "mobility": fewest_replies}


class Follower:
    """What players without a tree share: from move to move they keep the positions of their games, nothing else."""

    def __init__(self, rules: Othello) -> None:
        self.rules = rules

    def begin(self, own: torch.Tensor, opp: torch.Tensor, keys: torch.Tensor) -> None:
        self.own, self.opp, self.keys = own.clone(), opp.clone(), keys.clone()

    def observe(self, games: torch.Tensor, action: torch.Tensor) -> None:
        self.own[games], self.opp[games] = self.rules.place(self.own[games], self.opp[games], action)


class OnePlyPlayer(Follower):
    """Plays the legal move with the highest score; equal ones are decided by the game's key."""

    def __init__(self, rules: Othello, score: Score) -> None:
        super().__init__(rules)
        self.score = score

    def choose(self, games: torch.Tensor, ply: int) -> torch.Tensor:
        own, opp = self.own[games], self.opp[games]
        legal = self.rules.legal(own, opp)
        row, action = legal.nonzero(as_tuple=True)
        after = self.rules.place(own[row], opp[row], action)
        chance = uniform(self.keys[games][row] ^ key("tie", ply), action)  # below the step between whole scores
        score = torch.full(legal.shape, -torch.inf, dtype=torch.float64)
        score[row, action] = self.score(self.rules, *after).double() + chance
        return score.argmax(1)
