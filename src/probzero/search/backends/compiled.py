"""The form for processors: compiled loops over the arrays of a graph (`search/loops`, `kernels/*/compiled.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from probzero import templates
from probzero.devices import CPU
from probzero.games.base import Game
from probzero.kinds import Array, like, plain
from probzero.random_keys import key
from probzero.search.arrays import paged_zeros
from probzero.search.backends.base import Descent, Leaves, Paths, lacks

if TYPE_CHECKING:
    from probzero.network.evaluation import Evaluation
    from probzero.search.graph import Graph
    from probzero.search.gumbel import GumbelSearch
    from probzero.search.key_table import KeyTable
    from probzero.search.mcts import MctsSearch


class CompiledBackend:
    """See `Backend`. Arrays are numpy's, or torch's if the search is given such: to the loops both are memory."""

    grows_tables = True

    def __init__(self, game: Game, kind: Array | None = None) -> None:
        """`kind` is an array of the kind that the search goes over; numpy's by default."""
        self.game, self.device = game, CPU
        self.edges_per_node = game.most_moves  # memory that is never touched costs nothing
        self.kind = np.empty(0) if kind is None else kind
        self._expansion = game.loops("probzero.search.loops.expansion")
        self._hashing, self._splitting, self._closing, self._paths, self._gumbel = (
            templates.load(f"probzero.search.loops.{name}")
            for name in ("hashing", "splitting", "closing", "paths", "gumbel")
        )
        self._winner_prob, self._backup = (
            templates.load(f"probzero.kernels.{name}.compiled") for name in ("winner_prob", "backup")
        )
        self._playout_salts = np.array([key("playout", ply) for ply in range(game.longest_game + 1)])

    def zeros(self, *shape: int, dtype: str = "float32") -> Array:
        return like(paged_zeros(*shape, dtype=dtype), self.kind)

    def accept(self, array: Array) -> Array:
        return like(plain(array), self.kind)

    def hash_rows(self, words: Array) -> Array:
        hashes = np.empty(len(words), np.int64)
        self._hashing.mix_rows(plain(words), hashes)
        return like(hashes, words)

    def insert(self, table: KeyTable, keys: Array, hashes: Array) -> tuple[Array, Array]:
        entries, added = np.empty((2, len(hashes)), np.int64)
        given = (plain(array) for array in (keys, hashes, table.slots, table.keys))
        count, fresh = self._hashing.insert(*given, table.count, entries, added)
        table.reach(count)
        return like(entries, keys), like(added[:fresh], keys)

    def enter(self, table: KeyTable, keys: Array, hashes: Array) -> Array:
        return self.insert(table, keys, hashes)[0]

    def settle(self, table: KeyTable) -> None:
        """The host counts."""

    def goes_on(self, graph: Graph, particles: Array) -> bool:
        return bool(particles.any())

    def move_slots(self, taken: Array, slots: Array) -> None:
        self._hashing.move_slots(plain(taken), plain(slots))

    def open_nodes(self, graph: Graph, nodes: Array) -> Leaves:
        most = len(nodes)
        live, counts = np.empty((2, most), np.int64)
        states = np.empty((most, self.game.words), np.int64)
        moves = np.empty((most, self.game.most_moves), np.int64)
        going, total = self._expansion.open_nodes(graph.arrays, plain(nodes), live, states, moves, counts)
        live, states, moves, counts = (like(array[:going], nodes) for array in (live, states, moves, counts))
        return Leaves(live, states, moves, counts, total)

    def expand(self, graph: Graph, leaves: Leaves, evaluation: Evaluation) -> None:
        children = np.empty((leaves.total, self.game.words + 1), np.int64)
        scratch = np.empty((3, leaves.total), np.int64)
        graph.table.make_room(leaves.total)
        given = (
            graph.table.slots, leaves.nodes, leaves.moves, leaves.counts, evaluation.prior, evaluation.value,
            evaluation.reward,
        )  # fmt: skip
        nodes = self._expansion.expand(
            graph.arrays, *map(plain, given), graph.edges, graph.transpositions, graph.scopes, graph.nodes, children,
            scratch,
        )  # fmt: skip
        graph.table.reach(nodes)

    def descend(self, graph: Graph, roots: Array, particles: Array, most: int, splitting: str, salt: int) -> Descent:
        known = self._splitting.SPLITTERS
        if splitting not in known:
            raise lacks("compiled", "search.splitting", known, splitting)
        particle_loops = templates.load("probzero.search.loops.particles", splitting, divide=known[splitting])
        room = len(roots) * most
        touched = np.empty(room * (self.game.longest_game + 1), np.int64)
        leaves = np.empty(room, np.int64)
        split, found = particle_loops.descend(
            graph.arrays, plain(roots), plain(particles), salt, self.game.most_moves, touched, leaves
        )
        return Descent(like(touched[len(touched) - split :], roots), like(leaves[:found], roots))

    def backup(self, graph: Graph, nodes: Array, temperature: float) -> None:
        arrays, exponent, most_moves, touched = graph.arrays, 1.0 / temperature, self.game.most_moves, plain(nodes)
        if self._backup.backup(arrays, touched, exponent, most_moves):
            found = self._closing.close(arrays, touched, most_moves)
            if found:
                self._backup.backup(arrays, arrays.scratch[:found], exponent, most_moves)

    def renew(self, graph: Graph, nodes: Array, temperature: float) -> None:
        self.backup(graph, nodes, temperature)

    def winner_prob(self, values: Array, mask: Array, temperature: float) -> Array:
        weights = np.empty(tuple(mask.shape), np.float32)
        given = (np.ascontiguousarray(plain(array)) for array in (values, mask))
        self._winner_prob.winner_prob(*given, 1.0 / temperature, weights)
        return like(weights, values)

    def select(self, search: MctsSearch, roots: Array) -> Paths:
        games = search.graph.game(roots)
        path = np.zeros((len(roots), self.game.longest_game + 1), np.int64)
        leaves = np.empty(len(roots), np.int64)
        self._paths.select(search.graph.arrays, search.arrays, search.scoring, plain(roots), plain(games), path, leaves)
        return Paths(roots, games, like(path, roots), like(leaves, roots))

    def add_results(self, search: MctsSearch, paths: Paths, result: Array) -> None:
        given = (plain(array) for array in (paths.roots, paths.games, paths.edges, result))
        self._paths.add_results(search.graph.arrays, search.arrays, search.scoring.virtual_loss, *given)

    def select_improved(self, search: GumbelSearch, roots: Array, most: Array) -> Paths:
        games = search.graph.game(roots)
        rows = int(most.clip(max=self.game.most_moves).sum())
        path = np.zeros((rows, self.game.longest_game + 1), np.int64)
        leaves, source = np.empty((2, rows), np.int64)
        given = (plain(array) for array in (roots, games, most))
        taken = self._gumbel.select(
            search.graph.arrays, search.arrays, search.root_arrays, search.rule, search.stage, *given, path, leaves,
            source,
        )  # fmt: skip
        source = like(source[:taken], roots)
        return Paths(roots[source], games[source], like(path[:taken], roots), like(leaves[:taken], roots))

    def improve(self, search: GumbelSearch, roots: Array) -> tuple[Array, Array]:
        games, widest = search.graph.game(roots), int(search.graph.edge_count[roots].max()) if len(roots) else 0
        best, policy = np.zeros((2, len(roots), widest))
        given = (plain(array) for array in (roots, games))
        self._gumbel.improve(
            search.graph.arrays, search.arrays, search.root_arrays, search.rule, *given, best, policy
        )  # fmt: skip
        return like(best, roots), like(policy, roots)

    def playouts(self, states: Array, keys: Array) -> Array:
        results = np.empty(len(keys), np.int64)
        self._expansion.playouts(plain(states), plain(keys), self._playout_salts, results)
        return like(results, keys)
