"""Particle search: the same graph as a slow one-game search, and the properties the design promises."""

from __future__ import annotations

import pytest
import torch
from oracles.connect_four_search import ConnectFourSearch
from oracles.slow_othello import SlowOthello
from oracles.slow_search import Position, SlowSearch
from searching import FORMS, SYSTEMATIC, invented, play_games, played, searching

from probzero import games as known_games
from probzero.bits import popcount
from probzero.config import Search
from probzero.network.inference import Evaluation
from probzero.search.evaluation import CachedEvaluation
from probzero.search.move_choice import best
from probzero.search.particle import ParticleSearch

pytestmark = pytest.mark.usefixtures("one_thread")  # small operations: more threads would wait for one another

OTHELLO = known_games.make("othello", size=5)
CACHED = Search(splitting="systematic", temperature=1.0, cache=True)


def play(search: ParticleSearch, plies: int, particles: int = 6, batches: int = 3) -> None:
    play_games(search, plies, particles, batches)


def position(search: ParticleSearch, node: int) -> Position:
    own, opp = search.graph.states(torch.tensor([node]))[0].tolist()
    return own, opp


def assert_same_graph(search: ParticleSearch, slow: SlowSearch, game: int) -> None:
    graph = search.graph
    nodes = torch.arange(graph.nodes)
    nodes = nodes[(graph.game(nodes) == game) & graph.evaluated[: graph.nodes]]
    assert {position(search, int(n)) for n in nodes} == set(slow.nodes)
    for n in nodes:
        other = slow.nodes[position(search, int(n))]
        edges = slice(int(graph.first_edge[n]), int(graph.first_edge[n] + graph.edge_count[n]))
        assert int(graph.visits[n]) == other.visits
        assert bool(graph.closed[n]) == other.closed
        assert graph.edge_action[edges].tolist() == other.actions
        assert int((graph.edge_child[edges] >= 0).sum()) == other.tried
        assert graph.edge_policy[edges].tolist() == pytest.approx(other.policy, abs=2e-5)
        assert graph.search[n, graph.VALUE].tolist() == pytest.approx(other.value, abs=2e-5)
        assert graph.search[n, graph.TARGET].tolist() == pytest.approx(other.target, abs=2e-5)


SLOW = {
    "othello 4": (known_games.make("othello", size=4), lambda *given: SlowSearch(4, *given)),
    "othello 5": (known_games.make("othello", size=5), lambda *given: SlowSearch(5, *given)),
    "connect four 4x4": (known_games.make("connect_four", width=4, height=4), lambda *g: ConnectFourSearch(4, 4, *g)),
    "connect four 5x4": (known_games.make("connect_four", width=5, height=4), lambda *g: ConnectFourSearch(5, 4, *g)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SLOW)
def test_every_game_of_a_batch_grows_the_graph_of_the_slow_search(name: str, form: str) -> None:
    rules, slow_search = SLOW[name]
    search = searching(rules=rules, games=3, form=form)
    slow = [slow_search(invented(rules), int(k), rules.start()) for k in search.graph.game_key]
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
    graph = search.graph
    assert graph.closed[graph.root].all()
    for game in range(4):
        root = int(graph.root[game])
        exact = minimax(SlowOthello.from_bitboards(4, *position(search, root)))
        value = graph.search[root, graph.VALUE]
        assert int(value.argmax()) == 1 - exact and float(value.max()) > 0.999


def test_cache_on_and_off_give_identical_graphs() -> None:
    plain, cached = searching(games=8, settings=SYSTEMATIC), searching(games=8, settings=CACHED)
    for search in (plain, cached):
        play(search, 30)
    assert plain.graph.nodes == cached.graph.nodes and plain.leaf_evaluations == cached.leaf_evaluations
    for name in ("visits", "search", "closed", "edge_policy", "edge_child", "root"):
        assert torch.equal(getattr(plain.graph, name), getattr(cached.graph, name)), name


def test_the_cache_asks_for_every_position_once() -> None:
    asked: list[tuple[int, ...]] = []
    source = invented(OTHELLO)

    def recording(states: torch.Tensor, moves: torch.Tensor) -> Evaluation:
        asked.extend(tuple(state) for state in states.tolist())
        return source(states, moves)

    search = searching(games=8, evaluate=recording, settings=CACHED)
    play(search, 10)
    assert len(asked) == len(set(asked)) < search.leaf_evaluations


@pytest.mark.parametrize("form", FORMS)
def test_a_cache_that_is_full_forgets_and_changes_nothing(form: str) -> None:
    plain, cached = (searching(games=8, form=form) for _ in range(2))
    cached.evaluate = CachedEvaluation(invented(OTHELLO), cached.graph.backend, 30)  # fewer than some calls ask for
    for search in (plain, cached):
        play(search, 30)
    assert 0 < cached.evaluate.table.count <= 30 < cached.leaf_evaluations == plain.leaf_evaluations
    for name in ("visits", "search", "closed", "edge_policy", "edge_child", "root"):
        assert torch.equal(getattr(plain.graph, name), getattr(cached.graph, name)), name


def test_a_game_is_the_same_alone_and_among_others() -> None:
    together, alone = searching(games=5, keys=[1, 2, 3, 4, 5]), searching(games=1, keys=[4])
    for search in (together, alone):
        play(search, 30)
    graph = together.graph
    mine = (graph.game(torch.arange(graph.nodes)) == 3) & graph.evaluated[: graph.nodes]
    visits = {position(together, n): int(graph.visits[n]) for n in mine.nonzero()[:, 0].tolist()}
    other = alone.graph
    known = other.evaluated[: other.nodes].nonzero()[:, 0].tolist()
    assert visits == {position(alone, n): int(other.visits[n]) for n in known}


def test_policies_sum_to_one_and_no_particle_is_left_waiting() -> None:
    search = searching(games=6)
    play(search, 12, particles=8, batches=5)
    graph = search.graph
    nodes = (graph.edge_count[: graph.nodes] > 0).nonzero()[:, 0]
    edges = graph.edges_of(nodes)
    sums = (graph.edge_policy[edges.index] * edges.real).sum(1)
    assert torch.allclose(sums, torch.ones_like(sums), atol=1e-5)
    assert int(graph.volume.sum()) == 0
    first_roots = graph.table.keys[: graph.nodes, 2].unique()  # every game has nodes
    assert len(first_roots) == 6


def test_equal_positions_of_a_game_are_one_node_and_every_parent_sees_it() -> None:
    search = searching(games=2)
    play(search, 10, particles=16, batches=10)
    graph = search.graph
    keys = graph.table.keys[: graph.nodes]
    assert len(keys.unique(dim=0)) == graph.nodes
    nodes = (graph.edge_count[: graph.nodes] > 0).nonzero()[:, 0]
    edges = graph.edges_of(nodes)
    child = edges.child[edges.explored]
    parents = torch.bincount(child, minlength=graph.nodes)
    assert int((parents > 1).sum()) > 10, "transpositions should occur"
    row = edges.explored.nonzero()[:, 0]
    action = graph.edge_action[edges.index[edges.explored]]
    assert torch.equal(graph.rules.play(graph.states(nodes[row]), action.long()), graph.states(child))


def test_nothing_is_sent_below_closed_children() -> None:
    search = searching(4, games=4)
    games = torch.arange(4)
    for ply in range(8):
        search.run(games, 4, 2, ply)
        search.advance(games, played(search, games, 1.0, ply))
    search.run(games, 8, 3, 50)
    graph = search.graph
    before = graph.visits[: graph.nodes].clone()
    shut = graph.closed[: graph.nodes].clone() & graph.evaluated[: graph.nodes]
    known = graph.nodes
    parents = torch.bincount(_explored_children(search), minlength=known)
    search.run(games, 8, 1, 51)
    # A closed node can only be met once more through a parent that had not tried it.
    grew = graph.visits[:known] > before
    assert not (
        grew & shut & (parents == torch.bincount(_explored_children(search), minlength=graph.nodes)[:known])
    ).any()


def _explored_children(search: ParticleSearch) -> torch.Tensor:
    graph = search.graph
    edges = graph.edges_of((graph.edge_count[: graph.nodes] > 0).nonzero()[:, 0])
    return edges.child[edges.explored]


def test_an_unknown_move_of_the_opponent_still_moves_the_root() -> None:
    search = searching(games=2)
    games = torch.arange(2)
    search.run(games, 1, 1, 0)
    graph = search.graph
    edges = graph.edges_of(graph.root)
    unexplored = edges.real & ~edges.explored
    action = graph.edge_action[edges.index][unexplored].reshape(2, -1)[:, -1].long()
    expected = graph.rules.play(graph.states(graph.root), action)
    search.advance(games, action)
    assert torch.equal(graph.states(graph.root), expected)
    search.run(games, 4, 2, 1)
    assert (graph.visits[graph.root] == 8).all()


def test_best_plays_the_explored_move_with_the_largest_policy() -> None:
    search = searching(games=3)
    games = torch.arange(3)
    search.run(games, 8, 4, 0)
    graph = search.graph
    for game, action in enumerate(best(search.moves(games)).tolist()):
        node = int(graph.root[game])
        edges = range(int(graph.first_edge[node]), int(graph.first_edge[node] + graph.edge_count[node]))
        explored = [edge for edge in edges if graph.edge_child[edge] >= 0]
        assert action == int(graph.edge_action[max(explored, key=lambda edge: float(graph.edge_policy[edge]))])


def test_multinomial_splitting_plays_whole_games_too() -> None:
    search = searching(games=3, settings=Search(splitting="multinomial", temperature=1.0, cache=False))
    play(search, 40)
    graph = search.graph
    own, opp = graph.states(graph.root).T
    assert graph.rules.finished(graph.states(graph.root)).all()
    assert (popcount(own | opp) > 10).all()
