"""MCTS: scores worked out on paper, whole searches against a slow twin, and what each option promises."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from oracles.connect_four_search import ConnectFourBoard
from oracles.slow_mcts import SlowMcts, SlowNode
from oracles.slow_othello import SlowOthello
from searching import FORMS, backend_of, invented, played, searching

from probzero import games as known_games
from probzero import templates, wdl
from probzero.config import Search
from probzero.network.inference import Evaluation
from probzero.random_keys import key
from probzero.search.arrays import Scoring
from probzero.search.backends.base import Paths
from probzero.search.build import SearchFactory
from probzero.search.mcts import MctsSearch
from probzero.search.move_choice import Moves, best, sample, tempered
from probzero.search.scores import scores

pytestmark = pytest.mark.usefixtures("one_thread")  # small operations: more threads would wait for one another

PATHS = templates.load("probzero.search.loops.paths")
OTHELLO = known_games.make("othello", size=5)
CONNECT_FOUR = known_games.make("connect_four", width=5, height=4)

PUCT = Search(
    splitting="systematic", temperature=1.0, cache=False, algorithm="puct", transpositions=False, exploration=1.5
)
MINMAX = PUCT.model_copy(
    update={"exploration": 1.25, "exploration_growth": "logarithmic", "q_scale": "minmax", "unvisited": "first"}
)
UCB1 = PUCT.model_copy(update={"algorithm": "ucb1", "exploration": math.sqrt(2)})
PARENT = PUCT.model_copy(update={"unvisited": "parent", "first_play_reduction": 0.25})
KINDS = {"puct": PUCT, "minmax": MINMAX, "parent": PARENT}


@cache
def scoring(settings: Search) -> Scoring:
    return searching(4, games=1, settings=settings, capacity=100).scoring


def score_row(
    settings: Search, visits: list[int], total: list[float], prior: list[float], low: float = -1, high: float = 1
) -> list[float]:
    """The scores of the moves of one node; both forms must give them."""
    rows = (torch.tensor([visits]), torch.tensor([total], dtype=torch.float64), torch.tensor([prior]))
    bounds = (torch.tensor([bound], dtype=torch.float64) for bound in (low, high))
    found = scores(scoring(settings), *rows, *bounds)[0].tolist()
    given, mean = zip(visits, total, np.float32(prior), strict=True), sum(total) / max(sum(visits), 1)
    loop = [PATHS._score(n, sum(visits), w, p, mean, low, high, scoring(settings)) for n, w, p in given]
    assert loop == pytest.approx(found, rel=1e-12)
    return found


def test_puct_on_paper() -> None:
    # Σ N = 9, √9 = 3, c = 1.5: Q + 4.5·P / (1 + N)
    found = score_row(PUCT, [4, 5, 0], [2.0, -1.0, 0.0], [0.5, 0.3, 0.2])
    assert found == pytest.approx([0.5 + 2.25 / 5, -0.2 + 1.35 / 6, 0.9])


def test_a_move_never_tried_may_have_its_nodes_value_less_a_reduction() -> None:
    # Σ W / Σ N = 1 / 4, less 1/4; √4 = 2, c = 1.5
    found = score_row(PARENT, [3, 1, 0], [1.5, -0.5, 0.0], [0.5, 0.25, 0.25])
    assert found == pytest.approx([0.5 + 1.5 / 4, -0.5 + 0.75 / 2, 0.25 - 0.25 + 0.75])
    assert score_row(PARENT, [0, 0], [0.0, 0.0], [0.7, 0.3]) == [0.0, 0.0]  # nothing is known of the node


def test_puct_of_a_node_never_left_is_nothing_so_that_the_highest_prior_goes_first() -> None:
    assert score_row(PUCT, [0, 0], [0.0, 0.0], [0.7, 0.3]) == [0.0, 0.0]


def test_the_logarithmic_constant_on_paper() -> None:
    # Σ N = 19653: ln((19653 + 19652 + 1) / 19652) = ln(2 + 2 / 19652), √19653 = 140.189
    settings = MINMAX.model_copy(update={"q_scale": "plain"})
    c = math.log(2 + 2 / 19652) + 1.25
    found = score_row(settings, [19652, 1], [0.0, 1.0], [0.9, 0.1])
    assert found == pytest.approx([c * 0.9 * math.sqrt(19653) / 19653, 1 + c * 0.1 * math.sqrt(19653) / 2])


def test_scaled_q_on_paper() -> None:
    settings = PUCT.model_copy(update={"q_scale": "minmax", "exploration": 0.0})
    # between −0.5 and 0.5: 0.25 is three quarters of the way, −0.5 none of it; a move never tried has none either
    assert score_row(settings, [4, 2, 0], [1.0, -1.0, 0.0], [0.4, 0.3, 0.3], -0.5, 0.5) == pytest.approx([0.75, 0, 0])


def test_one_value_alone_is_not_scaled() -> None:
    settings = PUCT.model_copy(update={"q_scale": "minmax", "exploration": 0.0})
    assert score_row(settings, [2, 0], [0.6, 0.0], [0.5, 0.5], 0.3, 0.3) == pytest.approx([0.3, 0.0])


def test_moves_never_tried_go_first_where_so_set() -> None:
    assert score_row(MINMAX, [3, 0], [3.0, 0.0], [0.9, 0.1])[1] == math.inf
    assert score_row(UCB1, [3, 0], [3.0, 0.0], [0.9, 0.1])[1] == math.inf


def test_ucb1_on_paper() -> None:
    # Σ N = 10: mean rewards in [0, 1] are 0.75 and 0.5
    found = score_row(UCB1, [4, 6], [2.0, 0.0], [0.5, 0.5])
    assert found == pytest.approx(
        [0.75 + math.sqrt(2) * math.sqrt(math.log(10) / 4), 0.5 + math.sqrt(2) * math.sqrt(math.log(10) / 6)]
    )


@given(st.lists(st.lists(st.sampled_from([1, -1]), min_size=1, max_size=8), min_size=2, max_size=5))
def test_ucb1_with_rewards_of_zero_and_one_is_ours_with_results_of_one_and_minus_one(results: list[list[int]]) -> None:
    visits = [len(row) for row in results]
    found = score_row(UCB1, visits, [float(sum(row)) for row in results], [1 / len(results)] * len(results))
    rewards = [sum((x + 1) / 2 for x in row) for row in results]  # y = (x + 1) / 2
    parent = sum(visits)
    expected = [w / s + math.sqrt(2) * math.sqrt(math.log(parent) / s) for w, s in zip(rewards, visits, strict=True)]
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("form", FORMS)
def test_results_go_up_with_alternating_sign(form: str) -> None:
    search = searching(games=1, settings=PUCT, form=form)
    graph = search.graph
    # a path of three moves, made by hand from the edges at hand: the leaf's player to move has lost
    game = torch.tensor([0])
    search.run(game, 1, 12, 0)
    graph.edge_visits[:] = 0
    search.edge_value[:] = 0
    search.low[:], search.high[:] = math.inf, -math.inf
    edges = [int(graph.first_edge[graph.root[0]])]
    for _ in range(2):
        edges.append(int(graph.first_edge[int(graph.edge_child[edges[-1]])]))
    child = int(graph.edge_child[edges[-1]])
    graph.edge_child[edges[-1]] = max(child, ~child)  # explored from now on
    path = torch.zeros(1, 8, dtype=torch.int64)
    path[0, :3] = torch.tensor(edges)
    paths = Paths(graph.root[game], game, path, graph.edge_child[edges[-1]][None])
    graph.backend.add_results(search, paths, torch.tensor([-1.0], dtype=torch.float64))
    assert [search.edge_value[edge].item() for edge in edges] == [1.0, -1.0, 1.0]
    assert [int(graph.edge_visits[edge]) for edge in edges] == [1, 1, 1]
    assert (float(search.low[0]), float(search.high[0])) == (-1.0, 1.0)


def same_graph(search: MctsSearch, node: int, slow: SlowNode) -> int:
    """Compare visits and sums below a node; return how many nodes were compared."""
    graph = search.graph
    if not slow.expanded:
        return 0
    first, count = int(graph.first_edge[node]), int(graph.edge_count[node])
    edges = range(first, first + count)
    assert [int(graph.edge_action[edge]) for edge in edges] == slow.actions
    assert [int(graph.edge_visits[edge]) for edge in edges] == slow.visits
    assert [float(search.edge_value[edge]) for edge in edges] == pytest.approx(slow.total, abs=1e-4)
    return 1 + sum(same_graph(search, int(graph.edge_child[first + k]), child) for k, child in slow.children.items())


SLOW = {
    "othello": (OTHELLO, SlowOthello.start(5)),
    "connect four": (CONNECT_FOUR, ConnectFourBoard.from_bitboards(5, 4, 0, 0)),
}


@pytest.mark.parametrize("game", SLOW)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_a_whole_game_is_searched_like_the_slow_twin(kind: str, form: str, game: str) -> None:
    (rules, board), settings = SLOW[game], KINDS[kind]
    search = searching(games=2, settings=settings, form=form, rules=rules)
    slow = SlowMcts(board, invented(rules), kind, settings.exploration, settings.first_play_reduction)
    games, compared = torch.arange(2), 0
    for ply in range(6):
        search.run(games, 5, 8, ply)
        slow.run(40)
        compared += same_graph(search, int(search.graph.root[0]), slow.root)
        assert float(search.value(games)[0]) == pytest.approx(sum(slow.root.total) / sum(slow.root.visits), abs=1e-5)
        action = played(search, games, 0.0, ply)
        search.advance(games, action)
        slow.advance(int(action[0]))
    assert compared > 200


@pytest.mark.parametrize("losses", [1, 3])
@pytest.mark.parametrize("form", FORMS)
def test_simulations_sent_together_are_those_of_the_slow_twin(form: str, losses: int) -> None:
    settings = PARENT.model_copy(update={"virtual_loss": losses})
    search = searching(games=2, settings=settings, form=form)
    slow = SlowMcts(SlowOthello.start(5), invented(OTHELLO), "parent", settings.exploration, 0.25)
    games, compared = torch.arange(2), 0
    for ply in range(4):
        search.run(games, 5, 8, ply)
        for _ in range(8):
            slow.simulate_together(5, losses)
        compared += same_graph(search, int(search.graph.root[0]), slow.root)
        action = played(search, games, 0.0, ply)
        search.advance(games, action)
        slow.advance(int(action[0]))
    assert compared > 100


def test_a_batch_of_simulations_fills_one_network_call_and_turns_to_different_leaves() -> None:
    calls: list[int] = []

    def counting(states: torch.Tensor, moves: torch.Tensor) -> Evaluation:
        calls.append(len(states))
        return invented(OTHELLO)(states, moves)

    settings = PUCT.model_copy(update={"virtual_loss": 1, "budget": "leaves", "transpositions": True})
    search = searching(games=3, settings=settings, evaluate=counting)
    calls.clear()
    search.run(torch.arange(3), 8, 12, 0)
    assert sum(calls) == 3 * 96 and len(calls) < 2 * 12
    alone = searching(games=3, settings=settings.model_copy(update={"virtual_loss": 0}), evaluate=counting)
    calls.clear()
    alone.run(torch.arange(3), 8, 12, 0)
    assert sum(calls) == 3 * 96 and len(calls) >= 96


def test_no_virtual_loss_is_left_behind() -> None:
    search = searching(games=2, settings=PUCT.model_copy(update={"virtual_loss": 3, "transpositions": True}))
    search.run(torch.arange(2), 7, 9, 0)
    edges = search.graph.edges_of(search.graph.root)
    assert search.graph.edge_visits[edges.index].sum(1).tolist() == [63, 63]
    visits, total = search.graph.edge_visits[: search.graph.edges], search.edge_value[: search.graph.edges]
    assert (visits >= 0).all() and (total.abs() <= visits + 1e-9).all() and (total[visits == 0].abs() < 1e-9).all()


def test_games_do_not_disturb_each_other() -> None:
    alone, beside = searching(games=1, settings=PUCT), searching(games=3, settings=PUCT)
    alone.run(torch.arange(1), 4, 10, 0)
    beside.run(torch.arange(3), 4, 10, 0)
    assert (alone.moves(torch.arange(1)).weight[0] == beside.moves(torch.arange(3)).weight[0]).all()


@pytest.mark.parametrize("algorithm", ["puct", "particle"])
def test_without_transpositions_every_node_has_one_parent(algorithm: str) -> None:
    for transpositions in (True, False):
        search = searching(
            games=2, settings=PUCT.model_copy(update={"algorithm": algorithm, "transpositions": transpositions})
        )
        search.run(torch.arange(2), 8, 60, 0)
        graph = search.graph
        child = graph.edge_child[1 : graph.edges]
        child = torch.where(child < 0, ~child, child)
        assert (child.bincount().max() == 1) == (not transpositions)


@pytest.mark.parametrize("algorithm", ["puct", "particle"])
def test_without_reuse_a_move_begins_with_an_empty_graph(algorithm: str) -> None:
    games = torch.arange(2)
    for reuse in (True, False):
        search = searching(
            games=2, settings=PUCT.model_copy(update={"algorithm": algorithm, "reuse": reuse, "transpositions": True})
        )
        search.run(games, 8, 8, 0)
        search.advance(games, best(search.moves(games)))
        assert bool((search.graph.visits[search.graph.root] > 0).all()) == reuse
        before = search.graph.states(search.graph.root).clone()
        search.run(games, 8, 2, 1)
        assert torch.equal(search.graph.states(search.graph.root), before)
        if not reuse:
            assert (search.graph.edge_visits[search.graph.edges_of(search.graph.root).index].sum(1) == 16).all()


@pytest.mark.parametrize("algorithm", ["puct", "particle", "gumbel"])
def test_a_budget_of_leaves_is_spent_to_the_last_and_not_exceeded(algorithm: str) -> None:
    settings = PUCT.model_copy(update={"algorithm": algorithm, "budget": "leaves"})
    search = searching(games=3, settings=settings)
    games = torch.arange(3)
    search.run(games, 8, 7, 0)
    assert search.spent.tolist() == [56, 56, 56]
    before = search.leaf_evaluations
    search.advance(games, best(search.moves(games)))
    search.run(games, 8, 7, 1)
    assert search.leaf_evaluations - before == 3 * 56


def test_noise_is_at_the_root_alone_and_leaves_a_distribution() -> None:
    search = searching(games=2, settings=PUCT)
    games, graph = torch.arange(2), search.graph
    search.run(games, 1, 10, 0)
    before = graph.edge_policy.clone()
    search.add_noise(games, 0.25, 0.5, 0)
    roots = graph.edges_of(graph.root[games])
    changed = (graph.edge_policy != before).nonzero()[:, 0]
    assert set(changed.tolist()) == set(roots.index[roots.real].tolist())
    assert (graph.edge_policy[roots.index] * roots.real).sum(1).tolist() == pytest.approx([1, 1])
    assert (graph.edge_policy[roots.index[roots.real]] >= 0.75 * before[roots.index[roots.real]] - 1e-6).all()
    assert graph.edge_policy[roots.index[0]].tolist() != graph.edge_policy[roots.index[1]].tolist()  # by the game's key


def test_noise_is_dirichlet() -> None:
    # Over many games the noise on one of K = 4 moves has mean 1/4 and variance (1/4)(3/4) / (4α + 1).
    count, alpha = 4000, 0.6
    search = searching(games=count, settings=PUCT, capacity=20_000)
    games = torch.arange(count)
    search.add_noise(games, 1.0, alpha, 0)
    noise = search.graph.edge_policy[search.graph.edges_of(search.graph.root).index].numpy()
    assert noise.shape == (count, 4)
    assert noise.mean(0) == pytest.approx([0.25] * 4, abs=0.02)
    assert noise.var(0) == pytest.approx([0.1875 / (4 * alpha + 1)] * 4, rel=0.1)


def moves(weight: list[float], tried: list[bool] | None = None) -> Moves:
    weights = torch.tensor([weight], dtype=torch.float64)
    marks = torch.tensor([tried or [True] * len(weight)])
    return Moves(torch.arange(10, 10 + len(weight))[None], marks, weights)


def test_temperature_on_paper() -> None:
    assert tempered(moves([1, 3]), 1.0)[0].tolist() == pytest.approx([0.25, 0.75])
    assert tempered(moves([1, 3]), 0.5)[0].tolist() == pytest.approx([0.1, 0.9])
    assert tempered(moves([1, 4]), 2.0)[0].tolist() == pytest.approx([1 / 3, 2 / 3])


def test_temperature_at_its_limits() -> None:
    assert tempered(moves([1, 3, 3]), 0.0)[0].tolist() == [0, 1, 0]  # the first of the largest
    assert tempered(moves([1, 3, 0], [True, True, False]), math.inf)[0].tolist() == [0.5, 0.5, 0]
    assert tempered(moves([1, 3]), 1e-3)[0].tolist() == pytest.approx([0, 1])  # no overflow on the way
    assert tempered(moves([0, 0]), 1.0)[0].tolist() == [0.5, 0.5]


def test_moves_are_drawn_by_weight_and_never_untried() -> None:
    count = 4000
    many = Moves(*(part.expand(count, -1) for part in moves([1, 0, 3], [True, False, True])))
    keys = torch.tensor([key("draw", game) for game in range(count)])
    drawn = sample(many, keys, 0).numpy()
    assert set(drawn) == {10, 12}
    assert np.mean(drawn == 12) == pytest.approx(0.75, abs=0.03)
    assert set(sample(many, keys, 0, temperature=0.0).tolist()) == {12}


@pytest.mark.parametrize("form", FORMS)
def test_playouts_of_a_finished_game_are_its_result_and_of_others_lie_between(form: str) -> None:
    playouts, full = backend_of(OTHELLO, form).playouts, (1 << 25) - 1
    assert playouts(torch.tensor([[full, 0], [0, full], [7, full - 7]]), torch.arange(3)).tolist() == [1, -1, -1]
    keys = torch.tensor([key("playout", game) for game in range(3000)])
    starts = torch.from_numpy(OTHELLO.start()).repeat(len(keys), 1)
    results = playouts(starts, keys)
    again = playouts(starts, keys)
    assert (results == again).all() and set(results.tolist()) == {-1, 0, 1}
    expected = [slow_playout(game) for game in range(300)]
    spread = 3 * np.std(expected) * math.sqrt(1 / 300 + 1 / 3000)
    assert abs(float(results.double().mean()) - np.mean(expected)) < spread


def slow_playout(seed: int) -> int:
    draw = np.random.default_rng(seed)
    board, sign = SlowOthello.start(5), 1
    while board.legal_moves():
        board, sign = board.after(draw.choice(board.legal_moves())), -sign
    return sign * int(np.sign(board.margin()))


def test_uct_sees_without_a_network_that_black_is_losing_on_the_smallest_board() -> None:
    rules = known_games.make("othello", size=4)
    factory = SearchFactory(rules, None, UCB1, 50_000, "capacity")
    search = factory.start(torch.from_numpy(rules.start()).repeat(8, 1), torch.arange(8))
    search.run(torch.arange(8), 10, 40, 0)
    assert (search.moves(torch.arange(8)).weight.sum(1) == 400).all()
    assert search.value(torch.arange(8)).double().mean() < 0  # Black loses 4×4 Othello


def test_the_move_with_the_best_results_is_visited_most() -> None:
    def evaluate(states: torch.Tensor, moves: torch.Tensor) -> Evaluation:
        legal = OTHELLO.legal(states)
        value = wdl.from_expectation(torch.where(legal[:, 0], -0.5, 0.5))  # arbitrary but fixed
        return Evaluation((legal / legal.sum(1, keepdim=True)).gather(1, moves), value, value)

    search = searching(games=1, settings=PUCT, evaluate=evaluate)
    search.run(torch.tensor([0]), 1, 200, 0)
    edges = search.graph.edges_of(search.graph.root)
    visits = search.graph.edge_visits[edges.index][0]
    mean = search.edge_value[edges.index][0] / visits
    assert int(mean.argmax()) == int(visits.argmax())


@pytest.mark.parametrize("algorithm", ["puct", "particle"])
def test_a_budget_that_the_root_uses_up_still_tries_a_move(algorithm: str) -> None:
    search = searching(
        games=2, settings=PUCT.model_copy(update={"algorithm": algorithm, "budget": "leaves", "reuse": False})
    )
    games = torch.arange(2)
    for ply in range(3):
        search.run(games, 1, 1, ply)
        search.advance(games, best(search.moves(games)))
