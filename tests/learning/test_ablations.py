"""ProbZero without one of its ideas: each option changes what it names, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from oracles.slow_othello import SlowOthello
from sealed import MADE, wide
from searching import SYSTEMATIC, played, searching

from probzero import games
from probzero.config import Config, Network, Search, Targets, parse
from probzero.games.base import list_moves
from probzero.learning.dataset import Samples, merge, write_samples
from probzero.learning.selfplay import Shard, play_shard
from probzero.learning.targets import extract
from probzero.network.inference import Evaluator
from probzero.network.model import build
from probzero.search.graph import Graph
from probzero.search.move_choice import best

pytestmark = pytest.mark.usefixtures("one_thread")

SMOKE = Path(__file__).parents[2] / "config" / "smoke.yaml"
RULES = games.make("othello", size=5)
FOUR = games.make("othello", size=4)
BUDGET = (6, 4)  # particles, batches


def whole_game(search: Any, games: torch.Tensor) -> torch.Tensor:
    """Play games [n] to their ends; return the nodes at which moves were played."""
    graph, going, roots = search.graph, games, []
    for ply in range(RULES.longest_game):
        search.run(going, *BUDGET, ply)
        roots.append(graph.root[going])
        search.advance(going, played(search, going, 0.2, ply))
        going = going[~RULES.finished(graph.states(graph.root[going]))]
        if not len(going):
            break
    return torch.cat(roots)


@pytest.fixture(scope="module")
def game() -> tuple[Graph, torch.Tensor]:
    """The graph of one game, and the nodes at which moves were played."""
    search = searching(games=1)
    roots = whole_game(search, torch.arange(1))
    return search.graph, roots


def targets(game: tuple[Graph, torch.Tensor], **changes: Any) -> Samples:
    return extract(game[0], 1.0, Targets(**changes), game[1])


State = tuple[int, ...]


def state_of(graph: Graph, node: int) -> State:
    return tuple(graph.states(torch.tensor([node]))[0].tolist())


def by_state(samples: Samples) -> dict[State, int]:
    return {tuple(state): row for row, state in enumerate(samples.states.tolist())}


def with_explored_moves(graph: Graph) -> list[int]:
    """The nodes that can give samples: those of which a move was explored."""
    found = []
    for node in range(graph.nodes):
        first, count = int(graph.first_edge[node]), int(graph.edge_count[node])
        if count and int(graph.edge_child[first : first + count].max()) >= 0:
            found.append(node)
    return found


def explored(graph: Graph, node: int) -> list[int]:
    """The edges of a node whose moves were explored."""
    first, count = int(graph.first_edge[node]), int(graph.edge_count[node])
    return [edge for edge in range(first, first + count) if int(graph.edge_child[edge]) >= 0]


def test_roots_alone_are_the_positions_played_with_the_targets_of_the_whole_tree(
    game: tuple[Graph, torch.Tensor],
) -> None:
    whole, roots = targets(game), targets(game, nodes="roots")
    places = by_state(whole)
    assert set(by_state(roots)) == {state_of(game[0], node) for node in game[1].tolist()}
    assert len(roots) == len(game[1]) < len(whole)
    same = whole.take(np.array([places[tuple(state)] for state in roots.states.tolist()]))
    for found, expected in zip(roots.columns(), same.columns(), strict=True):
        assert np.array_equal(found, expected)


def test_a_root_without_an_explored_move_is_no_sample() -> None:
    search = searching(games=1, settings=SYSTEMATIC.model_copy(update={"reuse": False}))
    game = torch.arange(1)
    search.run(game, *BUDGET, 0)
    first = search.graph.root.clone()
    search.advance(game, best(search.moves(game)))
    search.evaluate_roots(game)
    samples = extract(search.graph, 1.0, Targets(nodes="roots"), torch.cat([first, search.graph.root]))
    assert set(by_state(samples)) == {state_of(search.graph, int(first))}


def test_shares_of_visits_are_those_of_the_edges(game: tuple[Graph, torch.Tensor]) -> None:
    graph = game[0]
    winner, visits = targets(game), targets(game, policy="visits")
    places, (policy, mask) = by_state(visits), wide(visits, RULES)
    nodes = with_explored_moves(graph)
    assert len(nodes) == len(visits)
    for node in nodes:
        edges = explored(graph, node)
        expected = np.zeros(26)
        for edge in edges:
            expected[int(graph.edge_action[edge])] = int(graph.edge_visits[edge])
        row = places[state_of(graph, node)]
        np.testing.assert_allclose(policy[row], expected / expected.sum(), atol=1e-6)
        assert np.flatnonzero(mask[row]).tolist() == sorted(int(graph.edge_action[edge]) for edge in edges)
    assert not np.allclose(winner.policy, visits.policy, atol=0.05)
    for name in ("states", "mask", "value", "reward", "valid", "weight"):
        assert np.array_equal(getattr(winner, name), getattr(visits, name)), name


def test_outcomes_as_values_are_the_rewards_where_there_are_any(game: tuple[Graph, torch.Tensor]) -> None:
    whole, outcome = targets(game), targets(game, value="outcome")
    assert 0 < outcome.valid.mean() < 1
    known = outcome.valid == 1
    assert np.array_equal(outcome.value[known], whole.reward[known])
    np.testing.assert_allclose(outcome.value[known].sum(1), 1, atol=1e-5)
    assert not outcome.value[~known].any()
    for name in ("states", "policy", "mask", "reward", "valid", "weight"):
        assert np.array_equal(getattr(whole, name), getattr(outcome, name)), name


def test_samples_without_an_outcome_can_be_written(game: tuple[Graph, torch.Tensor], tmp_path: Path) -> None:
    write_samples(tmp_path / "outcome.safetensors", targets(game, value="outcome"), RULES, MADE)


@pytest.mark.parametrize(("value", "row"), [("search", Graph.VALUE), ("bootstrap", Graph.TARGET)])
def test_values_are_what_the_search_holds_of_its_nodes(value: str, row: int, game: tuple[Graph, torch.Tensor]) -> None:
    graph = game[0]
    samples = targets(game, value=value)
    places = by_state(samples)
    for node in with_explored_moves(graph):
        found = samples.value[places[state_of(graph, node)]]
        assert found.tolist() == pytest.approx(graph.search[node, row].tolist(), abs=1e-5)
    other = targets(game, value="bootstrap" if value == "search" else "search")
    assert not np.allclose(samples.value, other.value, atol=0.05)


def test_positions_with_one_explored_move_may_be_left_out(game: tuple[Graph, torch.Tensor]) -> None:
    whole, fewer = targets(game), targets(game, least_moves=2)
    kept = whole.take(np.flatnonzero(whole.mask.sum(1) > 1))
    assert 0 < len(fewer) < len(whole)
    for found, expected in zip(fewer.columns(), kept.columns(), strict=True):
        assert np.array_equal(found, expected)


def configured(
    network: dict[str, Any] | None = None,
    search: dict[str, Any] | None = None,
    targets: dict[str, Any] | None = None,
    **selfplay: Any,
) -> Config:
    """The smoke scale with a tiny network, and what the arguments change."""
    raw = yaml.safe_load(SMOKE.read_text(encoding="utf-8"))
    raw["network"] = {"blocks": 1, "channels": 8, **(network or {})}
    raw["search"].update(search or {})
    raw["targets"] = targets or {}
    sizes = {"games": 4, "particles": 4, "batches": 4, "random_plies": 4, "capacity": 30_000}
    raw["selfplay"].update({**sizes, **selfplay})
    return parse(raw)


def shard(config: Config) -> Shard:
    evaluator = Evaluator(build(RULES.shape, config.network, 1), RULES, "cpu")
    return play_shard(config, evaluator, seed=0, iteration=1, shard=0)


def positions_played(found: Shard) -> set[State]:
    positions = set()
    rows: list[Any] = list(found.games.itertuples())
    for row in rows:
        board = SlowOthello.start(5)
        for move in RULES.parse_moves(row.opening_moves):
            board = board.after(move)
        for move in RULES.parse_moves(row.moves):
            positions.add(board.bitboards())
            board = board.after(move)
    return positions


@pytest.mark.parametrize("search", [{}, {"reuse": False}, {"transpositions": False}], ids=str)
def test_the_roots_of_a_shard_are_the_positions_of_its_games(search: dict[str, Any]) -> None:
    found = shard(configured(search=search, targets={"nodes": "roots"}, games=3))
    assert set(by_state(found.samples)) == positions_played(found)


def test_without_a_reward_head_leaves_are_valued_by_the_value_head() -> None:
    evaluator = Evaluator(build(RULES.shape, Network(blocks=1, channels=8, reward=False), 1), RULES, "cpu")
    search = searching(games=2, evaluate=evaluator)
    whole_game(search, torch.arange(2))
    graph = search.graph
    nodes = graph.evaluated[: graph.nodes].nonzero()[:, 0]
    assert torch.equal(graph.net[nodes, Graph.REWARD_NET], graph.net[nodes, Graph.VALUE_NET])
    # What is carried up is then the same twice over.
    torch.testing.assert_close(graph.search[nodes, Graph.TARGET], graph.search[nodes, Graph.VALUE], rtol=0, atol=1e-6)
    start = torch.from_numpy(RULES.start())[None]
    asked = start, list_moves(RULES.legal(start), RULES.most_moves)
    evaluation = evaluator(*asked)
    assert torch.equal(evaluation.reward, evaluation.value)
    with_head = Evaluator(build(RULES.shape, Network(blocks=1, channels=8), 1), RULES, "cpu")(*asked)
    assert not torch.allclose(with_head.reward, with_head.value)


def test_self_play_without_a_reward_head_gives_proper_samples(tmp_path: Path) -> None:
    found = shard(configured(network={"reward": False}, targets={"value": "search"}))
    write_samples(tmp_path / "shard.safetensors", found.samples, RULES, MADE)
    assert found.samples.valid.any()


def test_without_reuse_samples_come_from_the_graphs_of_all_moves() -> None:
    search = searching(games=1, settings=SYSTEMATIC.model_copy(update={"reuse": False}))
    graph, game = search.graph, torch.arange(1)
    roots, graphs = [], []
    for ply in range(8):
        before, root = set(with_explored_moves(graph)), int(graph.root[0])
        assert not explored(graph, root) and int(graph.visits[root]) == 0, "nothing is kept"
        search.run(game, *BUDGET, ply)
        grown = set(with_explored_moves(graph)) - before
        assert root in grown and len(grown) > 1
        graphs.append({state_of(graph, node) for node in grown})
        roots.append(root)
        search.advance(game, played(search, game, 0.2, ply))
    samples = extract(graph, 1.0, Targets(), torch.tensor(roots))
    assert set(by_state(samples)) == set().union(*graphs)
    assert all(graph - set().union(*graphs[:ply], *graphs[ply + 1 :]) for ply, graph in enumerate(graphs))
    assert int(samples.weight[by_state(samples)[state_of(graph, roots[0])]]) == BUDGET[0] * BUDGET[1]


def test_without_reuse_a_shard_works_more_for_its_moves() -> None:
    kept, fresh = (shard(configured(search={"reuse": reuse}, games=2)) for reuse in (True, False))
    assert positions_played(fresh) <= set(by_state(fresh.samples))
    work = [found.metrics["leaf_evaluations"] / found.metrics["moves"] for found in (kept, fresh)]
    assert work[0] < work[1]


@pytest.mark.parametrize("algorithm", ["particle", "puct"])
def test_without_transpositions_positions_are_entered_again_for_as_many_evaluations(algorithm: str) -> None:
    spent = []
    for transpositions in (True, False):
        kind = SYSTEMATIC.model_copy(
            update={"algorithm": algorithm, "transpositions": transpositions, "budget": "leaves"}
        )
        search = searching(games=2, settings=kind)
        graph, games = search.graph, torch.arange(2)
        for step in range(2):
            before = search.leaf_evaluations
            search.run(games, 8, 10, step)
            spent.append((search.leaf_evaluations - before, *search.spent.tolist()))
            search.advance(games, best(search.moves(games)))
        nodes = torch.arange(graph.nodes)
        distinct = len(torch.cat([graph.states(nodes), graph.game(nodes)[:, None]], dim=1).unique(dim=0))
        moves = graph.edges - 1
        if transpositions:
            assert distinct == graph.nodes < moves + 2
        else:
            assert distinct < graph.nodes == moves + 2  # a node for every move, and the roots
    assert set(spent) == {(160, 80, 80)}


def one_sample(value: list[float], weight: float) -> Samples:
    """A sample of the starting position of the smallest board, its one move explored."""
    move = np.zeros((1, 4), np.float32)
    move[0, 1] = 1
    rest = (np.array(part, np.float32) for part in ([value], [[0, 0, 0]], [0], [weight]))
    return Samples(FOUR.start()[None], move, move.copy(), *rest)


def test_merging_takes_values_from_the_samples_that_have_one() -> None:
    parts = [one_sample([0, 0, 0], 6), one_sample([1, 0, 0], 1), one_sample([0, 0.5, 0.5], 3)]
    merged = merge(parts)
    assert merged.value[0].tolist() == pytest.approx([0.25, 0.375, 0.375])
    assert merged.weight.tolist() == [10]


def test_merging_samples_without_a_value_gives_none(tmp_path: Path) -> None:
    merged = merge([one_sample([0, 0, 0], 6), one_sample([0, 0, 0], 2)])
    assert merged.value.tolist() == [[0, 0, 0]] and merged.weight.tolist() == [8]
    write_samples(tmp_path / "none.safetensors", merged, FOUR, MADE)


def test_the_defaults_are_probzero_as_it_was() -> None:
    assert Targets() == Targets(nodes="tree", policy="winner", value="bootstrap", least_moves=1)
    given = {"splitting": "systematic", "temperature": 1.0, "cache": True}
    spelled = {"algorithm": "particle", "transpositions": True, "reuse": True, "budget": "simulations"}
    assert Search(**given) == Search(**given, **spelled)
