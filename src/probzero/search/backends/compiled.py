"""The form for processors: compiled loops over the arrays of a graph (`search/loops`, `kernels/*/compiled.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from probzero import templates
from probzero.games.base import Game
from probzero.random_keys import key
from probzero.search.arrays import paged_zeros
from probzero.search.backends.base import Descent, Leaves, Paths, lacks

if TYPE_CHECKING:
    from probzero.network.inference import Evaluation
    from probzero.search.graph import Graph
    from probzero.search.key_table import KeyTable
    from probzero.search.mcts import MctsSearch

CPU = torch.device("cpu")


class CompiledBackend:
    """See `Backend`."""

    def __init__(self, game: Game) -> None:
        self.game, self.device = game, CPU
        self._expansion = game.loops("probzero.search.loops.expansion")
        self._hashing, self._splitting, self._closing, self._paths = (
            templates.load(f"probzero.search.loops.{name}") for name in ("hashing", "splitting", "closing", "paths")
        )
        self._winner_prob, self._backup = (
            templates.load(f"probzero.kernels.{name}.compiled") for name in ("winner_prob", "backup")
        )
        self._playout_salts = np.array([key("playout", ply) for ply in range(game.longest_game + 1)])

    def zeros(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return paged_zeros(*shape, dtype=dtype)

    def hash_rows(self, words: torch.Tensor) -> torch.Tensor:
        hashes = torch.empty(len(words), dtype=torch.int64)
        self._hashing.mix_rows(words.numpy(), hashes.numpy())
        return hashes

    def insert(self, table: KeyTable, keys: torch.Tensor, hashes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        entries, added = torch.empty_like(hashes), torch.empty_like(hashes)
        arrays = (keys, hashes, table.slots, table.keys)
        count, fresh = self._hashing.insert(
            *(array.numpy() for array in arrays), table.count, entries.numpy(), added.numpy()
        )
        table.reserve(count - table.count)
        return entries, added[:fresh]

    def open_nodes(self, graph: Graph, nodes: torch.Tensor) -> Leaves:
        most = len(nodes)
        live, counts = torch.empty(2, most, dtype=torch.int64)
        states = torch.empty(most, self.game.words, dtype=torch.int64)
        moves = torch.empty(most, self.game.most_moves, dtype=torch.int64)
        room = (array.numpy() for array in (nodes, live, states, moves, counts))
        going, total = self._expansion.open_nodes(graph.arrays, *room)
        return Leaves(live[:going], states[:going], moves[:going], counts[:going], total)

    def expand(self, graph: Graph, leaves: Leaves, evaluation: Evaluation) -> None:
        children = np.empty((leaves.total, self.game.words + 1), np.int64)
        scratch = np.empty((3, leaves.total), np.int64)
        given = (leaves.nodes, leaves.moves, leaves.counts, evaluation.prior, evaluation.value, evaluation.reward)
        nodes = self._expansion.expand(
            graph.arrays, *(array.numpy() for array in given), graph.edges, graph.transpositions, graph.scopes,
            graph.nodes, children, scratch,
        )  # fmt: skip
        graph.table.reserve(nodes - graph.nodes)

    def descend(self, graph: Graph, roots: torch.Tensor, particles: torch.Tensor, splitting: str, salt: int) -> Descent:
        known = self._splitting.SPLITTERS
        if splitting not in known:
            raise lacks("compiled", "search.splitting", known, splitting)
        particle_loops = templates.load("probzero.search.loops.particles", splitting, divide=known[splitting])
        most = int(particles.sum())
        touched = torch.empty(most * (self.game.longest_game + 1), dtype=torch.int64)
        leaves = torch.empty(most, dtype=torch.int64)
        split, found = particle_loops.descend(
            graph.arrays, roots.numpy(), particles.numpy(), salt, self.game.most_moves,
            touched.numpy(), leaves.numpy(),
        )  # fmt: skip
        return Descent(touched[len(touched) - split :], leaves[:found])

    def backup(self, graph: Graph, nodes: torch.Tensor, temperature: float) -> None:
        arrays, exponent, most_moves = graph.arrays, 1.0 / temperature, self.game.most_moves
        if self._backup.backup(arrays, nodes.numpy(), exponent, most_moves):
            found = self._closing.close(arrays, nodes.numpy(), most_moves)
            if found:
                self._backup.backup(arrays, arrays.scratch[:found], exponent, most_moves)

    def winner_prob(self, values: torch.Tensor, mask: torch.Tensor, temperature: float) -> torch.Tensor:
        weights = torch.empty(mask.shape)
        self._winner_prob.winner_prob(
            values.contiguous().numpy(), mask.contiguous().numpy(), 1.0 / temperature, weights.numpy()
        )
        return weights

    def select(self, search: MctsSearch, roots: torch.Tensor) -> Paths:
        games = search.graph.game(roots)
        path = torch.zeros(len(roots), self.game.longest_game + 1, dtype=torch.int64)
        leaves = torch.empty_like(roots)
        room = (array.numpy() for array in (roots, games, path, leaves))
        self._paths.select(search.graph.arrays, search.arrays, search.scoring, *room)
        return Paths(roots, games, path, leaves)

    def add_results(self, search: MctsSearch, paths: Paths, result: torch.Tensor) -> None:
        given = (array.numpy() for array in (paths.roots, paths.games, paths.edges, result))
        self._paths.add_results(search.graph.arrays, search.arrays, *given)

    def playouts(self, states: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        results = torch.empty_like(keys)
        self._expansion.playouts(states.numpy(), keys.numpy(), self._playout_salts, results.numpy())
        return results
