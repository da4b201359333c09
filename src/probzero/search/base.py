"""What every search over a batch of games shares: roots, leaves and their evaluation, and the budget of a move."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from probzero.config import Search
from probzero.kinds import Array, cast, count_up, like, plain, space, tally
from probzero.network.evaluation import Evaluation
from probzero.random_keys import key, uniform
from probzero.search.evaluation import Evaluate
from probzero.search.graph import Graph
from probzero.search.move_choice import TINY, Moves
from probzero.search.outlook import Outlook

if TYPE_CHECKING:
    from probzero.search.backends.base import Leaves

SIMULATIONS_PER_LEAF = 4  # when leaves are counted: simulations that end in known positions need no evaluation


class GraphSearch(ABC):
    """Searches the games of one graph. No Python loop goes over nodes, particles or games."""

    CONTINUES = True  # whether two searches of a position, one after another, are one with both budgets

    def __init__(self, graph: Graph, evaluate: Evaluate, settings: Search) -> None:
        self.graph = graph
        self.evaluate = evaluate
        self.settings = settings
        self.leaf_evaluations = 0  # leaves that needed an evaluation, from the cache or the network
        self.spent = graph.backend.zeros(graph.games, dtype="int64")  # [G] those of a move, if counted

    @abstractmethod
    def simulate(self, roots: Array, particles: Array, most: int, salt: int) -> None:
        """One simulation batch: particles [n] from roots [n] down, evaluation of the leaves, backup.

        No root has more than `most` particles; one that is closed has none."""

    @abstractmethod
    def moves(self, games: Array) -> Moves:
        """Return what the search says of the moves at the roots of games [n]."""

    def lesson(self, games: Array, moves: Moves) -> Moves:
        """Return the moves at the roots of games [n] as they are to be learned: with the weights that it plays by."""
        return moves

    @abstractmethod
    def value(self, games: Array) -> Array:
        """Return chance of a win − chance of a loss [n] for the player to move at the roots of games [n]."""

    @abstractmethod
    def outlook(self, games: Array) -> Outlook:
        """Return what was found at the evaluated roots of games [n], move by move."""

    def start(self, games: Array, states: Array) -> None:
        """Make states [n, W] the roots of games [n] and evaluate them."""
        self.graph.enter_roots(states, games)
        self.evaluate_roots(games)

    def evaluate_roots(self, games: Array) -> None:
        roots = self.graph.root[games]
        self._evaluate(roots[~self.graph.evaluated[roots]])
        self.graph.table.settle()

    def advance(self, games: Array, action: Array) -> None:
        """Play a legal action [n] in each of games [n]: the child becomes the root, its graph is kept if so set."""
        self.evaluate_roots(games)
        self.graph.root[games] = self.graph.child_of(self.graph.root[games], action)
        if not self.settings.reuse:
            self.graph.restart(games)

    def add_noise(self, games: Array, share: float, concentration: float, ply: int) -> None:
        """Mix Dirichlet noise into the priors of the roots of games [n]: P ← (1 − share)·P + share·noise."""
        self.evaluate_roots(games)
        from scipy.special import gammaincinv  # here, because it takes a while to import and evaluation has no noise

        edges = self.graph.edges_of(self.graph.root[games])
        slots = count_up(edges.index, edges.index.shape[1])
        drawn = plain(uniform((self.graph.game_key[games] ^ key("noise", ply))[:, None], slots))
        # A Dirichlet draw is gamma draws normalised; a gamma draw is its distribution's quantile of a uniform one.
        gamma = like(gammaincinv(concentration, drawn), edges.index) * edges.real
        total, even = gamma.sum(1, keepdims=True), edges.real / edges.real.sum(1, keepdims=True)
        noise = space(gamma).where(total > 0, gamma / total.clip(min=TINY), even)
        mixed = (1 - share) * self.graph.edge_policy[edges.index] + share * cast(noise, "float32")
        self.graph.edge_policy[edges.index[edges.real]] = mixed[edges.real]

    def run(self, games: Array, particles: int, batches: int, step: int) -> None:
        """Search games [n] with `batches` simulation batches; `step` numbers the call within each game.

        If the budget counts leaves, a game is searched until particles × batches of them were evaluated.
        """
        self.spent[games] = 0
        self.evaluate_roots(games)
        leaves = self.settings.budget == "leaves"
        roots = self.graph.root[games]
        for batch in range(self.most_batches(batches * SIMULATIONS_PER_LEAF if leaves else batches)):
            sent = particles * ~self.graph.closed[roots]  # where that is so, nothing is left to explore
            if leaves:
                left = particles * batches - self.spent[games]
                going = (left > 0) | (batch == 0)  # one simulation at least
                sent = space(left).minimum(sent, left.clip(min=1)) * going
            if not self.graph.backend.goes_on(self.graph, sent):
                break
            self.simulate(roots, sent, particles, key("split", step, batch))
        self.graph.table.settle()

    def most_batches(self, batches: int) -> int:
        """Return after how many batches a search ends at the latest."""
        return batches

    def _evaluate(self, nodes: Array) -> None:
        """Give distinct new nodes [n] their values: the true outcome at terminals, an estimate elsewhere."""
        if not len(nodes):
            return
        graph = self.graph
        leaves = graph.backend.open_nodes(graph, nodes)
        count = len(leaves.nodes)
        if not count:
            return
        self.leaf_evaluations += count
        if self.settings.budget == "leaves":
            tally(self.spent, graph.game(leaves.nodes))
        graph.backend.expand(graph, leaves, self.estimate(leaves))
        if not graph.transpositions:
            graph.scopes += leaves.total  # one for each child
        graph.edges += leaves.total

    def estimate(self, leaves: Leaves) -> Evaluation:
        """Return priors and values of the leaves: what the network says of their positions."""
        return self.evaluate(leaves.states, leaves.moves)
