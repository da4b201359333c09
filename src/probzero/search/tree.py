"""The search graphs of a batch of games as one struct of arrays.

All games share one pool of nodes and one of edges; nodes of different games never meet. A node is a position of a game:
equal positions of one game are one node, however they are reached, unless transpositions are switched off. When a node
is evaluated, its edges are laid out side by side in order of falling prior and its children are entered as nodes; a
child is *reached* later. Particles explore moves in order of prior, so that the explored edges of a node come first;
MCTS explores them in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import torch

from probzero.games.othello import Othello
from probzero.kernels.winner_prob import winner_prob
from probzero.random_keys import mix
from probzero.search.arrays import zeros
from probzero.search.table import KeyTable, hash_rows

EDGES_PER_NODE = 3  # room for edges as a multiple of the room for nodes; transpositions make edges outnumber nodes


@dataclass(frozen=True)
class Edges:
    """The edges of n nodes, padded to K columns."""

    index: torch.Tensor  # [n, K] into the tree's edge arrays; 0, an edge of no node, where not real
    real: torch.Tensor  # [n, K] bool
    child: torch.Tensor  # [n, K] the node a move leads to, reached or not
    explored: torch.Tensor  # [n, K] bool


class Tree:
    """Nodes M, edges E, games G. Rows of `search` and `net` are WDL triples of the player to move at the node."""

    VALUE, TARGET = 0, 1  # rows of `search`: value_search, value_target
    VALUE_NET, REWARD_NET = 0, 1  # rows of `net`

    def __init__(
        self,
        rules: Othello,
        games: int,
        capacity: int,
        what: str,
        device: torch.device,
        transpositions: bool = True,
        in_step: bool | None = None,
    ) -> None:
        """`in_step` takes tensor operations in the place of compiled loops: always on GPUs, on a processor in tests."""
        edges = EDGES_PER_NODE * capacity
        self.rules = rules
        self.device = device
        self.what = what
        self.transpositions = transpositions
        self.in_step = device.type != "cpu" if in_step is None else in_step
        self.games = games
        self.worlds = 1  # nodes of different worlds never meet, though game and position be the same
        self.table = KeyTable(capacity, 3, what, device, self.in_step)  # [M, 3] keys: own, opp, game + games · world
        self.key = zeros(capacity, dtype=torch.int64, device=device)  # [M] hash of game and position
        self.rank = zeros(capacity, dtype=torch.int16, device=device)  # [M] orders a game's nodes; see the rules
        self.evaluated = zeros(capacity, dtype=torch.bool, device=device)  # [M]
        self.closed = zeros(capacity, dtype=torch.bool, device=device)  # [M] terminal or exhausted
        self.visits = zeros(capacity, dtype=torch.int32, device=device)  # [M] particles that came through
        self.volume = zeros(capacity, dtype=torch.int32, device=device)  # [M] particles waiting; 0 between batches
        self.first_edge = zeros(capacity, dtype=torch.int64, device=device)  # [M]
        self.edge_count = zeros(capacity, dtype=torch.int64, device=device)  # [M] legal moves; 0 at terminals
        self.search = zeros(capacity, 2, 3, device=device)  # [M, 2, 3] value_search, value_target
        self.net = zeros(capacity, 2, 3, device=device)  # [M, 2, 3] value_net, reward_net
        self.edge_child = zeros(edges, dtype=torch.int64, device=device)  # [E] child; ~child while unexplored
        self.edge_policy = zeros(edges, device=device)  # [E] policy_search
        self.edge_action = zeros(edges, dtype=torch.int8, device=device)  # [E]
        self.edge_visits = zeros(edges, dtype=torch.int32, device=device)  # [E] particles that took the move
        self.edge_child[0] = ~0  # edge 0 belongs to no node: it stands for absent edges, never explored, of no weight
        self.edges = 1
        self.root = zeros(games, dtype=torch.int64, device=device)  # [G]
        self.game_key = zeros(games, dtype=torch.int64, device=device)  # [G] root of the game's randomness
        self._slots = torch.arange(rules.actions, device=device)
        self.scratch = zeros(capacity, dtype=torch.int64, device=device)  # [M] of use within one call only
        self.rank_heads = torch.full((2 * rules.squares + 2,), -1, device=device)  # [ranks] −1 between calls
        self.arrays = SimpleNamespace()  # for compiled loops: the same memory by the same names, as numpy sees it
        if device.type == "cpu":
            views = {name: part.numpy() for name, part in vars(self).items() if isinstance(part, torch.Tensor)}
            self.arrays = SimpleNamespace(keys=self.table.keys_array, slots=self.table.slots_array, **views)

    @property
    def own(self) -> torch.Tensor:
        return self.table.keys[:, 0]

    @property
    def opp(self) -> torch.Tensor:
        return self.table.keys[:, 1]

    def game(self, nodes: torch.Tensor) -> torch.Tensor:
        """Return the games [n] that nodes [n] belong to."""
        return self.table.keys[nodes, 2] % self.games

    @property
    def nodes(self) -> int:
        return self.table.count

    def enter_roots(self, own: torch.Tensor, opp: torch.Tensor, games: torch.Tensor) -> None:
        """Make positions [n] the roots of games [n], in the first world."""
        self.root[games] = self._enter(own, opp, games, self.game_key[games])

    def restart(self, games: torch.Tensor) -> None:
        """Give games [n] new roots at the positions of the old ones, in a new world: nothing found so far is kept."""
        roots = self.root[games]
        world = self.games * self.worlds
        self.worlds += 1
        own, opp, key = self.own[roots], self.opp[roots], mix(self.key[roots], self.game_key[games])
        self.root[games] = self._enter(own, opp, games + world, key)

    def _enter(self, own: torch.Tensor, opp: torch.Tensor, place: torch.Tensor, salt: torch.Tensor) -> torch.Tensor:
        """Return the nodes [n] of positions [n], making those that are new.

        `place` [n] tells games and worlds apart; `salt` [n] does so for the random draws, which must not depend on what
        other games are in flight."""
        return self.enter(torch.stack([own, opp, place], dim=1), hash_rows(torch.stack([own, opp, salt], dim=1)))

    def enter(self, keys: torch.Tensor, hashes: torch.Tensor) -> torch.Tensor:
        """Return the nodes [n] with keys [n, 3] (own, opp, place) and these hashes [n], making those that are new."""
        nodes, added = self.table.insert(keys, hashes)
        self.key[nodes[added]] = hashes[added]
        return nodes

    def edges_of(self, nodes: torch.Tensor) -> Edges:
        """Return the edges of nodes [n] side by side; K is the largest number of them."""
        counts = self.edge_count[nodes]
        slots = self._slots[: int(counts.max()) if len(nodes) else 0]
        real = slots < counts[:, None]
        index = (self.first_edge[nodes][:, None] + slots) * real
        child = self.edge_child[index]
        return Edges(index, real, child ^ (child >> 63), child >= 0)  # the middle term undoes ~

    def distinct(self, nodes: torch.Tensor) -> torch.Tensor:
        """Return nodes [n] without repetitions, in an order that does not matter to any result."""
        rows = torch.arange(len(nodes), device=self.device)
        self.scratch[nodes] = rows
        return nodes[self.scratch[nodes] == rows]

    def child_of(self, nodes: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        """Return the child [n] that a legal action [n] leads to from evaluated nodes [n], reached or not."""
        edges = self.edges_of(nodes)
        return edges.child[(self.edge_action[edges.index] == action[:, None]) & edges.real]

    def weights(self, edges: Edges, temperature: float) -> torch.Tensor:
        """Return winner_prob [n, K] over the explored ones of the edges of n nodes; 0 elsewhere."""
        return winner_prob(self.search[edges.child, self.VALUE], edges.explored, temperature)
