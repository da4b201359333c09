"""The search graphs of a batch of games as one struct of arrays.

All games share one pool of nodes and one of edges; nodes of different games never meet. A node is a position of a game:
equal positions of one game are one node, however they are reached, unless transpositions are switched off. When a node
is evaluated, its edges are laid out side by side in order of falling prior and its children are entered as nodes; a
child is *explored* when a simulation first takes its edge. Particles explore moves in order of prior, so that the
explored edges of a node come first; MCTS explores them in any order.

A node also knows the moves that lead to it, explored or not, as a list: each is written node·most_moves + slot + 1, so
that it says both whose move it is and which edge; 0 ends the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from probzero.kinds import Array, count_up, plain, space
from probzero.random_keys import mix
from probzero.search.arrays import GraphArrays
from probzero.search.key_table import KeyTable

if TYPE_CHECKING:
    from probzero.search.backends.base import Backend

NO_EDGE = 0  # belongs to no node and stands for absent edges: never explored, of no weight


@dataclass(frozen=True)
class Edges:
    """The edges of n nodes, padded to K columns."""

    index: Array  # [n, K] into the graph's edge arrays; NO_EDGE where not real
    real: Array  # [n, K] bool
    child: Array  # [n, K] the node a move leads to, explored or not
    explored: Array  # [n, K] bool


class Graph:
    """Nodes M, edges E, games G, words W of a state. Rows of `search` and `net` are WDL triples of the player to move.

    Nodes meet only within a *scope*: that of their game, numbered 0 … G − 1, or one of their own, game + G·k. A new
    scope forgets what was found (`restart`) or, with transpositions off, keeps equal positions apart.
    """

    VALUE, TARGET = 0, 1  # rows of `search`: value_search, value_target
    VALUE_NET, REWARD_NET = 0, 1  # rows of `net`

    def __init__(self, backend: Backend, games: int, capacity: int, setting: str, transpositions: bool = True) -> None:
        """`setting` is the one that bounds the capacity, for the error."""
        game, device = backend.game, backend.device
        edges = backend.edges_per_node * capacity + 1
        self.backend, self.rules, self.device = backend, game, device
        self.transpositions = transpositions
        self.games = games
        self.scopes = 1  # rounds of scopes that were handed out, G in each
        self.table = KeyTable(backend, capacity, game.words + 1, setting)  # [M, W + 1] keys: state, scope
        self.key = backend.zeros(capacity, dtype="int64")  # [M] hash of game and position
        self.rank = backend.zeros(capacity, dtype="int16")  # [M] orders a game's nodes; see the rules
        self.evaluated = backend.zeros(capacity, dtype="bool")  # [M]
        self.closed = backend.zeros(capacity, dtype="bool")  # [M] terminal or exhausted
        self.visits = backend.zeros(capacity, dtype="int32")  # [M] particles that came through
        self.volume = backend.zeros(capacity, dtype="int32")  # [M] particles waiting; 0 between batches
        self.first_edge = backend.zeros(capacity, dtype="int64")  # [M]
        self.edge_count = backend.zeros(capacity, dtype="int64")  # [M] legal moves; 0 at terminals
        self.first_parent = backend.zeros(capacity, dtype="int64")  # [M] where the list of moves to here begins
        self.search = backend.zeros(capacity, 2, 3)  # [M, 2, 3] value_search, value_target
        self.net = backend.zeros(capacity, 2, 3)  # [M, 2, 3] value_net, reward_net
        self.edge_child = backend.zeros(edges, dtype="int64")  # [E] child; ~child while unexplored
        self.edge_policy = backend.zeros(edges)  # [E] policy_search
        self.edge_action = backend.zeros(edges, dtype="int16")  # [E]
        self.edge_visits = backend.zeros(edges, dtype="int32")  # [E] particles that took the move
        self.next_parent = backend.zeros(edges, dtype="int64")  # [E] the next of the moves to the same child
        self.edge_child[NO_EDGE] = ~0
        self.edges = 1
        self.root = backend.zeros(games, dtype="int64")  # [G]
        self.game_key = backend.zeros(games, dtype="int64")  # [G] root of the game's randomness
        self.most_moves = game.most_moves
        self._slots = count_up(self.root, game.most_moves)
        self.scratch = backend.zeros(capacity, dtype="int64")  # [M] of use within one batch only
        self.rank_heads = backend.zeros(games, game.ranks, dtype="int64") - 1  # [G, ranks] −1 between calls

    @cached_property
    def arrays(self) -> GraphArrays:
        """Return the same memory for compiled loops, but for the slots of the table, whose number grows."""
        arrays = {**vars(self), "keys": self.table.keys}
        return GraphArrays(*(plain(arrays[name]) for name in GraphArrays._fields))

    def states(self, nodes: Array) -> Array:
        """Return the states [n, W] of nodes [n]."""
        return self.table.keys[nodes, : self.rules.words]

    def game(self, nodes: Array) -> Array:
        """Return the games [n] that nodes [n] belong to."""
        return self.table.keys[nodes, self.rules.words] % self.games

    @property
    def nodes(self) -> int:
        self.table.settle()
        return self.table.count

    def enter_roots(self, states: Array, games: Array) -> None:
        """Make states [n, W] the roots of games [n], in the games' own scopes."""
        self.root[games] = self.enter(states, games, self.game_key[games])

    def restart(self, games: Array) -> None:
        """Give games [n] new roots at the positions of the old ones, in a new scope: nothing found so far is kept."""
        roots = self.root[games]
        scope = games + self.games * self.scopes
        self.scopes += 1
        self.root[games] = self.enter(self.states(roots), scope, mix(self.key[roots], self.game_key[games]))

    def enter(self, states: Array, scope: Array, salt: Array) -> Array:
        """Return the nodes [n] of states [n, W] in scopes [n], making those that are new.

        `salt` [n] tells nodes apart for the random draws, which must not depend on what other games are in flight."""
        join = space(states).concatenate
        hashes = self.backend.hash_rows(join([states, salt[:, None]], axis=1))
        nodes = self.table.enter(join([states, scope[:, None]], axis=1), hashes)
        self.key[nodes] = hashes  # the same for one that is there: scope and salt go together
        return nodes

    def edges_of(self, nodes: Array) -> Edges:
        """Return the edges of nodes [n] side by side; K is the largest number of them."""
        counts = self.edge_count[nodes]
        slots = self._slots[: int(counts.max()) if len(nodes) else 0]
        real = slots < counts[:, None]
        index = (self.first_edge[nodes][:, None] + slots) * real
        child = self.edge_child[index]
        return Edges(index, real, child ^ (child >> 63), child >= 0)  # the middle term undoes ~

    def distinct(self, nodes: Array) -> Array:
        """Return nodes [n] without repetitions, in an order that does not matter to any result."""
        rows = count_up(nodes, len(nodes))
        self.scratch[nodes] = rows
        return nodes[self.scratch[nodes] == rows]

    def child_of(self, nodes: Array, action: Array) -> Array:
        """Return the child [n] that a legal action [n] leads to from evaluated nodes [n], explored or not."""
        edges = self.edges_of(nodes)
        return edges.child[(self.edge_action[edges.index] == action[:, None]) & edges.real]

    def weights(self, edges: Edges, temperature: float) -> Array:
        """Return winner_prob [n, K] over the explored ones of the edges of n nodes; 0 elsewhere."""
        return self.backend.winner_prob(self.search[edges.child, self.VALUE], edges.explored, temperature)
