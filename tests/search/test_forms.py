"""The forms of the search: compiled loops and tensor operations give the same graphs and play the same games."""

from __future__ import annotations

import math
from typing import Any

import interpreted  # noqa: F401 (before anything that imports triton)
import numpy as np
import pytest
import torch
from oracles.slow_connect_four import SlowConnectFour
from searching import CPU, FORMS, INTERPRETED, SYSTEMATIC, backend_of, changed, play_games, searching

from probzero import games as known_games
from probzero.config import Search, Targets
from probzero.errors import ProbZeroError
from probzero.games.base import Game
from probzero.games.connect_four import ConnectFour
from probzero.learning.targets import extract
from probzero.random_keys import key
from probzero.search.backends.compiled import CompiledBackend
from probzero.search.backends.tensor import TensorBackend
from probzero.search.build import choose_backend

pytestmark = pytest.mark.usefixtures("one_thread")  # small operations: more threads would wait for one another

GAMES = {
    "othello 5": known_games.make("othello", size=5),
    "connect four 5x4": known_games.make("connect_four", width=5, height=4),
}
SMALL = {
    "othello 4": known_games.make("othello", size=4),
    "connect four 4x4": known_games.make("connect_four", width=4, height=4),
}
PUCT = changed(SYSTEMATIC, algorithm="puct", exploration=1.5)
SEARCHES = {
    "systematic": SYSTEMATIC,
    "multinomial": changed(SYSTEMATIC, splitting="multinomial", temperature=1.5),
    "puct": PUCT,
    "minmax": changed(PUCT, exploration_growth="logarithmic", q_scale="minmax", unvisited="first"),
    "ucb1": changed(PUCT, algorithm="ucb1", exploration=math.sqrt(2)),
}

WITHOUT_REUSE, COUNTED = changed(SYSTEMATIC, reuse=False), changed(SYSTEMATIC, budget="leaves")

every_form = pytest.mark.parametrize("form", FORMS)


def by_key(graph: Any) -> dict[tuple[int, int], int]:
    """The evaluated nodes by what all forms share, key and scope (a tree has scopes in any order, and unique keys)."""
    nodes = graph.evaluated[: graph.nodes].nonzero()[:, 0]
    scopes = graph.table.keys[nodes, -1] * graph.transpositions
    found = dict(zip(zip(graph.key[nodes].tolist(), scopes.tolist(), strict=True), nodes.tolist(), strict=True))
    assert len(found) == len(nodes)
    return found


def assert_same_graphs(one: Any, other: Any) -> int:
    """Compare all that searches keep of evaluated nodes and their edges; return how many nodes there are."""
    mine, theirs = by_key(one.graph), by_key(other.graph)
    assert set(mine) == set(theirs)
    assert (one.graph.nodes, one.graph.edges) == (other.graph.nodes, other.graph.edges)
    keys = sorted(mine)
    sides = []
    for search, numbers in ((one, mine), (other, theirs)):
        graph, nodes = search.graph, torch.tensor([numbers[k] for k in keys])
        edges = graph.edges_of(nodes)
        index = edges.index
        exact = (
            graph.states(nodes), graph.game(nodes), graph.visits[nodes], graph.closed[nodes], graph.rank[nodes],
            graph.edge_count[nodes], edges.real, edges.explored, graph.edge_action[index], graph.edge_visits[index],
            graph.key[edges.child] * edges.real, graph.key[graph.root],
        )  # fmt: skip
        close = [graph.search[nodes], graph.net[nodes], graph.edge_policy[index]]
        close += [search.edge_value[index], search.low, search.high] if hasattr(search, "edge_value") else []
        assert not graph.volume.any() and (graph.rank_heads == -1).all()
        sides.append((exact, close))
    for mine_part, their_part in zip(sides[0][0], sides[1][0], strict=True):
        assert torch.equal(mine_part, their_part)
    for mine_part, their_part in zip(sides[0][1], sides[1][1], strict=True):
        assert torch.allclose(mine_part, their_part, atol=2e-5)
    return len(keys)


def assert_same_games(forms: tuple[str, str], rules: Game, settings: Search, games: int, particles: int) -> int:
    """Play whole games in both forms; return how many nodes were compared."""
    one, other = (searching(rules=rules, games=games, settings=settings, form=form) for form in forms)
    moves = [play_games(search, rules.longest_game, particles, 3) for search in (one, other)]
    assert moves[0] == moves[1]
    for search in (one, other):
        assert rules.finished(search.graph.states(search.graph.root)).all()
    return assert_same_graphs(one, other)


@pytest.mark.parametrize("transpositions", [True, False], ids=["graph", "tree"])
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("game", GAMES)
def test_compiled_and_tensor_forms_play_the_same_games(game: str, search: str, transpositions: bool) -> None:
    settings = changed(SEARCHES[search], transpositions=transpositions)
    particles = 6 if settings.algorithm == "particle" else 3  # MCTS sends them one by one
    assert assert_same_games(FORMS, GAMES[game], settings, 5, particles) > 500


@pytest.mark.parametrize("settings", [WITHOUT_REUSE, COUNTED], ids=["no reuse", "leaves"])
def test_forms_agree_without_reuse_and_when_leaves_are_counted(settings: Search) -> None:
    assert assert_same_games(FORMS, GAMES["othello 5"], settings, 4, 6) > 500


@pytest.mark.parametrize(  # the interpreter is slow
    ("game", "temperature"),
    [
        ("othello 4", 1.0),
        ("connect four 4x4", 0.7),
        pytest.param("othello 4", 0.7, marks=pytest.mark.slow),
        pytest.param("connect four 4x4", 1.0, marks=pytest.mark.slow),
    ],
)
def test_the_tensor_form_with_its_triton_kernels_plays_the_games_of_the_compiled_form(
    game: str, temperature: float
) -> None:
    settings = changed(SYSTEMATIC, temperature=temperature)
    assert assert_same_games(("compiled", INTERPRETED), SMALL[game], settings, 3, 4) > 100


@pytest.mark.parametrize("form", [*FORMS, INTERPRETED])
def test_weights_of_a_graph_are_winner_prob_over_explored_moves(form: str) -> None:
    search, plain = (searching(4, games=2, form=which) for which in (form, "tensor"))
    found = []
    for each in (search, plain):
        each.run(torch.arange(2), 6, 4, 0)
        nodes = torch.tensor(list(dict(sorted(by_key(each.graph).items())).values()))
        edges = each.graph.edges_of(nodes[each.graph.edge_count[nodes] > 0])
        weights = each.graph.weights(edges, 0.5)
        assert (weights[~edges.explored] == 0).all()
        found.append(weights)
    assert torch.allclose(*found, atol=1e-5)


@pytest.mark.parametrize("rules", [*GAMES.values(), *SMALL.values()], ids=lambda rules: rules.identity)
def test_playouts_are_the_same_in_both_forms(rules: Game) -> None:
    search = searching(rules=rules, games=5)
    play_games(search, rules.longest_game, 4, 2)
    graph = search.graph
    states = graph.states(torch.arange(graph.nodes))  # finished games among them
    keys = graph.key[: graph.nodes] ^ key("playouts")
    results = [backend_of(rules, form).playouts(states, keys) for form in FORMS]
    assert torch.equal(results[0], results[1]) and {-1, 1} <= set(results[0].tolist())


def test_the_device_decides_which_form_it_is() -> None:
    rules = SMALL["othello 4"]
    assert isinstance(choose_backend(rules, CPU), CompiledBackend)
    assert isinstance(choose_backend(rules, torch.device("meta")), TensorBackend)


@pytest.mark.parametrize("name", SMALL)
def test_targets_are_the_same_whatever_form_weighs_the_moves(name: str) -> None:
    rules, found = SMALL[name], {}
    for form in (*FORMS, INTERPRETED):
        search = searching(games=2, rules=rules, keys=[0, 1], form=form)
        play_games(search, 8, 3, 3)
        found[form] = extract(search.graph, 1.0, Targets(), search.graph.root)
    first, *others = found.values()
    assert len(first) > 20
    for other in others:
        for mine, theirs in zip(first.columns(), other.columns(), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=2e-5)


class WithoutTensors(ConnectFour):
    """A game that says so."""

    tensor_form = False


def test_the_tensor_form_of_a_game_that_has_none_is_refused() -> None:
    rules = WithoutTensors(width=4, height=4)
    assert isinstance(choose_backend(rules, CPU), CompiledBackend)
    with pytest.raises(ProbZeroError, match=r"search: device cuda: expected cpu, as .* has no tensor form, found cuda"):
        choose_backend(rules, torch.device("cuda"))


@every_form
@pytest.mark.parametrize(
    "settings", [SYSTEMATIC, PUCT, changed(PUCT, transpositions=False)], ids=["particle", "puct", "puct-tree"]
)
def test_a_full_graph_ends_with_a_clear_error_and_nothing_is_written_beyond_it(form: str, settings: Search) -> None:
    for capacity in (40, 100, 101, 257):
        full = searching(games=4, capacity=capacity, settings=settings, form=form)
        rooms = guarded(full)
        message = rf"memory: capacity: expected at most {capacity} positions, found \d+ needed"
        with pytest.raises(ProbZeroError, match=message):
            play_games(full, 20, 6, 3)
        for name, room, length in rooms:
            assert (room[length:] == GUARD).all(), name
        assert full.graph.table.count <= capacity


GUARD = 77  # also fits the smallest numbers


def guarded(search: Any) -> list[tuple[str, torch.Tensor, int]]:
    """Put the arrays of a search's graph into larger ones that are filled up with GUARD; return those."""
    graph, rooms = search.graph, []
    places = [(graph, name) for name, value in vars(graph).items() if isinstance(value, torch.Tensor)]
    places += [(graph.table, "keys"), (graph.table, "slots")]
    places += [(search, "edge_value")] if hasattr(search, "edge_value") else []
    for holder, name in places:
        old = getattr(holder, name)
        dtype = torch.uint8 if old.dtype == torch.bool else old.dtype
        room = torch.full((len(old) + 1000, *old.shape[1:]), GUARD, dtype=dtype)
        inside = room[: len(old)].view(old.dtype)
        inside.copy_(old)
        setattr(holder, name, inside)
        rooms.append((name, room, len(old)))
    for holder in (graph, search):
        vars(holder).pop("arrays", None)  # made anew, from these
    return rooms


def exhausted(width: int, height: int, positions: int, form: str, particles: int) -> Any:
    """Search Connect Four until nothing is left to explore, with room for so many positions and no more."""
    rules = known_games.make("connect_four", width=width, height=height)
    search = searching(rules=rules, games=1, capacity=positions, form=form)
    search.run(torch.tensor([0]), particles, 2000, 0)
    graph = search.graph
    assert graph.closed[: graph.nodes].all() and graph.evaluated[: graph.nodes].all()
    assert graph.nodes == positions < graph.edges  # equal positions are one node, with an edge from every parent
    return graph


@every_form
def test_searching_to_exhaustion_finds_every_position_once_and_has_room_for_every_edge(form: str) -> None:
    seen, new, moves = set(), [SlowConnectFour.start(4, 3)], 0
    while new:
        seen.update(new)
        moves += sum(len(board.legal_moves()) for board in new)
        new = list({board.after(move) for board in new for move in board.legal_moves()} - seen)
    graph = exhausted(4, 3, len(seen), form, 500)
    assert graph.edges == 1 + moves and len(seen) > 5000


def test_connect_four_on_4x4_has_161029_positions_and_is_a_draw() -> None:
    # The slow rules, position by position, count as many, and as many moves; that takes them ten seconds.
    graph = exhausted(4, 4, 161_029, "compiled", 10_000)
    assert graph.edges == 1 + 304_574
    assert graph.search[graph.root[0], graph.VALUE].tolist() == pytest.approx([0, 1, 0], abs=1e-3)
