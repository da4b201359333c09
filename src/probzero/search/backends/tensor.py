"""The form for GPUs: tensor operations of fixed shapes, and Triton kernels where a loop is needed.

The host must not wait for the device more than it has to: each time all that was launched is finished first. A batch of
particle search waits three times, whatever the depth and the number of games: in `goes_on`, in `open_nodes`, and in
`insert` for the cache of evaluations. Nothing else between them may ask how many there are of something.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from probzero import wdl
from probzero.errors import bad
from probzero.games.base import Game, list_moves
from probzero.kernels.backup.backup_graph import BackupGraph
from probzero.kernels.descend.descent_graph import DescentGraph
from probzero.kinds import Array, is_tensor
from probzero.random_keys import key, mix, uniform
from probzero.search.backends import tensor_table
from probzero.search.backends.base import Descent, Leaves, Paths
from probzero.search.graph import NO_EDGE, Graph
from probzero.search.scores import scores

if TYPE_CHECKING:
    from probzero.network.evaluation import Evaluation
    from probzero.search.gumbel import GumbelSearch
    from probzero.search.key_table import KeyTable
    from probzero.search.mcts import MctsSearch


# Memory of a device is taken whole. Every edge enters a node, and all but a few enter a new one, so that there are
# hardly more edges than nodes; where few positions have many ways to them there are twice as many.
EDGES_PER_NODE = 4


class Kernels(NamedTuple):
    """The operations that need a kernel; see their folders."""

    winner_prob: Callable[[torch.Tensor, torch.Tensor, float], torch.Tensor]
    backup: Callable[[BackupGraph, torch.Tensor, float], None]
    descend: Callable[[DescentGraph, torch.Tensor, torch.Tensor, int, str, int], tuple[torch.Tensor, torch.Tensor]]
    place: tensor_table.Place


def triton_kernels() -> Kernels:
    from probzero.kernels.backup import triton_kernel as backup
    from probzero.kernels.descend import triton_kernel as descend
    from probzero.kernels.place import triton_kernel as place
    from probzero.kernels.winner_prob import triton_kernel as winner_prob

    return Kernels(winner_prob.winner_prob, backup.backup, descend.descend, place.place)


def reference_kernels() -> Kernels:
    """Return the oracles in plain torch, which wait as they please: for tests, and to count on a processor."""
    from probzero.kernels.backup import reference as backup
    from probzero.kernels.descend import reference as descend
    from probzero.kernels.place import reference as place
    from probzero.kernels.winner_prob import reference as winner_prob

    def backed_up(graph: Any, touched: torch.Tensor, temperature: float) -> None:
        nodes = backup.listed(graph.scratch, touched)
        rank, order = graph.rank[nodes].sort(descending=True, stable=True)
        nodes, levels = nodes[order], rank.unique_consecutive(return_counts=True)[1]
        if len(nodes):
            backup.backup(graph, nodes, levels.tolist(), temperature)
        backup.close(graph, nodes[graph.closed[nodes]], temperature)

    return Kernels(winner_prob.winner_prob, backed_up, descend.descend, place.place)


def read(numbers: torch.Tensor) -> list[int]:
    """Return numbers [n] of the device, for which the host waits: all else that was launched is finished first."""
    return numbers.tolist()


class TensorBackend:
    """See `Backend`."""

    grows_tables = False

    def __init__(self, game: Game, device: torch.device, kernels: Kernels | None = None) -> None:
        """`kernels` are Triton's unless others are given, as tests do."""
        if not game.tensor_form:
            raise bad("search", f"device {device}", f"cpu, as {game.identity} has no tensor form", str(device))
        self.game, self.device = game, device
        self.edges_per_node = min(EDGES_PER_NODE, game.most_moves)
        self.kernels = kernels or triton_kernels()

    def zeros(self, *shape: int, dtype: str = "float32") -> torch.Tensor:
        return torch.zeros(*shape, dtype=getattr(torch, dtype), device=self.device)

    def accept(self, array: Array) -> torch.Tensor:
        found = array if is_tensor(array) else torch.from_numpy(array)
        return found.to(self.device)

    def hash_rows(self, words: torch.Tensor) -> torch.Tensor:
        return mix(*words.unbind(1))

    def insert(self, table: KeyTable, keys: torch.Tensor, hashes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        entries, adds = tensor_table.enter(table, keys, hashes, self.kernels.place)
        before = table.count
        self.settle(table)
        return entries, (~adds).sort(stable=True).indices[: table.count - before]

    def enter(self, table: KeyTable, keys: torch.Tensor, hashes: torch.Tensor) -> torch.Tensor:
        return tensor_table.enter(table, keys, hashes, self.kernels.place)[0]

    def settle(self, table: KeyTable) -> None:
        table.reach(read(table.used)[0])

    def goes_on(self, graph: Graph, particles: torch.Tensor) -> bool:
        going, used = read(torch.cat([particles.any()[None], graph.table.used]))
        graph.table.reach(used)
        return bool(going)

    def move_slots(self, taken: torch.Tensor, slots: torch.Tensor) -> None:
        raise AssertionError("all slots are there from the beginning")

    def open_nodes(self, graph: Graph, nodes: torch.Tensor) -> Leaves:
        there = nodes >= 0
        legal = self.game.legal(graph.states(nodes.clamp(min=0)))
        counts = legal.sum(1) * there
        last = (counts == 0) * 1 + ~there * 1  # those that go on stand first, then finished games
        found, going, total = read(torch.stack([there.sum(), (counts > 0).sum(), counts.sum()]))
        order = last.sort(stable=True).indices[:found]
        nodes, legal, counts = nodes[order], legal[order], counts[order]
        states = graph.states(nodes)
        graph.evaluated.index_fill_(0, nodes, True)
        graph.closed[nodes] = counts == 0
        graph.rank[nodes] = self.game.rank(states, legal).to(torch.int16)
        ended, outcome = nodes[going:], wdl.from_result(self.game.outcome(states[going:]))[:, None].expand(-1, 2, -1)
        graph.search[ended] = outcome
        graph.net[ended] = outcome
        moves = list_moves(legal[:going], self.game.most_moves)
        return Leaves(nodes[:going], states[:going], moves, counts[:going], total)

    def expand(self, graph: Graph, leaves: Leaves, evaluation: Evaluation) -> None:
        nodes, counts = leaves.nodes, leaves.counts
        estimate = torch.stack([evaluation.value, evaluation.reward], dim=1)
        graph.search[nodes] = estimate
        graph.net[nodes] = estimate
        real = torch.arange(leaves.moves.shape[1], device=self.device) < counts[:, None]
        order = torch.where(real, evaluation.prior, -1.0).sort(dim=1, descending=True, stable=True).indices
        first = counts.cumsum(0) - counts
        row = torch.arange(len(nodes), device=self.device).repeat_interleave(counts, output_size=leaves.total)
        slot = torch.arange(leaves.total, device=self.device) - first[row]
        chosen, parent = order[row, slot], nodes[row]
        action = leaves.moves[row, chosen]
        edges = slice(graph.edges, graph.edges + leaves.total)
        if edges.stop > len(graph.edge_child):
            room = f"at most {len(graph.edge_child) - 1} moves, {self.edges_per_node} a position"
            raise bad("memory", graph.table.setting, room, f"{edges.stop - 1} needed")
        graph.first_edge[nodes] = edges.start + first
        graph.edge_count[nodes] = counts
        graph.edge_action[edges] = action.to(graph.edge_action.dtype)
        graph.edge_policy[edges] = evaluation.prior[row, chosen]
        children = self.game.play(graph.states(parent), action)
        games = graph.game(parent)
        scope, salt = graph.table.keys[parent, self.game.words], graph.game_key[games]
        if not graph.transpositions:
            own = torch.arange(graph.scopes, graph.scopes + len(action), device=self.device)
            scope, salt = games + graph.games * own, graph.key[parent]
        child = graph.enter(children, scope, salt)
        graph.edge_child[edges] = ~child
        _link(graph, parent, slot, child)

    def descend(
        self, graph: Graph, roots: torch.Tensor, particles: torch.Tensor, most: int, splitting: str, salt: int
    ) -> Descent:
        touched, leaves = self.kernels.descend(graph, roots, particles, most, splitting, salt)
        return Descent(touched, leaves.flatten())

    def backup(self, graph: Graph, nodes: torch.Tensor, temperature: float) -> None:
        self.kernels.backup(graph, nodes, temperature)

    def renew(self, graph: Graph, nodes: torch.Tensor, temperature: float) -> None:
        games, order = graph.game(nodes).sort(stable=True)
        nodes = nodes[order]
        again = torch.nn.functional.pad(games[1:] == games[:-1], (1, 0))[: len(nodes)]
        graph.scratch[nodes[:-1]] = torch.where(again[1:], nodes[1:], -1)
        graph.scratch[nodes[-1:]] = -1
        self.backup(graph, nodes[~again], temperature)

    def winner_prob(self, values: torch.Tensor, mask: torch.Tensor, temperature: float) -> torch.Tensor:
        return self.kernels.winner_prob(values, mask, temperature)

    def select(self, search: MctsSearch, roots: torch.Tensor) -> Paths:
        """A Python loop over the simulations that a game sends at once, and over plies."""
        games = search.graph.game(roots)
        path = torch.zeros(len(roots), self.game.longest_game + 1, dtype=torch.int64, device=self.device)
        node = roots.clone()
        left = torch.arange(len(roots), device=self.device)
        while len(left):
            first = torch.nn.functional.pad(games[left[1:]] != games[left[:-1]], (1, 0), value=True)
            self._follow(search, left[first], games, path, node)
            left = left[~first]
        return Paths(roots, games, path, node)

    def _follow(
        self, search: MctsSearch, rows: torch.Tensor, games: torch.Tensor, path: torch.Tensor, node: torch.Tensor
    ) -> None:
        """Follow one path in each of several games: fill these rows of path, and of node with where it ends."""
        graph, lost = search.graph, search.scoring.virtual_loss
        for depth in range(path.shape[1]):
            rows = rows[graph.edge_count[node[rows]] > 0]  # neither leaves nor finished games have edges
            if not len(rows):
                break
            edges = graph.edges_of(node[rows])
            game = games[rows]
            score = scores(
                search.scoring,
                graph.edge_visits[edges.index] * edges.real,
                search.edge_value[edges.index],
                graph.edge_policy[edges.index],
                search.low[game],
                search.high[game],
            )
            slot = score.masked_fill(~edges.real, -torch.inf).argmax(1, keepdim=True)
            taken = edges.index.gather(1, slot)[:, 0]
            path[rows, depth] = taken
            node[rows] = edges.child.gather(1, slot)[:, 0]
            graph.edge_child[taken] = node[rows]  # explored from now on
            graph.edge_visits[taken] += lost
            search.edge_value[taken] -= lost

    def add_results(self, search: MctsSearch, paths: Paths, result: torch.Tensor) -> None:
        graph = search.graph
        taken = paths.edges != NO_EDGE
        above = taken.sum(1, keepdim=True) - torch.arange(taken.shape[1], device=self.device)  # plies to the leaf
        value = torch.where(above % 2 == 0, result[:, None], -result[:, None])[taken]
        edges = paths.edges[taken]
        games = paths.games[:, None].expand_as(taken)[taken]
        lost = search.scoring.virtual_loss
        graph.edge_visits.index_add_(0, edges, torch.full_like(edges, 1 - lost, dtype=torch.int32))
        search.edge_value.index_add_(0, edges, value + lost)
        mean = search.edge_value[edges] / graph.edge_visits[edges]
        search.low.scatter_reduce_(0, games, mean, "amin")
        search.high.scatter_reduce_(0, games, mean, "amax")
        reached = torch.cat([paths.roots, graph.edge_child[edges]])
        graph.visits.index_add_(0, reached, torch.ones_like(reached, dtype=torch.int32))

    def select_improved(self, search: GumbelSearch, roots: torch.Tensor, most: torch.Tensor) -> Paths:
        raise bad("search", "device cpu or search.algorithm", "one with a tensor form", search.settings.algorithm)

    def improve(self, search: GumbelSearch, roots: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.select_improved(search, roots, roots)  # type: ignore[return-value]

    def playouts(self, states: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        """All games go on in step."""
        game = self.game
        actions = torch.arange(game.actions, device=self.device)
        sign, result = torch.ones_like(keys), torch.zeros_like(keys)
        rows = torch.arange(len(keys), device=self.device)
        for ply in range(game.longest_game + 1):
            legal = game.legal(states)
            over = ~legal.any(1)
            if over.any():
                result[rows[over]] = sign[over] * game.outcome(states[over])
                rows, states, keys, sign, legal = (part[~over] for part in (rows, states, keys, sign, legal))
            if not len(rows):
                break
            drawn = uniform((keys ^ key("playout", ply))[:, None], actions)
            states = game.play(states, torch.where(legal, drawn, -1.0).argmax(1))
            sign = -sign
        return result


def _link(graph: Graph, parent: torch.Tensor, slot: torch.Tensor, child: torch.Tensor) -> None:
    """Enter the moves [k] of parents [k] in the lists of their children [k]; several may lead to one child."""
    move = parent * graph.most_moves + slot + 1
    child, order = child.sort(stable=True)
    move, edge = move[order], (graph.first_edge[parent] + slot)[order]
    following = graph.first_parent[child]
    again = child[1:] == child[:-1]
    following[1:] = torch.where(again, move[:-1], following[1:])
    graph.next_parent[edge] = following
    graph.first_parent[child] = move[torch.searchsorted(child, child, right=True) - 1]  # the last of a child's moves
