"""The form for GPUs: a few large tensor operations a batch, and Triton kernels where a loop is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import torch

from probzero import wdl
from probzero.errors import bad
from probzero.games.base import Game, list_moves
from probzero.kernels.backup.backup_graph import BackupGraph
from probzero.kinds import Array, is_tensor
from probzero.random_keys import key, mix, uniform
from probzero.search.backends import tensor_table
from probzero.search.backends.base import Descent, Leaves, Paths, lacks
from probzero.search.graph import NO_EDGE, Graph
from probzero.search.scores import scores
from probzero.search.splitting import SPLITTERS, Splitter

if TYPE_CHECKING:
    from probzero.network.evaluation import Evaluation
    from probzero.search.key_table import KeyTable
    from probzero.search.mcts import MctsSearch


class Kernels(NamedTuple):
    """The operations that need a kernel."""

    winner_prob: Callable[[torch.Tensor, torch.Tensor, float], torch.Tensor]
    backup: Callable[[BackupGraph, torch.Tensor, torch.Tensor, float], None]  # nodes, games, temperature


def triton_kernels() -> Kernels:
    from probzero.kernels.backup import triton_kernel as backup
    from probzero.kernels.winner_prob import triton_kernel as winner_prob

    return Kernels(winner_prob.winner_prob, backup.backup)


class TensorBackend:
    """See `Backend`."""

    def __init__(self, game: Game, device: torch.device, kernels: Kernels | None = None) -> None:
        """`kernels` are Triton's unless others are given, as tests do."""
        if not game.tensor_form:
            raise bad("search", f"device {device}", f"cpu, as {game.identity} has no tensor form", str(device))
        self.game, self.device = game, device
        self.kernels = kernels or triton_kernels()

    def zeros(self, *shape: int, dtype: str = "float32") -> torch.Tensor:
        return torch.zeros(*shape, dtype=getattr(torch, dtype), device=self.device)

    def accept(self, array: Array) -> torch.Tensor:
        found = array if is_tensor(array) else torch.from_numpy(array)
        return found.to(self.device)

    def hash_rows(self, words: torch.Tensor) -> torch.Tensor:
        return mix(*words.unbind(1))

    def insert(self, table: KeyTable, keys: torch.Tensor, hashes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return tensor_table.insert(table, keys, hashes)

    def move_slots(self, taken: torch.Tensor, slots: torch.Tensor) -> None:
        tensor_table.move_slots(taken, slots)

    def open_nodes(self, graph: Graph, nodes: torch.Tensor) -> Leaves:
        states = graph.states(nodes)
        legal = self.game.legal(states)
        over = ~legal.any(1)
        graph.evaluated[nodes] = True
        graph.closed[nodes] = over
        graph.rank[nodes] = self.game.rank(states, legal).to(torch.int16)
        outcome = wdl.from_result(self.game.outcome(states[over]))[:, None]
        graph.search[nodes[over]] = outcome
        graph.net[nodes[over]] = outcome
        legal = legal[~over]
        counts = legal.sum(1)
        return Leaves(nodes[~over], states[~over], list_moves(legal, self.game.most_moves), counts, int(counts.sum()))

    def expand(self, graph: Graph, leaves: Leaves, evaluation: Evaluation) -> None:
        nodes, counts = leaves.nodes, leaves.counts
        estimate = torch.stack([evaluation.value, evaluation.reward], dim=1)
        graph.search[nodes] = estimate
        graph.net[nodes] = estimate
        real = torch.arange(leaves.moves.shape[1], device=self.device) < counts[:, None]
        order = torch.where(real, evaluation.prior, -1.0).sort(dim=1, descending=True, stable=True).indices
        row, slot = real.nonzero(as_tuple=True)
        chosen, parent = order[row, slot], nodes[row]
        action = leaves.moves[row, chosen]
        edges = slice(graph.edges, graph.edges + leaves.total)
        graph.first_edge[nodes] = edges.start + counts.cumsum(0) - counts
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

    def descend(self, graph: Graph, roots: torch.Tensor, particles: torch.Tensor, splitting: str, salt: int) -> Descent:
        """A Python loop over ranks only."""
        if splitting not in SPLITTERS:
            raise lacks("tensor", "search.splitting", SPLITTERS, splitting)
        levels: list[torch.Tensor] = []
        leaves: list[torch.Tensor] = []
        graph.volume[roots] = particles.to(torch.int32)
        waiting = roots
        while len(waiting):
            rank = graph.rank[waiting]
            now = rank == rank.min()
            nodes, later = waiting[now], waiting[~now]
            child, count = _split(graph, nodes, SPLITTERS[splitting], salt)
            unseen = child[graph.volume[child] == 0]
            graph.volume.index_add_(0, child, count)
            unseen = graph.distinct(unseen)
            evaluated = graph.evaluated[unseen]
            leaves.append(unseen[~evaluated])
            waiting = torch.cat([later, unseen[evaluated]])
            stopped = graph.closed[waiting]  # a shared child that was closed from elsewhere: nothing to do below it
            if stopped.any():
                _arrive(graph, waiting[stopped])
                waiting = waiting[~stopped]
            levels.append(nodes)
        found = torch.cat(leaves)
        _arrive(graph, found)
        levels.reverse()
        return Descent(torch.cat(levels), found)

    def backup(self, graph: Graph, nodes: torch.Tensor, temperature: float) -> None:
        if len(nodes):
            self.kernels.backup(graph, nodes, graph.game(nodes), temperature)
            self._close_elsewhere(graph, nodes[graph.closed[nodes]], temperature)

    def _close_elsewhere(self, graph: Graph, closed: torch.Tensor, temperature: float) -> None:
        """Close what has nothing left to explore since nodes `closed` [n] are closed, and renew it: parents, theirs, …

        Those closed at a time are no parents of each other."""
        while len(closed):
            parents = _parents(graph, closed)
            parents = parents[~graph.closed[parents]]
            edges = graph.edges_of(parents)
            going = edges.real ^ (edges.explored & graph.closed[edges.child])
            closed = parents[~going.any(1)]
            if len(closed):
                self.kernels.backup(graph, closed, graph.game(closed), temperature)

    def winner_prob(self, values: torch.Tensor, mask: torch.Tensor, temperature: float) -> torch.Tensor:
        return self.kernels.winner_prob(values, mask, temperature)

    def select(self, search: MctsSearch, roots: torch.Tensor) -> Paths:
        graph = search.graph
        games = graph.game(roots)
        path = torch.zeros(len(roots), self.game.longest_game + 1, dtype=torch.int64, device=self.device)
        node = roots.clone()
        rows = torch.arange(len(roots), device=self.device)
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
        return Paths(roots, games, path, node)

    def add_results(self, search: MctsSearch, paths: Paths, result: torch.Tensor) -> None:
        graph = search.graph
        taken = paths.edges != NO_EDGE
        above = taken.sum(1, keepdim=True) - torch.arange(taken.shape[1], device=self.device)  # plies to the leaf
        value = torch.where(above % 2 == 0, result[:, None], -result[:, None])[taken]
        edges = paths.edges[taken]
        games = paths.games[:, None].expand_as(taken)[taken]
        graph.edge_visits.index_add_(0, edges, torch.ones_like(edges, dtype=torch.int32))
        search.edge_value.index_add_(0, edges, value)
        mean = search.edge_value[edges] / graph.edge_visits[edges]
        search.low.scatter_reduce_(0, games, mean, "amin")
        search.high.scatter_reduce_(0, games, mean, "amax")
        reached = torch.cat([paths.roots, graph.edge_child[edges]])
        graph.visits.index_add_(0, reached, torch.ones_like(reached, dtype=torch.int32))

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


def _arrive(graph: Graph, nodes: torch.Tensor) -> torch.Tensor:
    """Count the particles waiting at distinct nodes [n] as visits; return how many they were [n]."""
    volume = graph.volume[nodes]
    graph.volume[nodes] = 0
    graph.visits[nodes] += volume
    return volume.long()


def _split(graph: Graph, nodes: torch.Tensor, splitter: Splitter, salt: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Divide the particles waiting at nodes [n]; return who receives how many: children [k] and counts [k]."""
    volume = _arrive(graph, nodes)
    edges = graph.edges_of(nodes)
    unexplored = edges.real ^ edges.explored
    may = edges.real ^ (edges.explored & graph.closed[edges.child])
    share = graph.edge_policy[edges.index] * may
    weightless = ~share.any(1, keepdim=True)
    if weightless.any():
        share = torch.where(weightless, may.to(share.dtype), share)
    count = splitter(share, volume, graph.key[nodes], salt)
    untried = unexplored.sum(1, keepdim=True).clamp(min=1)
    bucket = (count * unexplored).sum(1, keepdim=True)
    turn = unexplored.cumsum(1) - 1  # 0 for the unexplored move with the highest prior
    handed = bucket // untried + (turn < bucket % untried)
    count = torch.where(unexplored, handed, count)
    given = count > 0
    child = edges.child[given]
    taken, count = edges.index[given], count[given].to(torch.int32)
    graph.edge_child[taken] = child  # explored from now on
    graph.edge_visits[taken] += count
    return child, count


def _link(graph: Graph, parent: torch.Tensor, slot: torch.Tensor, child: torch.Tensor) -> None:
    """Enter the moves [k] of parents [k] in the lists of their children [k]; several may lead to one child."""
    move = parent * graph.rules.most_moves + slot + 1
    child, order = child.sort()
    move, edge = move[order], (graph.first_edge[parent] + slot)[order]
    again = child[1:] == child[:-1]
    following = graph.first_parent[child]
    following[1:] = torch.where(again, move[:-1], following[1:])
    graph.next_parent[edge] = following
    last = torch.nn.functional.pad(~again, (0, 1), value=True)
    graph.first_parent[child[last]] = move[last]


def _parents(graph: Graph, nodes: torch.Tensor) -> torch.Tensor:
    """Return the distinct nodes [k] that have a move to one of nodes [n]."""
    found, move = [nodes[:0]], graph.first_parent[nodes]
    while len(move := move[move > 0] - 1):
        parent = move // graph.rules.most_moves
        found.append(parent)
        move = graph.next_parent[graph.first_edge[parent] + move % graph.rules.most_moves]
    return graph.distinct(torch.cat(found))
