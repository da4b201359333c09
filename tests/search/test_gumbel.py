"""Gumbel AlphaZero: its formulas worked out on paper, whole searches against a slow twin, faults that others had."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from oracles.connect_four_search import ConnectFourBoard
from oracles.slow_gumbel import SlowGumbel
from oracles.slow_othello import SlowOthello
from searching import backend_of, invented, searching
from test_mcts import CONNECT_FOUR, OTHELLO, same_graph

from probzero import templates
from probzero.config import Search
from probzero.errors import ProbZeroError
from probzero.network.inference import Evaluation
from probzero.search.graph import Graph
from probzero.search.gumbel import GumbelSearch, stages
from probzero.search.move_choice import best

pytestmark = pytest.mark.usefixtures("one_thread")

LOOPS = templates.load("probzero.search.loops.gumbel")
GUMBEL = Search(
    splitting="systematic", temperature=1.0, cache=False, algorithm="gumbel", transpositions=False, gumbel_moves=4
)
SMALL = GUMBEL.model_copy(update={"gumbel_visits": 2.0, "gumbel_scale": 0.5})
PRIOR, VISITS, TOTAL = [0.5, 0.25, 0.125, 0.125], [3, 1, 0, 0], [1.5, -0.5, 0.0, 0.0]


def plan(moves: int, budget: int, simulations: int | None = None) -> list[tuple[int, int]]:
    rounds = stages(16, budget, simulations or budget)[moves].tolist()
    return [(visits, count) for visits, count in rounds if count]


def test_moves_are_halved_on_paper() -> None:
    # 2 phases: 4 moves ⌊16 / (2 · 4)⌋ = 2 times, 2 moves ⌊16 / (2 · 2)⌋ = 4 times
    assert plan(4, 16) == [(0, 4), (1, 4), (2, 2), (3, 2), (4, 2), (5, 2)]
    # 2 phases of 3 moves: once each, then the best two ⌊10 / (2 · 2)⌋ = 2 times, and again until the budget is spent
    assert plan(3, 10) == [(0, 3), (1, 2), (2, 2), (3, 2), (4, 1)]
    assert plan(1, 3) == [(0, 1), (1, 1), (2, 1)]
    assert plan(16, 4) == [(0, 4)]  # fewer simulations than moves: the best of them
    assert plan(0, 5) == []


@pytest.mark.parametrize("moves", range(1, 17))
@pytest.mark.parametrize("budget", [1, 2, 7, 64, 96])
def test_a_plan_spends_its_budget_and_goes_on_with_the_moves_left_if_there_is_more(moves: int, budget: int) -> None:
    rounds = plan(moves, budget)
    assert sum(count for _, count in rounds) == budget
    assert [visits for visits, _ in rounds] == list(range(len(rounds)))
    longer = plan(moves, budget, 4 * budget)
    assert longer[: len(rounds) - 1] == rounds[:-1] and sum(count for _, count in longer) == 4 * budget


def root_by_hand(settings: Search = SMALL) -> Any:
    """The start of 4×4 Othello, whose four moves have the numbers above and a network's value of 0.2."""
    search = searching(4, games=1, settings=settings, capacity=1000)
    graph, root = search.graph, int(search.graph.root[0])
    first = int(graph.first_edge[root])
    graph.edge_policy[first : first + 4] = torch.tensor(PRIOR)
    graph.edge_visits[first : first + 4] = torch.tensor(VISITS, dtype=torch.int32)
    search.edge_value[first : first + 4] = torch.tensor(TOTAL, dtype=torch.float64)
    graph.net[root, Graph.VALUE_NET] = torch.tensor([0.5, 0.2, 0.3])
    return search


# The tried moves have q = 0.5 and −0.5, their mean by prior is (0.25 − 0.125) / 0.75 = 1/6.
MIXED = (0.2 + 4 / 6) / 5
LOGITS = np.log(PRIOR) + (2 + 3) * 0.5 * np.array([0.5, -0.5, MIXED, MIXED])
IMPROVED = np.exp(LOGITS) / np.exp(LOGITS).sum()


def test_the_improved_policy_on_paper() -> None:
    search = root_by_hand()
    lesson = search.lesson(torch.arange(1), None)
    assert lesson.weight[0].tolist() == pytest.approx(IMPROVED.tolist())
    assert lesson.tried[0].tolist() == [True, True, False, False]


def test_without_a_visit_the_improved_policy_is_the_networks() -> None:
    search = root_by_hand()
    search.graph.edge_visits[:] = 0
    assert search.lesson(torch.arange(1), None).weight[0].tolist() == pytest.approx(PRIOR)


def test_the_move_inside_the_tree_on_paper() -> None:
    search = root_by_hand()
    node, policy = int(search.graph.root[0]), np.empty(16)
    given = (search.graph.arrays, search.arrays, search.rule, node, policy)
    assert LOOPS._inner_move(*given) == int(np.argmax(IMPROVED - np.array(VISITS) / 5))
    assert policy[:4] == pytest.approx(IMPROVED)
    # With σ = 0 the visits follow the priors: 0.5 − 3/5, 0.25 − 1/5, 0.125, 0.125; the first of equals.
    flat = search.rule._replace(scale=0.0)
    assert LOOPS._inner_move(*given[:2], flat, node, policy) == 2


def test_the_best_of_the_most_visited_is_played_noise_and_all() -> None:
    search = root_by_hand()
    assert search.moves(torch.arange(1)).weight[0].tolist() == [1, 0, 0, 0]
    first = int(search.graph.first_edge[search.graph.root[0]])
    search.graph.edge_visits[first : first + 4] = torch.tensor([3, 3, 0, 0], dtype=torch.int32)
    search.edge_value[first : first + 4] = torch.tensor([0.3, 0.3, 0, 0], dtype=torch.float64)
    assert search.moves(torch.arange(1)).weight[0].tolist() == [1, 0, 0, 0]
    search.noise[0, :2] = torch.tensor([0.0, math.log(2) + 1e-6])  # as much as the prior of the first is larger
    assert search.moves(torch.arange(1)).weight[0].tolist() == [0, 1, 0, 0]
    search.before[0, :2] = torch.tensor([0, 1])  # visits of an earlier search do not count
    assert search.moves(torch.arange(1)).weight[0].tolist() == [1, 0, 0, 0]


SLOW = {
    "othello": (OTHELLO, SlowOthello.start(5)),
    "connect four": (CONNECT_FOUR, ConnectFourBoard.from_bitboards(5, 4, 0, 0)),
}


@pytest.mark.parametrize("most", [3, 16])
@pytest.mark.parametrize("game", SLOW)
def test_a_whole_game_is_searched_like_the_slow_twin(game: str, most: int) -> None:
    rules, board = SLOW[game]
    settings = GUMBEL.model_copy(update={"gumbel_moves": most, "gumbel_scale": 0.1})
    search = searching(games=2, settings=settings, rules=rules)
    slow = SlowGumbel(board, invented(rules), most, 50.0, 0.1)
    games, compared = torch.arange(2), 0
    for ply in range(6):
        search.add_noise(games, 1.0, 1.0, ply)
        slow.noise = dict(zip(slow.root.actions, search.noise[0].tolist(), strict=False))
        search.run(games, 5, 8, ply)
        slow.run(40)
        compared += same_graph(search, int(search.graph.root[0]), slow.root)
        lesson = search.lesson(games, None)
        assert lesson.weight[0, : len(slow.root.actions)].tolist() == pytest.approx(slow.improved(slow.root), abs=1e-5)
        action = best(search.moves(games))
        assert int(action[0]) == slow.best()
        search.advance(games, action)
        slow.advance(int(action[0]))
    assert compared > 150


def test_a_round_is_one_network_call_of_a_leaf_for_each_move_left() -> None:
    calls: list[int] = []

    def counting(states: torch.Tensor, moves: torch.Tensor) -> Evaluation:
        calls.append(len(states))
        return invented(OTHELLO)(states, moves)

    search = searching(games=3, settings=GUMBEL, evaluate=counting)
    calls.clear()
    search.run(torch.arange(3), 4, 4, 0)
    assert calls == [3 * count for _, count in plan(4, 16)]  # the start has four moves; nothing ends so soon


def test_noise_is_drawn_anew_for_every_search_and_never_touches_the_priors() -> None:
    search = searching(games=2, settings=GUMBEL)
    games, graph = torch.arange(2), search.graph
    priors, drawn = graph.edge_policy.clone(), []
    for ply in range(3):
        search.add_noise(games, 1.0, 1.0, ply)
        drawn.append(search.noise.clone())
    assert torch.equal(graph.edge_policy, priors)
    assert len({tuple(noise[game].tolist()) for noise in drawn for game in games.tolist()}) == 6  # by game and ply
    search.run(games, 2, 4, 0)
    search.advance(games, best(search.moves(games)))
    assert not search.noise.any()  # none is left for a search that has none of its own


def test_noise_is_gumbels() -> None:
    search = searching(games=4000, settings=GUMBEL, capacity=30_000)
    search.add_noise(torch.arange(4000), 1.0, 1.0, 0)
    drawn = search.noise[:, :4].numpy()
    assert drawn.mean() == pytest.approx(np.euler_gamma, abs=0.04) and drawn.var() == pytest.approx(
        np.pi**2 / 6, abs=0.1
    )
    # With noise the first move of g + log π has the chance π: the Gumbel trick.
    first = (drawn + np.log(PRIOR)).argmax(1)
    assert np.bincount(first) / 4000 == pytest.approx(PRIOR, abs=0.03)


def test_moves_are_told_by_their_actions_not_by_their_places() -> None:
    search = searching(games=1, settings=GUMBEL)
    search.run(torch.arange(1), 4, 8, 0)
    found = search.moves(torch.arange(1))
    edges = search.graph.edges_of(search.graph.root)
    assert set(found.action[0].tolist()) == set(np.flatnonzero(OTHELLO.legal(OTHELLO.start()[None])[0]))
    assert found.action[0].tolist() == search.graph.edge_action[edges.index[0]].tolist()
    action = int(best(found)[0])
    child = search.graph.child_of(search.graph.root, torch.tensor([action]))
    after = OTHELLO.play(OTHELLO.start()[None], np.array([action]))
    assert search.graph.states(child).tolist() == after.tolist()


def test_on_a_gpu_it_is_refused_in_a_line() -> None:
    backend = backend_of(OTHELLO, "tensor")
    search = GumbelSearch(Graph(backend, 1, 100, "capacity"), invented(OTHELLO), GUMBEL)
    search.start(torch.arange(1), torch.from_numpy(OTHELLO.start())[None])
    with pytest.raises(
        ProbZeroError, match=r"^search: device cpu or search\.algorithm: expected one with a tensor form"
    ):
        search.run(torch.arange(1), 4, 4, 0)
