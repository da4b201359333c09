"""No particle is lost: from an open root each ends at one leaf, and what has nothing left to explore is closed."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import pytest
import torch
from oracles.connect_four_search import ConnectFourSearch
from oracles.slow_search import SlowSearch
from searching import FORMS, SYSTEMATIC, changed, invented, play_games, played, searching

from probzero import games as known_games
from probzero import wdl
from probzero.games.base import Game
from probzero.network.inference import Evaluation
from probzero.search.evaluation import Evaluate
from probzero.search.graph import Graph

pytestmark = pytest.mark.usefixtures("one_thread")  # small operations: more threads would wait for one another

GAMES = {
    "othello 4": known_games.make("othello", size=4),
    "othello 5": known_games.make("othello", size=5),
    "connect four 4x4": known_games.make("connect_four", width=4, height=4),
}

KEYS = [24, 5, 20, 28]  # the first meets, in every one of the games, nodes whose children were all closed elsewhere

every_game = pytest.mark.parametrize("game", GAMES)
every_form = pytest.mark.parametrize("form", FORMS)


class Books(NamedTuple):
    """What a graph says of its n nodes, and what it counted so far."""

    known: torch.Tensor  # [n] bool: evaluated
    closed: torch.Tensor  # [n] bool
    visits: torch.Tensor  # [n]
    sent: torch.Tensor  # [n] particles that left by a move
    came: torch.Tensor  # [n] particles that came by a move
    tried: torch.Tensor  # [n] explored moves that lead here

    @staticmethod
    def of(graph: Graph, nodes: int | None = None) -> Books:
        """Open the books; those of more `nodes` than there are yet have empty pages."""
        count = nodes or graph.nodes
        edges = graph.edges_of(torch.arange(count))
        passed, child = graph.edge_visits[edges.index].long() * edges.real, edges.child.flatten()
        empty = torch.zeros(count, dtype=torch.int64)
        came = empty.index_add(0, child, passed.flatten())
        tried = empty.index_add(0, child, edges.explored.flatten().long())
        kept = graph.evaluated[:count], graph.closed[:count], graph.visits[:count].long()
        return Books(*(part.clone() for part in kept), passed.sum(1), came, tried)


class Audit:
    """Checks the books of a search after every simulation batch, and counts what is worth knowing of the batches."""

    def __init__(self, search: Any) -> None:
        self.graph, self.simulate = search.graph, search.simulate
        self.sent = 0  # particles in all
        self.stopped = 0  # of these, at positions that had been closed from elsewhere
        self.elsewhere = 0  # nodes that closed though no particle came by
        search.simulate = self.audited

    def audited(self, roots: torch.Tensor, particles: torch.Tensor, most: int, salt: int) -> None:
        graph = self.graph
        room = min(len(graph.visits), graph.nodes + int(particles.sum()) * graph.rules.most_moves)  # for what is found
        before = Books.of(graph, room)
        self.simulate(roots, particles, most, salt)
        after = Books.of(graph, room)
        arrived, sent, came, tried = (
            getattr(after, name) - getattr(before, name) for name in ("visits", "sent", "came", "tried")
        )
        came[roots] += particles
        assert not (came - arrived).any(), "visits are the particles that came"
        going = before.known & ~before.closed  # these pass on what they get
        assert not (sent - torch.where(going, arrived, 0)).any(), "an open node passes all particles on"
        assert not arrived[before.closed & (tried == 0)].any(), "a closed node gets none but by a new move"
        ends = torch.where(going, 0, arrived)
        by_game = torch.zeros(graph.games, dtype=torch.int64).index_add(0, games_of(graph), ends[: graph.nodes])
        expected = torch.zeros_like(by_game).index_add(0, graph.game(roots), particles)
        assert by_game.tolist() == expected.tolist(), "every particle ends somewhere"
        assert not (after.known & (after.closed == left_open(graph, room))).any(), "closed if nothing is left"
        self.sent += int(particles.sum())
        self.stopped += int(ends[before.closed].sum())
        self.elsewhere += int((after.closed & going & (arrived == 0)).sum())


def games_of(graph: Graph) -> torch.Tensor:
    return graph.game(torch.arange(graph.nodes))


def left_open(graph: Graph, count: int) -> torch.Tensor:
    """Return of which nodes [count] a move is unexplored or leads to one that is not closed."""
    edges = graph.edges_of(torch.arange(count))
    return (edges.real & ~(edges.explored & graph.closed[edges.child])).any(1)


def audited(rules: Game, form: str, **options: Any) -> tuple[Any, Audit]:
    search = searching(rules=rules, games=4, form=form, capacity=12_000, keys=KEYS, **options)
    return search, Audit(search)


@cache
def whole_games(game: str, form: str) -> tuple[Any, Audit]:
    """A search that has played its games to their ends, with all particles counted; nobody may change it."""
    search, audit = audited(GAMES[game], form)
    play_games(search, GAMES[game].longest_game, 6, 8, exploration=0.5)
    return search, audit


@every_form
@every_game
def test_every_particle_of_whole_games_ends_at_one_leaf(game: str, form: str) -> None:
    search, audit = whole_games(game, form)
    assert GAMES[game].finished(search.graph.states(search.graph.root)).all()
    assert audit.elsewhere > 0 and 0 < audit.stopped < audit.sent / 20


@every_form
@pytest.mark.parametrize(
    "change", [{"splitting": "multinomial"}, {"transpositions": False}], ids=["multinomial", "tree"]
)
def test_no_particle_is_lost_when_they_split_at_random_or_in_a_tree(change: dict[str, Any], form: str) -> None:
    search, audit = audited(GAMES["othello 4"], form, settings=changed(SYSTEMATIC, **change))
    play_games(search, GAMES["othello 4"].longest_game, 6, 8, exploration=0.5)
    assert audit.sent > 1000 and (audit.stopped > 0) == search.graph.transpositions


@every_form
@every_game
def test_the_values_of_closed_nodes_are_those_of_their_children(game: str, form: str) -> None:
    search, audit = whole_games(game, form)
    graph = search.graph
    nodes = (graph.closed & (graph.edge_count > 0)).nonzero()[:, 0]
    edges = graph.edges_of(nodes)
    weights = graph.weights(edges, 1.0)
    children = wdl.flip(graph.search[edges.child])  # [n, K, 2, 3]
    assert len(nodes) > 50 and audit.elsewhere > 0
    assert torch.allclose(graph.search[nodes], (weights[:, :, None, None] * children).sum(1), atol=1e-5)
    assert torch.allclose(graph.edge_policy[edges.index] * edges.real, weights, atol=1e-5)


SLOW = {
    "othello 4": lambda *given: SlowSearch(4, *given),
    "othello 5": lambda *given: SlowSearch(5, *given),
    "connect four 4x4": lambda *given: ConnectFourSearch(4, 4, *given),
}


def in_both(game: str, form: str, evaluate: Evaluate) -> tuple[Any, SlowSearch]:
    """Play a whole game by the search and by the slow one, both with all particles counted; compare their nodes."""
    rules = GAMES[game]
    search, _ = audited(rules, form, evaluate=evaluate)
    slow, only = SLOW[game](evaluate, int(search.graph.game_key[0]), rules.start()), torch.tensor([0])
    ply = 0
    while not slow.nodes[slow.root].terminal:
        search.run(only, 6, 8, ply)
        slow.run(6, 8, ply)
        action = played(search, only, 0.5, ply)
        search.advance(only, action)
        slow.advance(int(action))
        ply += 1
    search.evaluate_roots(only)
    graph = search.graph
    nodes = (graph.evaluated[: graph.nodes] & (games_of(graph) == 0)).nonzero()[:, 0]
    columns = graph.states(nodes).tolist(), graph.visits[nodes].tolist(), graph.closed[nodes].tolist()
    found = {tuple(state): (visits, closed) for state, visits, closed in zip(*columns, strict=True)}
    assert found == {position: (node.visits, node.closed) for position, node in slow.nodes.items()}
    return search, slow


@every_form
@every_game
def test_the_slow_search_loses_none_either_and_closes_the_same_nodes(game: str, form: str) -> None:
    _, slow = in_both(game, form, invented(GAMES[game]))
    assert slow.elsewhere > 0


@every_form
@every_game
def test_where_the_network_is_sure_of_one_move_the_others_have_their_turn_when_it_is_closed(
    game: str, form: str
) -> None:
    plain = invented(GAMES[game])

    def sure(states: torch.Tensor, moves: torch.Tensor) -> Evaluation:
        said = plain(states, moves)
        return said._replace(prior=torch.nn.functional.one_hot(said.prior.argmax(1), moves.shape[1]).float())

    _, slow = in_both(game, form, sure)
    assert slow.weightless > 0


ROW = known_games.make("connect_four", width=4, height=1)  # one row of four squares: every game is a draw


def standing_at(search: Any, *moves: int) -> torch.Tensor:
    """Return the root [1] after moves from the start; what was found stays."""
    game = torch.tensor([0])
    search.start(game, torch.from_numpy(ROW.start())[None])
    for move in moves:
        search.advance(game, torch.tensor([move]))
    search.evaluate_roots(game)
    return search.graph.root.clone()


@every_form
def test_a_node_closes_when_its_last_open_child_is_closed_from_elsewhere(form: str) -> None:
    # The first player has one disc, the second the disc in column 1, three moves are left. From columns 0 1 there are
    # two moves, 2 and 3, to positions that are also reached from 2 1 and from 3 1. Two particles explore both, which
    # stay open: each has a move left. Two from 2 1 go by the first of these positions to the end of the game, and
    # close it, two from 3 1 close the second. Nobody has been at 0 1 again, but it has nothing left to explore.
    search = searching(rules=ROW, games=1, form=form)
    graph, two = search.graph, torch.tensor([2])
    node = standing_at(search, 0, 1)
    search.simulate(node, two, 2, 0)
    closed = []
    for column in (2, 3):
        closed.append(bool(graph.closed[node]))
        search.simulate(standing_at(search, column, 1), two, 2, 0)
    assert [*closed, bool(graph.closed[node])] == [False, False, True]
    assert graph.search[node].tolist() == [[[0, 1, 0], [0, 1, 0]]] and int(graph.visits[node]) == 2
    assert graph.edge_policy[graph.edges_of(node).index].tolist() == [[0.5, 0.5]]
    # From its parent, of which no move was explored, one particle comes by that move as by any other, and no more.
    above = standing_at(search, 0)
    search.simulate(above, torch.tensor([3]), 3, 0)
    assert not graph.closed[above] and int(graph.visits[node]) == 3
    search.simulate(above, torch.tensor([4]), 4, 1)
    assert int(graph.visits[node]) == 3


def of_no_weight(form: str, explored: int) -> list[int]:
    """Send six particles from a root of four moves, the first closed and the one with all weight; return who got them.

    So many moves are explored before."""
    search = searching(4, games=1, form=form)
    graph = search.graph
    search.simulate(graph.root, torch.tensor([explored]), explored, 0)
    edges = graph.edges_of(graph.root)
    assert edges.explored.sum() == explored and edges.real.sum() == 4
    graph.edge_policy[edges.index] = torch.tensor([[1.0, 0.0, 0.0, 0.0]])
    graph.closed[edges.child[0, 0]] = True
    before = graph.edge_visits[edges.index]
    graph.backend.descend(graph, graph.root, torch.tensor([6]), 6, "systematic", 1)
    return (graph.edge_visits[edges.index] - before)[0].tolist()


@every_form
@pytest.mark.parametrize("explored", [1, 2, 3, 4])
def test_moves_share_equally_if_none_that_may_have_particles_has_weight(explored: int, form: str) -> None:
    # Three moves for six particles, two each, be they explored (a share each) or not (the bucket has one for each).
    assert of_no_weight(form, explored) == [0, 2, 2, 2]
