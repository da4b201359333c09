"""AlphaZero's training targets: one sample for every move that was played, from its search and the game's outcome."""

from __future__ import annotations

import numpy as np

from probzero import wdl
from probzero.config import Targets
from probzero.games.base import list_moves
from probzero.kinds import Array, cast, count_up, pick, plain, space
from probzero.learning.dataset import Samples
from probzero.learning.record import Position, as_array
from probzero.search.base import GraphSearch


class PlayedMoves:
    """The record of MCTS: positions, visits and values ply by ply. n games are still going at a ply."""

    def __init__(self, search: GraphSearch) -> None:
        self.game = search.graph.rules
        self.played: list[Position] = []

    def note(self, position: Position) -> None:
        self.played.append(position)

    def samples(self, result: Array, settings: Targets) -> Samples:
        """Return a sample for every position noted of which `least_moves` were tried."""
        size, plies, xp = len(result), len(self.played), space(result)
        games, states = (xp.concatenate(part) for part in list(zip(*self.played, strict=True))[:2])
        legal = self.game.legal(states)
        moves = list_moves(legal, self.game.most_moves)
        real = count_up(moves, self.game.most_moves) < legal.sum(1, keepdims=True)
        policy = pick(xp.concatenate([self._shares(position) for position in self.played]), moves) * real
        ply = xp.concatenate([position.games * 0 + number for number, position in enumerate(self.played)])
        outcome = wdl.from_result(xp.where(ply % 2 == 0, result[games], -result[games]))  # for the player to move
        root = xp.zeros((plies, size), dtype=xp.float64, device=result.device)
        for number, position in enumerate(self.played):
            root[number, position.games] = position.value
        last = xp.bincount(games, minlength=size)  # [G] plies noted
        nothing = xp.zeros_like(outcome)
        columns = (
            policy,
            real,
            value_targets(settings, outcome, root, games, ply, last),
            nothing,
            nothing[:, 0],
            xp.ones_like(outcome[:, 0]),
        )
        tried = plain(xp.concatenate([position.moves.tried.sum(1) for position in self.played]))
        samples = Samples(plain(states), *(as_array(column) for column in columns))
        return samples.take(np.flatnonzero(tried >= settings.least_moves))

    def _shares(self, position: Position) -> Array:
        """Return the shares of visits [n, A] of a position's moves."""
        moves = position.moves
        xp, rows = space(moves.weight), count_up(moves.weight, len(moves.weight))[:, None]
        places = (rows * self.game.actions + moves.action).reshape(-1)
        # Rows are padded with an action of edge 0; adding their zero weight changes nothing.
        policy = xp.bincount(places, moves.weight.reshape(-1), minlength=len(rows) * self.game.actions)
        policy = policy.reshape(len(rows), self.game.actions)
        return policy / policy.sum(1, keepdims=True)


def value_targets(
    settings: Targets,
    outcome: Array,
    root: Array,
    games: Array,
    ply: Array,
    last: Array,
) -> Array:
    """Return value targets [n, 3] of positions at `ply` [n] of games [n], whose outcomes are triples [n, 3].

    outcome  the game's
    search   the root's value q, root [plies, G], as a triple without draws
    mixed    (1 − s)·outcome + s·q                      s = root_share
    steps    ±q of the root `steps` plies later, seen by the player to move now; the outcome if the game ends before

    last [G] counts the plies of each game.
    """

    def value_at(when: Array, sign: int = 1) -> Array:
        return cast(wdl.from_expectation(root[when, games].clip(-1, 1) * sign), "float32")

    def mixed() -> Array:
        return (1 - settings.root_share) * outcome + settings.root_share * value_at(ply)

    def steps() -> Array:
        later = ply + settings.steps
        there = later < last[games]
        value = value_at(space(ply).where(there, later, ply), 1 if settings.steps % 2 == 0 else -1)
        return space(ply).where(there[:, None], value, outcome)

    kinds = {"outcome": lambda: outcome, "search": lambda: value_at(ply), "mixed": mixed, "steps": steps}
    return kinds[settings.value]()
