"""ProbZero without one of its ideas: each option changes what it names, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from oracles.slow_othello import SlowOthello
from probzero.search.tree import Tree
from searching import SYSTEMATIC, played, searching

from probzero.config import Config, Network, Search, Targets, parse
from probzero.games.othello import othello, parse_moves
from probzero.learning.dataset import Samples, merge, write_samples
from probzero.learning.selfplay import Shard, play_shard
from probzero.learning.targets import extract
from probzero.network.inference import Evaluator
from probzero.network.model import build
from probzero.search.choice import best

pytestmark = pytest.mark.usefixtures("one_thread")

SMOKE = Path(__file__).parent.parent / "config" / "smoke.yaml"
RULES = othello(5)
BUDGET = (6, 4)  # particles, batches


def whole_game(search: Any, games: torch.Tensor) -> torch.Tensor:
    """Play games [n] to their ends; return the nodes at which moves were played."""
    tree, going, roots = search.tree, games, []
    for ply in range(RULES.longest_game):
        search.run(going, *BUDGET, ply)
        roots.append(tree.root[going])
        search.advance(going, played(search, going, 0.2, ply))
        going = going[~RULES.terminal(tree.own[tree.root[going]], tree.opp[tree.root[going]])]
        if not len(going):
            break
    return torch.cat(roots)


@pytest.fixture(scope="module")
def game() -> tuple[Tree, torch.Tensor]:
    """The graph of one game, and the nodes at which moves were played."""
    search = searching(games=1)
    roots = whole_game(search, torch.arange(1))
    return search.tree, roots


def targets(game: tuple[Tree, torch.Tensor], **changes: Any) -> Samples:
    return extract(game[0], 1.0, Targets(**changes), game[1])


def planes(own: int, opp: int) -> bytes:
    return np.array([word >> square & 1 for word in (own, opp) for square in range(25)], dtype=np.float32).tobytes()


def board_of(tree: Tree, node: int) -> bytes:
    return planes(int(tree.own[node]), int(tree.opp[node]))


def by_board(samples: Samples) -> dict[bytes, int]:
    return {board.tobytes(): row for row, board in enumerate(samples.board)}


def with_explored_moves(tree: Tree) -> list[int]:
    """The nodes that can give samples: those of which a move was explored."""
    found = []
    for node in range(tree.nodes):
        first, count = int(tree.first_edge[node]), int(tree.edge_count[node])
        if count and int(tree.edge_child[first : first + count].max()) >= 0:
            found.append(node)
    return found


def explored(tree: Tree, node: int) -> list[int]:
    """The edges of a node whose moves were explored."""
    first, count = int(tree.first_edge[node]), int(tree.edge_count[node])
    return [edge for edge in range(first, first + count) if int(tree.edge_child[edge]) >= 0]


def test_roots_alone_are_the_positions_played_with_the_targets_of_the_whole_tree(
    game: tuple[Tree, torch.Tensor],
) -> None:
    whole, roots = targets(game), targets(game, nodes="roots")
    places = by_board(whole)
    assert set(by_board(roots)) == {board_of(game[0], node) for node in game[1].tolist()}
    assert len(roots) == len(game[1]) < len(whole)
    same = whole.take(np.array([places[board.tobytes()] for board in roots.board]))
    for found, expected in zip(roots.columns(), same.columns(), strict=True):
        assert np.array_equal(found, expected)


def test_a_root_without_an_explored_move_is_no_sample() -> None:
    search = searching(games=1, settings=SYSTEMATIC.model_copy(update={"reuse": False}))
    game = torch.arange(1)
    search.run(game, *BUDGET, 0)
    first = search.tree.root.clone()
    search.advance(game, best(search.moves(game)))
    search.evaluate_roots(game)
    samples = extract(search.tree, 1.0, Targets(nodes="roots"), torch.cat([first, search.tree.root]))
    assert set(by_board(samples)) == {board_of(search.tree, int(first))}


def test_shares_of_visits_are_those_of_the_edges(game: tuple[Tree, torch.Tensor]) -> None:
    tree = game[0]
    winner, visits = targets(game), targets(game, policy="visits")
    places = by_board(visits)
    nodes = with_explored_moves(tree)
    assert len(nodes) == len(visits)
    for node in nodes:
        edges = explored(tree, node)
        expected = np.zeros(26)
        for edge in edges:
            expected[int(tree.edge_action[edge])] = int(tree.edge_visits[edge])
        row = places[board_of(tree, node)]
        np.testing.assert_allclose(visits.policy[row], expected / expected.sum(), atol=1e-6)
        assert np.flatnonzero(visits.mask[row]).tolist() == sorted(int(tree.edge_action[edge]) for edge in edges)
    assert not np.allclose(winner.policy, visits.policy, atol=0.05)
    for name in ("board", "mask", "value", "reward", "valid", "weight"):
        assert np.array_equal(getattr(winner, name), getattr(visits, name)), name


@pytest.mark.parametrize("transpositions", [True, False])
@pytest.mark.parametrize("in_step", [False, True])
@pytest.mark.parametrize("splitting", ["systematic", "multinomial"])
def test_no_particle_is_lost_or_made_where_they_split(splitting: str, in_step: bool, transpositions: bool) -> None:
    kind = SYSTEMATIC.model_copy(update={"splitting": splitting, "transpositions": transpositions})
    search = searching(games=2, settings=kind, in_step=in_step)
    tree, games, splits = search.tree, torch.arange(2), 0

    def taken() -> torch.Tensor:
        """Particles that left each node, and those that came to each by an edge."""
        edges = tree.edges_of(torch.arange(tree.nodes))
        visits = tree.edge_visits[edges.index].long() * edges.explored
        came = torch.zeros(tree.nodes, dtype=torch.int64).index_add(0, edges.child.flatten(), visits.flatten())
        return torch.stack([visits.sum(1), came])

    for batch in range(20):
        known = tree.nodes
        before, visits = taken(), tree.visits[:known].clone()
        open_nodes = (tree.evaluated & ~tree.closed)[:known].clone()
        search.simulate(tree.root[games], torch.full((2,), 8), batch)
        left, came = taken()
        arrived = tree.visits[: tree.nodes].clone()
        arrived[:known] -= visits
        assert (left[:known] - before[0] == torch.where(open_nodes, arrived[:known], 0)).all()
        assert not left[known:].any()
        came[:known] -= before[1]
        came[tree.root[games]] += 8
        assert (came == arrived).all()
        splits += int((arrived[:known] > 0).sum())
    assert splits > 40
    edges = tree.edges_of(tree.root)
    assert tree.edge_visits[edges.index].sum(1).tolist() == [160, 160] == tree.visits[tree.root].tolist()


def test_outcomes_as_values_are_the_rewards_where_there_are_any(game: tuple[Tree, torch.Tensor]) -> None:
    whole, outcome = targets(game), targets(game, value="outcome")
    assert 0 < outcome.valid.mean() < 1
    known = outcome.valid == 1
    assert np.array_equal(outcome.value[known], whole.reward[known])
    np.testing.assert_allclose(outcome.value[known].sum(1), 1, atol=1e-5)
    assert not outcome.value[~known].any()
    for name in ("board", "policy", "mask", "reward", "valid", "weight"):
        assert np.array_equal(getattr(whole, name), getattr(outcome, name)), name


def test_samples_without_an_outcome_can_be_written(game: tuple[Tree, torch.Tensor], tmp_path: Path) -> None:
    write_samples(tmp_path / "outcome.bin", targets(game, value="outcome"), 5)


@pytest.mark.parametrize(("value", "row"), [("search", Tree.VALUE), ("bootstrap", Tree.TARGET)])
def test_values_are_what_the_search_holds_of_its_nodes(value: str, row: int, game: tuple[Tree, torch.Tensor]) -> None:
    tree = game[0]
    samples = targets(game, value=value)
    places = by_board(samples)
    for node in with_explored_moves(tree):
        found = samples.value[places[board_of(tree, node)]]
        assert found.tolist() == pytest.approx(tree.search[node, row].tolist(), abs=1e-5)
    other = targets(game, value="bootstrap" if value == "search" else "search")
    assert not np.allclose(samples.value, other.value, atol=0.05)


def test_positions_with_one_explored_move_may_be_left_out(game: tuple[Tree, torch.Tensor]) -> None:
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
    return play_shard(config, Evaluator(build(5, config.network, 1), 5, "cpu"), seed=0, iteration=1, shard=0)


def positions_played(found: Shard) -> set[bytes]:
    positions = set()
    rows: list[Any] = list(found.games.itertuples())
    for row in rows:
        board = SlowOthello.start(5)
        for move in parse_moves(5, row.opening_moves):
            board = board.after(move)
        for move in parse_moves(5, row.moves):
            positions.add(planes(*board.bitboards()))
            board = board.after(move)
    return positions


@pytest.mark.parametrize("search", [{}, {"reuse": False}, {"transpositions": False}], ids=str)
def test_the_roots_of_a_shard_are_the_positions_of_its_games(search: dict[str, Any]) -> None:
    found = shard(configured(search=search, targets={"nodes": "roots"}, games=3))
    assert set(by_board(found.samples)) == positions_played(found)


def test_without_a_reward_head_leaves_are_valued_by_the_value_head() -> None:
    evaluator = Evaluator(build(5, Network(blocks=1, channels=8, reward=False), 1), 5, "cpu")
    search = searching(games=2, evaluate=evaluator)
    whole_game(search, torch.arange(2))
    tree = search.tree
    nodes = tree.evaluated[: tree.nodes].nonzero()[:, 0]
    assert torch.equal(tree.net[nodes, Tree.REWARD_NET], tree.net[nodes, Tree.VALUE_NET])
    # What is carried up is then the same twice over.
    torch.testing.assert_close(tree.search[nodes, Tree.TARGET], tree.search[nodes, Tree.VALUE], rtol=0, atol=1e-6)
    own, opp = (torch.tensor([side]) for side in RULES.start())
    evaluation = evaluator(own, opp, RULES.legal(own, opp))
    assert torch.equal(evaluation.reward, evaluation.value)
    with_head = Evaluator(build(5, Network(blocks=1, channels=8), 1), 5, "cpu")(own, opp, RULES.legal(own, opp))
    assert not torch.allclose(with_head.reward, with_head.value)


def test_self_play_without_a_reward_head_gives_proper_samples(tmp_path: Path) -> None:
    found = shard(configured(network={"reward": False}, targets={"value": "search"}))
    write_samples(tmp_path / "shard.bin", found.samples, 5)
    assert found.samples.valid.any()


def test_without_reuse_samples_come_from_the_graphs_of_all_moves() -> None:
    search = searching(games=1, settings=SYSTEMATIC.model_copy(update={"reuse": False}))
    tree, game = search.tree, torch.arange(1)
    roots, graphs = [], []
    for ply in range(8):
        before, root = set(with_explored_moves(tree)), int(tree.root[0])
        assert not explored(tree, root) and int(tree.visits[root]) == 0, "nothing is kept"
        search.run(game, *BUDGET, ply)
        grown = set(with_explored_moves(tree)) - before
        assert root in grown and len(grown) > 1
        graphs.append({board_of(tree, node) for node in grown})
        roots.append(root)
        search.advance(game, played(search, game, 0.2, ply))
    samples = extract(tree, 1.0, Targets(), torch.tensor(roots))
    assert set(by_board(samples)) == set().union(*graphs)
    assert all(graph - set().union(*graphs[:ply], *graphs[ply + 1 :]) for ply, graph in enumerate(graphs))
    assert int(samples.weight[by_board(samples)[board_of(tree, roots[0])]]) == BUDGET[0] * BUDGET[1]


def test_without_reuse_a_shard_works_more_for_its_moves() -> None:
    kept, fresh = (shard(configured(search={"reuse": reuse}, games=2)) for reuse in (True, False))
    assert positions_played(fresh) <= set(by_board(fresh.samples))
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
        tree, games = search.tree, torch.arange(2)
        for step in range(2):
            before = search.leaf_evaluations
            search.run(games, 8, 10, step)
            spent.append((search.leaf_evaluations - before, *search.spent.tolist()))
            search.advance(games, best(search.moves(games)))
        nodes = torch.arange(tree.nodes)
        distinct = len(torch.stack([tree.own[nodes], tree.opp[nodes], tree.game(nodes)], dim=1).unique(dim=0))
        moves = tree.edges - 1
        if transpositions:
            assert distinct == tree.nodes < moves + 2
        else:
            assert distinct < tree.nodes == moves + 2  # a node for every move, and the roots
    assert set(spent) == {(160, 80, 80)}


def one_sample(value: list[float], weight: float) -> Samples:
    """A sample of the starting position of the smallest board, its one move explored."""
    board = othello(4).encode(*(np.array([word]) for word in othello(4).start())).reshape(1, -1)
    move = np.zeros((1, 17), np.float32)
    move[0, 1] = 1
    rest = (np.array(part, np.float32) for part in ([value], [[0, 0, 0]], [0], [weight]))
    return Samples(board, move, move.copy(), *rest)


def test_merging_takes_values_from_the_samples_that_have_one() -> None:
    parts = [one_sample([0, 0, 0], 6), one_sample([1, 0, 0], 1), one_sample([0, 0.5, 0.5], 3)]
    merged = merge(parts, 4)
    assert merged.value[0].tolist() == pytest.approx([0.25, 0.375, 0.375])
    assert merged.weight.tolist() == [10]


def test_merging_samples_without_a_value_gives_none(tmp_path: Path) -> None:
    merged = merge([one_sample([0, 0, 0], 6), one_sample([0, 0, 0], 2)], 4)
    assert merged.value.tolist() == [[0, 0, 0]] and merged.weight.tolist() == [8]
    write_samples(tmp_path / "none.bin", merged, 4)


def test_the_defaults_are_probzero_as_it_was() -> None:
    assert Targets() == Targets(nodes="tree", policy="winner", value="bootstrap", least_moves=1)
    spelled = Search(
        "systematic", 1.0, True, algorithm="particle", transpositions=True, reuse=True, budget="simulations"
    )
    assert Search("systematic", 1.0, True) == spelled
