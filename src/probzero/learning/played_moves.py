"""AlphaZero's training targets: one sample for every move that was played, from visits and the game's outcome."""

from __future__ import annotations

import torch

from probzero import wdl
from probzero.config import Targets
from probzero.games.base import list_moves
from probzero.learning.dataset import Samples
from probzero.learning.record import Position, as_array
from probzero.search.base import GraphSearch


class PlayedMoves:
    """The record of MCTS: positions, visits and values ply by ply. n games are still going at a ply."""

    def __init__(self, search: GraphSearch) -> None:
        self.game = search.graph.rules
        self._slots = torch.arange(self.game.most_moves, device=search.graph.device)
        self.played: list[Position] = []

    def note(self, position: Position) -> None:
        self.played.append(position)

    def samples(self, result: torch.Tensor, settings: Targets) -> Samples:
        """Return a sample for every position noted."""
        size, plies = len(result), len(self.played)
        games, states = (torch.cat(part) for part in list(zip(*self.played, strict=True))[:2])
        legal = self.game.legal(states)
        moves, real = list_moves(legal, self.game.most_moves), self._slots < legal.sum(1, keepdim=True)
        policy = torch.cat([self._shares(position) for position in self.played]).gather(1, moves) * real
        ply = torch.cat([torch.full_like(position.games, number) for number, position in enumerate(self.played)])
        outcome = wdl.from_result(torch.where(ply % 2 == 0, result[games], -result[games]))  # for the player to move
        root = torch.zeros(plies, size, dtype=torch.float64, device=result.device)
        for number, position in enumerate(self.played):
            root[number, position.games] = position.value
        last = torch.bincount(games, minlength=size)  # [G] plies noted
        nothing = torch.zeros_like(outcome)
        columns = (
            policy,
            real,
            value_targets(settings, outcome, root, games, ply, last),
            nothing,
            nothing[:, 0],
            torch.ones_like(outcome[:, 0]),
        )
        return Samples(states.cpu().numpy(), *(as_array(column) for column in columns))

    def _shares(self, position: Position) -> torch.Tensor:
        """Return the shares of visits [n, A] of a position's moves."""
        moves = position.moves
        policy = torch.zeros(len(moves.weight), self.game.actions, dtype=torch.float64, device=moves.weight.device)
        # Rows are padded with an action of edge 0; adding their zero weight changes nothing.
        policy.scatter_add_(1, moves.action, moves.weight)
        return policy / policy.sum(1, keepdim=True)


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

    def value_at(when: torch.Tensor, sign: int = 1) -> torch.Tensor:
        return wdl.from_expectation(root[when, games].clamp(-1, 1) * sign).to(outcome.dtype)

    def mixed() -> torch.Tensor:
        return (1 - settings.root_share) * outcome + settings.root_share * value_at(ply)

    def steps() -> torch.Tensor:
        later = ply + settings.steps
        there = later < last[games]
        value = value_at(torch.where(there, later, ply), 1 if settings.steps % 2 == 0 else -1)
        return torch.where(there[:, None], value, outcome)

    kinds = {"outcome": lambda: outcome, "search": lambda: value_at(ply), "mixed": mixed, "steps": steps}
    return kinds[settings.value]()
