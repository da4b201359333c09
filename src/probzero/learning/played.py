"""AlphaZero's training targets: one sample for every move that was played, from visits and the game's outcome."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from probzero import wdl
from probzero.config import Targets
from probzero.games.othello import Othello
from probzero.learning.dataset import Samples
from probzero.learning.targets import as_array
from probzero.search.choice import Moves


@dataclass
class PlayedMoves:
    """The record of MCTS: positions, visits and values ply by ply. n games are still going at a ply."""

    rules: Othello
    games: list[torch.Tensor] = field(default_factory=list)  # [n]
    own: list[torch.Tensor] = field(default_factory=list)  # [n]
    opp: list[torch.Tensor] = field(default_factory=list)  # [n]
    policy: list[torch.Tensor] = field(default_factory=list)  # [n, A] shares of visits
    value: list[torch.Tensor] = field(default_factory=list)  # [n] the root's value

    def note(
        self, games: torch.Tensor, own: torch.Tensor, opp: torch.Tensor, moves: Moves, value: torch.Tensor
    ) -> None:
        """Note the positions [n] of games [n] as they are searched, before the moves are played."""
        policy = torch.zeros(len(games), self.rules.actions, dtype=torch.float64, device=games.device)
        # Rows are padded with an action of edge 0; adding their zero weight changes nothing.
        policy.scatter_add_(1, moves.action, moves.weight)
        self.games.append(games)
        self.own.append(own)
        self.opp.append(opp)
        self.policy.append(policy / policy.sum(1, keepdim=True))
        self.value.append(value)

    def samples(self, result: torch.Tensor, settings: Targets) -> Samples:
        """Return a sample for every position noted; result [G] (+1, 0, −1) is that of the player who moved first."""
        size = len(result)
        plies = len(self.games)
        games, own, opp, policy = (torch.cat(part) for part in (self.games, self.own, self.opp, self.policy))
        ply = torch.cat([torch.full_like(part, number) for number, part in enumerate(self.games)])
        outcome = wdl.from_result(torch.where(ply % 2 == 0, result[games], -result[games]))  # for the player to move
        root = torch.zeros(plies, size, dtype=torch.float64, device=result.device)
        for number, part in enumerate(self.games):
            root[number, part] = self.value[number]
        last = torch.bincount(games, minlength=size)  # [G] plies noted
        legal = self.rules.legal(own, opp)
        nothing = torch.zeros_like(outcome)
        columns = (
            self.rules.encode(own, opp).reshape(len(own), -1),
            policy,
            legal,
            value_targets(settings, outcome, root, games, ply, last),
            nothing,
            nothing[:, 0],
            torch.ones_like(outcome[:, 0]),
        )
        return Samples(*(as_array(column) for column in columns))


def value_targets(
    settings: Targets,
    outcome: torch.Tensor,
    root: torch.Tensor,
    games: torch.Tensor,
    ply: torch.Tensor,
    last: torch.Tensor,
) -> torch.Tensor:
    """Return value targets [n, 3] of positions at `ply` [n] of games [n], whose outcomes are triples [n, 3].

    outcome  the game's
    search   the root's value q, root [plies, G], as a triple without draws
    mixed    (1 − s)·outcome + s·q                      s = root_share
    steps    ±q of the root `steps` plies later, seen by the player to move now; the outcome if the game ends before

    last [G] counts the plies of each game.
    """
    if settings.value == "outcome":
        return outcome
    mine = wdl.from_expectation(root[ply, games].clamp(-1, 1)).to(outcome.dtype)
    if settings.value == "search":
        return mine
    if settings.value == "mixed":
        return (1 - settings.root_share) * outcome + settings.root_share * mine
    later = ply + settings.steps
    there = later < last[games]
    value = root[torch.where(there, later, ply), games].clamp(-1, 1) * (1 if settings.steps % 2 == 0 else -1)
    return torch.where(there[:, None], wdl.from_expectation(value).to(outcome.dtype), outcome)
