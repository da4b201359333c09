"""What an agent whose move is a function of the position alone is worth against every opponent, exactly.

All positions that any opponent can bring the agent into are listed, rank by rank, equal ones merged: where the agent is
to move it goes on by its one move, where the opponent is, by all legal ones. Backward over the same ranks follow

    value(p) = value(after the agent's move)             if the agent is to move        (the opponent's best response)
               min over the opponent's moves             otherwise
    chance(p) = the same with the mean for the minimum                                  (a uniformly random opponent)

and at the ends the game's own score. All numbers speak for the agent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from probzero.games.base import Game

Choose = Callable[[np.ndarray], np.ndarray]  # states int64 [n, W] that are not finished -> a legal action [n] for each
NOBODY = -1  # plays in the place of the agent's action where it is not to move
FAR = 1 << 30  # plies to where no way leads


class Moves(NamedTuple):
    """The moves into the positions of one rank; each leads from a lower rank."""

    parent: np.ndarray  # int64 [e] number of the position
    action: np.ndarray  # int64 [e]
    child: np.ndarray  # int64 [e]


@dataclass(frozen=True)
class Reach:
    """The P positions that any opponent can bring an agent into from S starts, by rising rank."""

    game: Game
    states: np.ndarray  # int64 [P, W] seen by whoever is to move
    turn: np.ndarray  # bool [P] whether that is the agent
    action: np.ndarray  # int64 [P] what the agent plays; NOBODY where it is not to move or the game is over
    finished: np.ndarray  # bool [P]
    into: tuple[Moves, ...]  # by rising rank of the child
    roots: np.ndarray  # int64 [S] the position of each start

    @cached_property
    def score(self) -> np.ndarray:
        """Return the final score int64 [P] of finished games, 0 elsewhere: the margin, if the game has one."""
        score = np.zeros(len(self.states), dtype=np.int64)
        ended = self.states[self.finished]
        told = self.game.margin(ended) if self.game.has_margin else self.game.outcome(ended)
        score[self.finished] = np.where(self.turn[self.finished], told, -told)
        return score

    @cached_property
    def value(self) -> np.ndarray:
        """Return the agent's score int64 [P] against the best response to it."""
        value = np.where(self.finished, self.score, np.iinfo(np.int64).max)
        for moves in reversed(self.into):
            np.minimum.at(value, moves.parent, value[moves.child])
        return value

    @cached_property
    def chance(self) -> np.ndarray:
        """Return the chances float64 [P, 2] of a win and of a draw against uniformly random moves."""
        chance = np.zeros((len(self.states), 2))
        chance[self.finished, 0] = self.score[self.finished] > 0
        chance[self.finished, 1] = self.score[self.finished] == 0
        replies = np.bincount(np.concatenate([moves.parent for moves in self.into]), minlength=len(self.states))
        for moves in reversed(self.into):
            np.add.at(chance, moves.parent, chance[moves.child] / replies[moves.parent][:, None])
        return chance

    def plies_from(self, root: int) -> np.ndarray:
        """Return the fewest plies int64 [P] from position `root` to each, FAR where none lead there."""
        plies = np.full(len(self.states), FAR)
        plies[root] = 0
        for moves in self.into:
            np.minimum.at(plies, moves.child, np.minimum(plies[moves.parent] + 1, FAR))
        return plies

    def refutation(self, root: int) -> list[int]:
        """Return the actions of a game from position `root` in which the opponent plays a best response.

        Of several best moves the one with the lowest number."""
        line: list[int] = []
        parent, action, child = (np.concatenate(column) for column in zip(*self.into, strict=True))
        order = np.lexsort((action, parent))
        parent, action, child = parent[order], action[order], child[order]
        while not self.finished[root]:
            first, last = np.searchsorted(parent, [root, root + 1])
            best = first + int(np.argmin(self.value[child[first:last]]))
            line.append(int(action[best]))
            root = int(child[best])
        return line


def explore(game: Game, starts: np.ndarray, turn: np.ndarray, choose: Choose) -> Reach:
    """Return what opponents can make of an agent from states starts [S, W]; turn [S]: is the agent to move there?

    `choose` is asked once for each rank, for all different positions of it in which the agent is to move.
    """
    width, count = game.words, 0
    # Who waits at each rank, as rows: the state, whether the agent is to move, the parent's number (or −1), the action
    # (or the number of the start).
    waiting: list[list[np.ndarray]] = [[] for _ in range(game.ranks)]

    def wait(states: np.ndarray, *columns: np.ndarray) -> None:
        ranks = game.rank(states, game.legal(states))
        rows = np.column_stack([states, *columns])
        for rank in np.unique(ranks):
            waiting[rank].append(rows[ranks == rank])

    numbers = np.arange(len(starts))
    wait(starts, turn, np.full(len(starts), -1), numbers)
    roots, into, layers = np.zeros(len(starts), dtype=np.int64), [], []
    for arrived in waiting:
        if not arrived:
            continue
        rows = np.concatenate(arrived)
        arrived.clear()
        distinct, number = distinct_rows(rows[:, : width + 1])
        parent, moved, number = rows[:, width + 1], rows[:, width + 2], number + count
        begins = parent < 0
        roots[moved[begins]] = number[begins]
        into.append(Moves(parent[~begins], moved[~begins], number[~begins]))
        states, mine = np.ascontiguousarray(distinct[:, :width]), distinct[:, width].astype(bool)
        legal = game.legal(states)
        over = ~legal.any(1)
        action = np.full(len(states), NOBODY)
        asked = mine & ~over
        if asked.any():
            action[asked] = choose(states[asked])
            legal[asked] = False
            legal[asked, action[asked]] = True
        layers.append((states, mine, action, over))
        row, played = np.nonzero(legal)
        if len(row):
            wait(game.play(states[row], played), ~mine[row], row + count, played)
        count += len(states)
    states, mine, action, over = (np.concatenate(column) for column in zip(*layers, strict=True))
    return Reach(game, states, mine, action, over, tuple(into), roots)


def distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different ones of rows int64 [n, k], sorted, and for each row the number of its own [n]."""
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(1)
    number = np.empty(len(rows), dtype=np.int64)
    number[order] = new.cumsum() - 1
    return ordered[new], number
