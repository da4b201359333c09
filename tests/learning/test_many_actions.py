"""A game with thousands of actions: its samples are by legal move, so that they stay small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sealed import MADE

from probzero import games
from probzero.config import Search, Targets
from probzero.games.base import count_moves, list_moves, moves_of
from probzero.games.random_play import play_by_seed
from probzero.learning.dataset import read_samples, write_samples
from probzero.learning.targets import extract
from probzero.network.evaluation import Evaluation
from probzero.search.build import SearchFactory
from probzero.truth.measures import search_from

GAME = games.make("chess")
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
TREE, MOST = 250_000, 200_000_000  # samples of a large tree, and bytes that they may take


class Indifferent:
    """In the place of a network: holds all moves for equal."""

    device = "cpu"

    def __call__(self, states: np.ndarray, moves: np.ndarray) -> Evaluation:
        legal = count_moves(GAME, states)[:, None]
        prior = ((np.arange(moves.shape[1]) < legal) / legal).astype(np.float32)
        even = np.full((len(states), 3), 1 / 3, np.float32)
        return Evaluation(prior, even, even)


def test_a_tree_of_a_quarter_of_a_million_samples_stays_under_200_megabytes(tmp_path: Path) -> None:
    """Tried with a twentieth of it, from a position with 48 moves; positions from the start on have fewer."""
    settings = Search(splitting="systematic", temperature=1.0, cache=False)
    factory = SearchFactory(GAME, Indifferent(), settings, 4_000_000, "capacity")  # type: ignore[arg-type]
    search = search_from(factory, GAME.from_text(KIWIPETE)[None], 0)
    for batch in range(30):
        search.run(np.arange(1), 4096, 1, batch)
        samples = extract(search.graph, 1.0, Targets(), np.arange(0))
        if len(samples) >= TREE // 20:
            break
    assert len(samples) >= TREE // 20
    path = tmp_path / "tree.safetensors"
    write_samples(path, samples, GAME, MADE)
    assert path.stat().st_size < MOST * len(samples) / TREE
    assert sum(column.nbytes for column in samples.columns()) < MOST * len(samples) / TREE
    assert len(read_samples(path, GAME)) == len(samples)


def test_moves_are_listed_part_by_part_as_all_at_once() -> None:
    states = play_by_seed(GAME, 30, 60, seed=1).states.reshape(-1, GAME.words)
    assert len(states) > 2 * (1 << 22) // GAME.actions, "more than one part"
    legal = GAME.legal(states)
    np.testing.assert_array_equal(count_moves(GAME, states), legal.sum(1))
    for most in (218, 20, 1):
        np.testing.assert_array_equal(moves_of(GAME, states, most), list_moves(legal, most))
    assert moves_of(GAME, states[:0], 5).shape == (0, 5) and count_moves(GAME, states[:0]).shape == (0,)
