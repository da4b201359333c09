"""Particle search: the same graph as a slow one-game search, and the properties the design promises."""

from __future__ import annotations

import pytest
import torch
from probzero.games.bits import popcount
from searching import SYSTEMATIC, invented, played, searching
from slow_search import SlowSearch

from probzero.config import Search
from probzero.errors import ProbZeroError
from probzero.games.othello import othello
from probzero.search.choice import best
from probzero.search.particle import ParticleSearch

CACHED = Search(splitting="systematic", temperature=1.0, cache=True)


def play(search: ParticleSearch, plies: int, particles: int = 6, batches: int = 3) -> None:
    going = torch.arange(len(search.tree.root))
    for ply in range(plies):
        search.run(going, particles, batches, ply)
        search.advance(going, played(search, going, 0.1, ply))
        search.evaluate_roots(going)
        going = going[search.tree.edge_count[search.tree.root[going]] > 0]
        if not len(going):
            return


def assert_same_graph(search: ParticleSearch, slow: SlowSearch, game: int) -> None:
    tree = search.tree
    nodes = ((tree.game(torch.arange(len(tree.evaluated))) == game) & tree.evaluated).nonzero()[:, 0]
    nodes = nodes[nodes < tree.nodes]
    assert {(int(tree.own[n]), int(tree.opp[n])) for n in nodes} == set(slow.nodes)
    for n in nodes:
        other = slow.nodes[int(tree.own[n]), int(tree.opp[n])]
        edges = slice(int(tree.first_edge[n]), int(tree.first_edge[n] + tree.edge_count[n]))
        assert int(tree.visits[n]) == other.visits
        assert bool(tree.closed[n]) == other.closed
        assert tree.edge_action[edges].tolist() == other.actions
        assert int((tree.edge_child[edges] >= 0).sum()) == other.tried
        assert tree.edge_policy[edges].tolist() == pytest.approx(other.policy, abs=2e-5)
        assert tree.search[n, tree.VALUE].tolist() == pytest.approx(other.value, abs=2e-5)
        assert tree.search[n, tree.TARGET].tolist() == pytest.approx(other.target, abs=2e-5)


@pytest.mark.parametrize("in_step", [False, True], ids=["compiled", "in step"])
@pytest.mark.parametrize("size", [4, 5])
def test_every_game_of_a_batch_grows_the_graph_of_the_slow_search(size: int, in_step: bool) -> None:
    search = searching(size, games=3, in_step=in_step)
    rules = othello(size)
    slow = [SlowSearch(size, invented(rules), int(k), rules.start()) for k in search.tree.game_key]
    going = [0, 1, 2]
    for ply in range(8):
        search.run(torch.tensor(going), 7, 4, ply)
        for game in going:
            slow[game].run(7, 4, ply)
        action = played(search, torch.tensor(going), 0.3, ply)
        search.advance(torch.tensor(going), action)
        for game, move in zip(going, action.tolist(), strict=True):
            slow[game].advance(move)
        search.evaluate_roots(torch.tensor(going))
        going = [game for game in going if not slow[game].nodes[slow[game].root].terminal]
    for game in range(3):
        assert_same_graph(search, slow[game], game)


def test_searching_to_exhaustion_finds_the_exact_result_of_4x4() -> None:
    # From 4 empty squares the whole graph fits in the budget; the exact value comes from the slow minimax below.
    from oracles.slow_othello import SlowOthello

    def minimax(board: SlowOthello) -> int:
        moves = board.legal_moves()
        if not moves:
            return (board.margin() > 0) - (board.margin() < 0)
        return max(-minimax(board.after(move)) for move in moves)

    search = searching(4, games=4)
    games = torch.arange(4)
    for ply in range(7):
        search.run(games, 4, 2, ply)
        search.advance(games, played(search, games, 1.0, ply))
    search.run(games, 8, 400, 99)
    tree = search.tree
    assert tree.closed[tree.root].all()
    for game in range(4):
        root = int(tree.root[game])
        exact = minimax(SlowOthello.from_bitboards(4, int(tree.own[root]), int(tree.opp[root])))
        value = tree.search[root, tree.VALUE]
        assert int(value.argmax()) == 1 - exact and float(value.max()) > 0.999


def test_cache_on_and_off_give_identical_graphs() -> None:
    plain, cached = searching(games=8, settings=SYSTEMATIC), searching(games=8, settings=CACHED)
    for search in (plain, cached):
        play(search, 30)
    assert plain.tree.nodes == cached.tree.nodes and plain.leaf_evaluations == cached.leaf_evaluations
    for name in ("visits", "search", "closed", "edge_policy", "edge_child", "root"):
        assert torch.equal(getattr(plain.tree, name), getattr(cached.tree, name)), name


def test_the_cache_asks_for_every_position_once() -> None:
    asked: list[tuple[int, int]] = []
    source = invented(othello(5))

    def recording(own, opp, legal):
        asked.extend(zip(own.tolist(), opp.tolist(), strict=True))
        return source(own, opp, legal)

    search = searching(games=8, evaluate=recording, settings=CACHED)
    play(search, 10)
    assert len(asked) == len(set(asked)) < search.leaf_evaluations


def test_a_game_is_the_same_alone_and_among_others() -> None:
    together, alone = searching(games=5, keys=[1, 2, 3, 4, 5]), searching(games=1, keys=[4])
    for search in (together, alone):
        play(search, 30)
    tree = together.tree
    mine = (tree.game(torch.arange(tree.nodes)) == 3) & tree.evaluated[: tree.nodes]
    visits = {(int(tree.own[n]), int(tree.opp[n])): int(tree.visits[n]) for n in mine.nonzero()[:, 0]}
    other = alone.tree
    known = other.evaluated[: other.nodes].nonzero()[:, 0]
    assert visits == {(int(other.own[n]), int(other.opp[n])): int(other.visits[n]) for n in known}


def test_policies_sum_to_one_and_particles_are_conserved() -> None:
    search = searching(games=6)
    play(search, 12, particles=8, batches=5)
    tree = search.tree
    nodes = (tree.edge_count[: tree.nodes] > 0).nonzero()[:, 0]
    edges = tree.edges_of(nodes)
    sums = (tree.edge_policy[edges.index] * edges.real).sum(1)
    assert torch.allclose(sums, torch.ones_like(sums), atol=1e-5)
    assert int(tree.volume.sum()) == 0
    first_roots = tree.table.keys[: tree.nodes, 2].unique()  # every game has nodes
    assert len(first_roots) == 6


def test_equal_positions_of_a_game_are_one_node_and_every_parent_sees_it() -> None:
    search = searching(games=2)
    play(search, 10, particles=16, batches=10)
    tree = search.tree
    keys = tree.table.keys[: tree.nodes]
    assert len(keys.unique(dim=0)) == tree.nodes
    nodes = (tree.edge_count[: tree.nodes] > 0).nonzero()[:, 0]
    edges = tree.edges_of(nodes)
    child = edges.child[edges.explored]
    parents = torch.bincount(child, minlength=tree.nodes)
    assert int((parents > 1).sum()) > 10, "transpositions should occur"
    row = edges.explored.nonzero()[:, 0]
    action = tree.edge_action[edges.index[edges.explored]]
    own, opp = tree.rules.place(tree.own[nodes[row]], tree.opp[nodes[row]], action)
    assert torch.equal(own, tree.own[child]) and torch.equal(opp, tree.opp[child])


def test_nothing_is_sent_below_closed_children() -> None:
    search = searching(4, games=4)
    games = torch.arange(4)
    for ply in range(8):
        search.run(games, 4, 2, ply)
        search.advance(games, played(search, games, 1.0, ply))
    search.run(games, 8, 3, 50)
    tree = search.tree
    before = tree.visits[: tree.nodes].clone()
    shut = tree.closed[: tree.nodes].clone() & tree.evaluated[: tree.nodes]
    known = tree.nodes
    parents = torch.bincount(_explored_children(search), minlength=known)
    search.run(games, 8, 1, 51)
    # A closed node can only be met once more through a parent that had not tried it.
    grew = tree.visits[:known] > before
    assert not (
        grew & shut & (parents == torch.bincount(_explored_children(search), minlength=tree.nodes)[:known])
    ).any()


def _explored_children(search: ParticleSearch) -> torch.Tensor:
    tree = search.tree
    edges = tree.edges_of((tree.edge_count[: tree.nodes] > 0).nonzero()[:, 0])
    return edges.child[edges.explored]


def test_an_unknown_move_of_the_opponent_still_moves_the_root() -> None:
    search = searching(games=2)
    games = torch.arange(2)
    search.run(games, 1, 1, 0)
    tree = search.tree
    edges = tree.edges_of(tree.root)
    unexplored = edges.real & ~edges.explored
    action = tree.edge_action[edges.index][unexplored].reshape(2, -1)[:, -1]
    expected = tree.rules.place(tree.own[tree.root], tree.opp[tree.root], action)
    search.advance(games, action)
    assert torch.equal(tree.own[tree.root], expected[0]) and torch.equal(tree.opp[tree.root], expected[1])
    search.run(games, 4, 2, 1)
    assert (tree.visits[tree.root] == 8).all()


def test_best_plays_the_explored_move_with_the_largest_policy() -> None:
    search = searching(games=3)
    games = torch.arange(3)
    search.run(games, 8, 4, 0)
    tree = search.tree
    for game, action in enumerate(best(search.moves(games)).tolist()):
        node = int(tree.root[game])
        edges = range(int(tree.first_edge[node]), int(tree.first_edge[node] + tree.edge_count[node]))
        explored = [edge for edge in edges if tree.edge_child[edge] >= 0]
        assert action == int(tree.edge_action[max(explored, key=lambda edge: float(tree.edge_policy[edge]))])


def test_a_full_tree_ends_with_a_clear_error() -> None:
    search = searching(games=4, capacity=100)
    with pytest.raises(ProbZeroError, match=r"memory: capacity: expected at most 100 positions, found \d+ needed"):
        play(search, 20)


@pytest.mark.parametrize("splitting", ["systematic", "multinomial"])
def test_compiled_and_tensor_forms_play_the_same_games(splitting: str) -> None:
    settings = Search(splitting=splitting, temperature=1.5, cache=False)
    forms = [searching(games=6, settings=settings, in_step=in_step) for in_step in (False, True)]
    visits = []
    for search in forms:
        play(search, 40)
        tree = search.tree
        known = tree.evaluated[: tree.nodes].nonzero()[:, 0]
        rows = torch.stack([*tree.table.keys[known].unbind(1), tree.visits[known], tree.closed[known].long()], dim=1)
        visits.append({tuple(row) for row in rows.tolist()})
    assert visits[0] == visits[1] and len(visits[0]) > 1000


def test_multinomial_splitting_plays_whole_games_too() -> None:
    search = searching(games=3, settings=Search(splitting="multinomial", temperature=1.0, cache=False))
    play(search, 40)
    tree = search.tree
    assert tree.rules.terminal(tree.own[tree.root], tree.opp[tree.root]).all()
    assert (popcount(tree.own[tree.root] | tree.opp[tree.root]) > 10).all()
