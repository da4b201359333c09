"""What a player thinks of a position, and what is true of it, as plain data for screens, pages and files.

All numbers speak for the player to move. `dataclasses.asdict` of anything here is ready for JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from probzero import wdl
from probzero.devices import on
from probzero.errors import ProbZeroError
from probzero.front_ends.thinkers import Thinker
from probzero.games.base import Game, list_moves
from probzero.games.names import short_name
from probzero.kinds import count_up, plain
from probzero.search.base import GraphSearch
from probzero.search.move_choice import best
from probzero.search.outlook import Outlook
from probzero.truth.labels import ILLEGAL, Lookup, Solver, decisive, keeps_result

Wdl = tuple[float, float, float]  # chances of a win, a draw and a loss
QUICK = 20_000_000  # nodes that a solver may visit in a game that is too large to solve from the start: some seconds


@dataclass(frozen=True)
class MoveThought:
    """One legal move. Numbers after the search are None for a move that it never took."""

    move: str
    action: int
    policy: float | None  # of the network alone; None for a player without one
    weight: float  # after the search: policy_search, or the share of visits; by it the move is chosen
    winner_prob: float | None = (
        None  # the chance that this explored move is the best one, as far as win/draw/loss are known
    )
    particles: int = 0  # that took the move
    share: float = 0.0  # of all particles that took a move
    value: float | None = None  # chance of a win − chance of a loss
    wdl: Wdl | None = None


@dataclass(frozen=True)
class Thoughts:
    """A position as a player sees it; moves from the largest weight on, then by policy."""

    game: str
    position: str  # one-line notation
    player: str
    particles: int  # of the search, 0 for the policy alone
    leaves: int  # positions evaluated in it
    network: Wdl | None  # value head
    reward: Wdl | None  # reward head
    wdl: Wdl | None  # after the search
    value: float  # the same as one number: chance of a win − chance of a loss
    best: str
    moves: tuple[MoveThought, ...]


@dataclass(frozen=True)
class MoveTruth:
    """What a legal move is worth: result (and margin) at the end under perfect play."""

    move: str
    action: int
    result: int  # +1, 0, −1
    margin: int | None
    keeps: bool  # the result of the position


@dataclass(frozen=True)
class Truth:
    """The exact value of a position and of its moves, best first."""

    game: str
    position: str
    result: int
    margin: int | None
    decisive: bool  # some legal move gives the result away
    moves: tuple[MoveTruth, ...]


def think(thinker: Thinker, state: np.ndarray) -> Thoughts:
    """Return what a thinker sees at a state [words] at which the game goes on, after a whole search."""
    search = None
    if thinker.particles:
        search = thinker.begin(state)
        thinker.advance(search, thinker.batches)
    return thoughts(thinker, state, search)


def thoughts(thinker: Thinker, state: np.ndarray, search: GraphSearch | None) -> Thoughts:
    """Return the same at any point of a search from that state; None: the policy alone."""
    game, evaluator = thinker.game, thinker.evaluator
    prior: dict[int, float] = {}
    network: Wdl | None = None
    reward: Wdl | None = None
    after: Wdl | None
    if evaluator is not None:
        where = on(state[None], evaluator.device)
        listed = list_moves(game.legal(where), int(game.legal(state[None]).sum()))
        said = evaluator(where, listed)
        prior = dict(zip(plain(listed)[0].tolist(), plain(said.prior)[0].tolist(), strict=True))
        network, reward = _triple(plain(said.value)[0]), _triple(plain(said.reward)[0])
    if search is None:
        assert network is not None, "who has no network searches"
        moves = [MoveThought(game.move_name(move), move, chance, chance) for move, chance in prior.items()]
        chosen, leaves, after, value = (
            max(prior, key=prior.__getitem__),
            0,
            network,
            network[wdl.WIN] - network[wdl.LOSS],
        )
    else:
        games = count_up(search.graph.root, 1)
        outlook = search.outlook(games)
        moves = _searched(game, outlook, prior)
        chosen, leaves = int(plain(best(search.moves(games)))[0]), search.leaf_evaluations
        after = None if outlook.root_wdl is None else _triple(plain(outlook.root_wdl)[0])
        value = float(plain(search.value(games))[0])
    moves.sort(key=lambda move: (-move.weight, -(move.policy or 0.0), move.action))
    return Thoughts(
        game=short_name(game), position=game.to_text(state), player=thinker.name,
        particles=sum(move.particles for move in moves), leaves=leaves, network=network, reward=reward, wdl=after,
        value=value, best=game.move_name(chosen), moves=tuple(moves),
    )  # fmt: skip


def _searched(game: Game, outlook: Outlook, prior: dict[int, float]) -> list[MoveThought]:
    """Return the moves of the one root of an outlook."""
    action, real, tried, visits, weight, value = (plain(array)[0].tolist() for array in outlook[:6])
    triples = None if outlook.wdl is None else plain(outlook.wdl)[0]
    winner = None if outlook.winner_prob is None else plain(outlook.winner_prob)[0].tolist()
    total = max(1, sum(visits))
    return [
        MoveThought(
            move=game.move_name(action[k]),
            action=action[k],
            policy=prior.get(action[k]),
            weight=weight[k],
            winner_prob=winner[k] if winner is not None and tried[k] else None,
            particles=visits[k],
            share=visits[k] / total,
            value=value[k] if tried[k] else None,
            wdl=_triple(triples[k]) if triples is not None and tried[k] else None,
        )
        for k in range(len(action))
        if real[k]
    ]


def _triple(row: np.ndarray) -> Wdl:
    win, draw, loss = (float(chance) for chance in row)
    return win, draw, loss


class Judge:
    """Knows the exact value of positions: by look-up where it can, else by search.

    In a game that is too large to be solved from the start it tries for some seconds, which is enough near the end."""

    def __init__(self, game: Game, lookup: Lookup | None = None) -> None:
        self.game, self.lookup = game, lookup

    @cached_property
    def solver(self) -> Solver | None:
        """Return the solver; None for a game whose rules say nothing to it."""
        if not all(hasattr(self.game.rules, name) for name in ("value", "left", "LARGEST")):
            return None
        budget = {} if self.game.solvable else {"node_budget": QUICK}
        return Solver(self.game, threads=1, lookup=self.lookup, **budget)

    def truth(self, state: np.ndarray) -> Truth | None:
        """Return what is true of a state [words] at which the game goes on; None if that is not to be had."""
        if self.solver is None:
            return None
        try:
            labels = self.solver.label(state[None], margins=self.game.has_margin)
        except ProbZeroError:
            if self.game.solvable:
                raise
            return None
        legal = np.flatnonzero(labels.action_result[0] != ILLEGAL).tolist()
        keeping = keeps_result(labels)[0]
        margins = labels.action_margin
        moves = [
            MoveTruth(
                move=self.game.move_name(action),
                action=action,
                result=int(labels.action_result[0, action]),
                margin=None if margins is None else int(margins[0, action]),
                keeps=bool(keeping[action]),
            )
            for action in legal
        ]
        moves.sort(key=lambda move: (-(move.result if move.margin is None else move.margin), move.action))
        return Truth(
            game=short_name(self.game),
            position=self.game.to_text(state),
            result=int(labels.result[0]),
            margin=None if labels.margin is None else int(labels.margin[0]),
            decisive=bool(decisive(labels)[0]),
            moves=tuple(moves),
        )
