"""Who thinks before it plays: a network with a budget of particles, or playouts alone.

A thinker's move is a function of the position: every move begins a new search, and where particles are split, ½ stands
in the place of each draw, as in agents that are certified (`truth/certificate.py`), or, on boards with many moves, a
draw that is keyed by the position. So a hint, the move that is played and what an analysis shows agree, and a move that
is taken back changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np

from probzero.arena.simple_players import Follower
from probzero.config import Search
from probzero.errors import bad
from probzero.games.base import Game
from probzero.kinds import Array, count_up, plain
from probzero.network.inference import Evaluator
from probzero.search.base import GraphSearch
from probzero.search.build import SearchFactory
from probzero.truth.certificate import NO_DRAWS, network_moves
from probzero.truth.measures import search_from

TOGETHER = 8  # particles of a batch, if their number is a multiple
# Where a position may have more moves than this, particles are drawn: with ½ in the place of each draw, the few of a
# batch would go to the same ones of many equal moves in every batch, and the others would stay with one particle.
FEW_MOVES = 3 * TOGETHER
CAPACITY = 200_000  # nodes of a search over several games at once


@dataclass(frozen=True)
class Thinker:
    """A search of `particles` a move; 0 is the policy of the network alone. Without a network, UCB1 with playouts."""

    name: str
    game: Game
    evaluator: Evaluator | None
    settings: Search
    particles: int
    key: int  # of the draws
    always_drawn: bool = (
        False  # where particles are split, draws keyed by position and key, however few moves there are
    )

    def __post_init__(self) -> None:
        if self.particles < 0 or (self.particles == 0 and self.evaluator is None):
            raise bad("player", self.name, "a number of particles", self.particles)

    @property
    def drawn(self) -> bool:
        return self.always_drawn or self.game.most_moves > FEW_MOVES

    @property
    def together(self) -> int:
        """Particles of one batch."""
        return gcd(self.particles, TOGETHER)

    @cached_property
    def factory(self) -> SearchFactory:
        capacity = max(CAPACITY, self.game.most_moves * (self.particles + 1) + 1)
        settings = self.settings
        if settings.arm.draws == "splitting":
            settings = settings.model_copy(update={"splitting": "systematic" if self.drawn else "middle"})
        return SearchFactory(self.game, self.evaluator, settings, capacity, "particles")

    def choose(self, states: np.ndarray) -> np.ndarray:
        """Return the moves [n] played in positions [n, words]."""
        key = NO_DRAWS if self.settings.arm.draws == "splitting" and not self.drawn else self.key
        return network_moves(self.factory, self.evaluator, self.together, self.particles, key)(states)

    def begin(self, state: np.ndarray) -> GraphSearch:
        """Return a search at a state [words] that is yet to be run."""
        return search_from(self.factory, state[None], self.key)

    def advance(self, search: GraphSearch, batches: int, done: int = 0) -> None:
        """Run so many more batches of a search of `begin`, of which `done` were run."""
        search.run(count_up(search.graph.root, 1), self.together, batches, done)

    @property
    def batches(self) -> int:
        return self.particles // self.together if self.particles else 0


class ThinkingPlayer(Follower):
    """A thinker as a player of matches."""

    def __init__(self, thinker: Thinker) -> None:
        super().__init__(thinker.game)
        self.thinker = thinker

    def choose(self, games: Array, ply: int) -> np.ndarray:
        return self.thinker.choose(self.states[plain(games)])
