"""backup, all paths: the compiled loop, the reference, and the Triton kernel in Triton's interpreter."""

from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"  # read when triton and the kernels are imported, so before any of that

import copy
import random
from dataclasses import fields

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_backup import DRAWN, LOST, WON, Tree, random_forest, slow_backup

from probzero.errors import ProbZeroError
from probzero.kernels import backup
from probzero.kernels.backup import triton_kernel

every_path = pytest.mark.parametrize("use_triton", [None, False, True], ids=["compiled", "reference", "triton"])


def run(
    tree: Tree, levels: list[list[int]], games: dict[int, int], temperature: float, use_triton: bool | None
) -> None:
    nodes = [node for level in levels for node in level]
    game = torch.tensor([games.get(node, 0) for node in nodes], dtype=torch.int64)
    touched = torch.tensor(nodes, dtype=torch.int64)
    backup(tree, touched, [len(level) for level in levels], game, temperature, use_triton=use_triton)


def assert_same(found: Tree, expected: Tree, tolerance: float = 2e-6) -> None:
    for field in fields(Tree):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if one.is_floating_point():
            assert (one.double() - other.double()).abs().max() < tolerance, field.name
        else:
            assert torch.equal(one, other), field.name


@every_path
def test_three_nodes_by_hand(use_triton):
    # Winner weights .3·.5 + .5·.9 = .60 and .4·.2 + .1·.5 = .13, so w = 60/73 and 13/73. A fifth of the policy is
    # unexplored: m = .8. The children flipped and weighed:
    #   value  (60·.5 + 13·.1, 60·.3 + 13·.4, 60·.2 + 13·.5)/73 = (31.3, 23.2, 18.5)/73
    #   target (60·.3 + 13·.4, 60·.6 + 13·.3, 60·.1 + 13·.3)/73 = (23.2, 39.9,  9.9)/73
    tree = Tree.build(
        [
            {"edges": [(1, 0.3), (-1, 0.2), (2, 0.5)], "value_net": (0.6, 0.1, 0.3), "reward_net": (0.25, 0.5, 0.25)},
            {"value": (0.2, 0.3, 0.5), "target": (0.1, 0.6, 0.3)},
            {"value": (0.5, 0.4, 0.1), "target": (0.3, 0.3, 0.4)},
        ]
    )
    children = tree.search[1:].clone()
    run(tree, [[0]], {}, 1.0, use_triton)
    assert tree.edge_policy.tolist() == pytest.approx([0.8 * 60 / 73, 0.2, 0.8 * 13 / 73], abs=1e-6)
    value = [0.8 * 31.3 / 73 + 0.2 * 0.6, 0.8 * 23.2 / 73 + 0.2 * 0.1, 0.8 * 18.5 / 73 + 0.2 * 0.3]
    target = [0.8 * 23.2 / 73 + 0.2 * 0.25, 0.8 * 39.9 / 73 + 0.2 * 0.5, 0.8 * 9.9 / 73 + 0.2 * 0.25]
    assert tree.search[0, 0].tolist() == pytest.approx(value, abs=1e-6)
    assert tree.search[0, 1].tolist() == pytest.approx(target, abs=1e-6)
    assert torch.equal(tree.search[1:], children)
    assert not tree.closed.any()


@every_path
def test_a_pass_carries_a_terminal_up_two_levels_at_once(use_triton):
    # 0 -> pass node 1 -> terminal 2, won by its mover: so lost at 1 and won at 0, and nothing is left to explore.
    tree = Tree.build(
        [{"edges": [(1, 1.0)]}, {"edges": [(2, 1.0)]}, {"value": WON, "target": WON, "closed": True}],
    )
    run(tree, [[1], [0]], {}, 1.0, use_triton)
    assert tree.search.tolist() == [[list(WON)] * 2, [list(LOST)] * 2, [list(WON)] * 2]
    assert tree.edge_policy.tolist() == [1.0, 1.0]
    assert tree.closed.tolist() == [True, True, True]


@every_path
def test_a_shared_child_serves_both_its_parents(use_triton):
    # 0 -> 1, 2 and 1 -> 3, 2 -> 3. Both parents become flip(3) = (.5, .3, .2), so 0 weighs them equally and gets
    # flip(.5, .3, .2) = (.2, .3, .5) however unequal its policy was before.
    tree = Tree.build(
        [
            {"edges": [(1, 0.9), (2, 0.1)]},
            {"edges": [(3, 1.0)]},
            {"edges": [(3, 1.0)]},
            {"value": (0.2, 0.3, 0.5), "target": (0.7, 0.2, 0.1)},
        ]
    )
    run(tree, [[1, 2], [0]], {}, 1.0, use_triton)
    assert tree.search[1].tolist() == tree.search[2].tolist()
    assert tree.search[1].flatten().tolist() == pytest.approx([0.5, 0.3, 0.2, 0.1, 0.2, 0.7], abs=1e-6)
    assert tree.search[0].flatten().tolist() == pytest.approx([0.2, 0.3, 0.5, 0.7, 0.2, 0.1], abs=1e-6)
    assert tree.edge_policy[:2].tolist() == pytest.approx([0.5, 0.5], abs=1e-6)


@every_path
def test_a_node_closes_only_when_everything_below_is_closed(use_triton):
    terminal: dict = {"value": DRAWN, "target": DRAWN, "closed": True}
    leaf: dict = {}
    tree = Tree.build(
        [
            terminal,
            leaf,
            {"edges": [(0, 0.5), (0, 0.5)]},  # 2: all closed
            {"edges": [(0, 0.5), (1, 0.5)]},  # 3: an open child
            {"edges": [(0, 0.5), (-1, 0.5)], "closed": True},  # 4: an unexplored edge, whatever it said before
            {"edges": [(2, 0.4), (0, 0.6)]},  # 5: closes as 2 just has
            {"edges": [(2, 0.4), (3, 0.6)]},  # 6: 3 stays open
        ]
    )
    run(tree, [[2, 3, 4], [5, 6]], {}, 1.0, use_triton)
    assert tree.closed.tolist() == [True, False, True, False, False, True, False]


@every_path
def test_an_unexplored_edge_opens_a_node_even_if_no_node_of_the_batch_is_complete(use_triton):
    tree = Tree.build([{"edges": [(1, 0.5), (-1, 0.5)], "closed": True}, {"closed": True}])
    run(tree, [[0]], {}, 1.0, use_triton)
    assert tree.closed.tolist() == [False, True]


@every_path
@pytest.mark.parametrize("K", [1, 2, 7, 26, 33, 65])
def test_awkward_numbers_of_children(K, use_triton):
    draw = random.Random(K)
    kids = [
        {"value": v, "target": v[::-1]}
        for v in torch.randn(K, 3, generator=torch.Generator().manual_seed(K)).softmax(-1).tolist()
    ]
    weights = [draw.random() for _ in range(K + 1)]
    edges = [(k + 2, w / sum(weights)) for k, w in enumerate(weights[:K])]
    # Node 0 has everything explored but the last edge, node 1 a single edge: its padded slots reach past all edges.
    tree = Tree.build([{"edges": [*edges, (-1, weights[K] / sum(weights))]}, {"edges": [(2, 1.0)]}, *kids])
    expected = slow_backup(tree, [[0, 1]], 1.0)
    run(tree, [[0, 1]], {}, 1.0, use_triton)
    assert_same(tree, expected)


@every_path
@pytest.mark.parametrize("temperature", [1.0, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_random_graphs_of_several_games_agree_with_the_slow_backup(seed, temperature, use_triton):
    tree, levels, games = random_forest(seed)
    expected = slow_backup(tree, levels, temperature)
    run(tree, levels, games, temperature, use_triton)
    assert_same(tree, expected)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    games=st.integers(1, 6),
    most_edges=st.integers(1, 20),
    temperature=st.sampled_from([1.0, 0.5, 3.0]),
)
def test_the_reference_agrees_with_the_slow_backup(seed, games, most_edges, temperature):
    tree, levels, node_games = random_forest(seed, games, most_edges)
    expected = slow_backup(tree, levels, temperature)
    run(tree, levels, node_games, temperature, use_triton=False)
    assert_same(tree, expected, 1e-5)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32), games=st.integers(1, 4), most_edges=st.sampled_from([1, 5, 40]))
def test_the_kernel_agrees_with_the_reference(seed, games, most_edges):
    tree, levels, node_games = random_forest(seed, games, most_edges, depth=3, width=3)
    expected = copy.deepcopy(tree)
    run(expected, levels, node_games, 1.0, use_triton=False)
    run(tree, levels, node_games, 1.0, use_triton=True)
    assert_same(tree, expected, 1e-6)


@every_path
def test_games_do_not_leak_into_one_another(use_triton):
    tree, levels, games = random_forest(11, games=3)
    other = copy.deepcopy(tree)
    mine = torch.tensor([games[node] == 1 for node in range(len(games))])
    other.search[~mine] = torch.tensor(LOST)
    other.net[~mine] = torch.tensor(WON)
    other.closed[~mine] ^= True
    run(tree, levels, games, 1.0, use_triton)
    run(other, levels, games, 1.0, use_triton)
    assert torch.equal(tree.search[mine], other.search[mine])
    assert torch.equal(tree.closed[mine], other.closed[mine])
    my_edges = torch.repeat_interleave(mine, tree.edge_count)
    assert torch.equal(tree.edge_policy[my_edges], other.edge_policy[my_edges])
    assert not torch.equal(tree.search[~mine], other.search[~mine])


def test_a_program_gets_the_nodes_of_its_game_deepest_first():
    # The interpreter runs one program after the other and would not notice if one did another's work.
    nodes, games = torch.tensor([9, 8, 7, 6, 5, 4]), torch.tensor([3, 0, 3, 1, 0, 3])
    ordered, segments = triton_kernel.by_game(nodes, games, 5)
    own = [ordered[segments[game] : segments[game + 1]].tolist() for game in range(5)]
    assert own == [[8, 5], [6], [], [9, 7, 4], []]


@every_path
def test_only_touched_nodes_and_their_explored_edges_change(use_triton):
    tree, levels, games = random_forest(5)
    before = copy.deepcopy(tree)
    run(tree, levels, games, 1.0, use_triton)
    touched = torch.zeros(len(games), dtype=torch.bool)
    touched[[node for level in levels for node in level]] = True
    assert touched.any() and not touched.all()
    assert torch.equal(tree.search[~touched], before.search[~touched])
    assert torch.equal(tree.closed[~touched], before.closed[~touched])
    kept = ~torch.repeat_interleave(touched, tree.edge_count) | (tree.edge_child < 0)
    assert torch.equal(tree.edge_policy[kept], before.edge_policy[kept])
    for name in ("first_edge", "edge_count", "edge_child", "net"):
        assert torch.equal(getattr(tree, name), getattr(before, name)), name


@every_path
def test_no_touched_nodes_is_no_work(use_triton):
    tree, _, _ = random_forest(0)
    before = copy.deepcopy(tree)
    run(tree, [], {}, 1.0, use_triton)
    assert_same(tree, before, 1e-30)


@every_path
def test_unexplored_mass_that_rounds_above_one_gives_the_networks_value(use_triton):
    # The unexplored policies sum to slightly over 1, as rounding may have it: m is 0, not negative.
    own = (0.5, 0.3, 0.2)
    tree = Tree.build(
        [{"edges": [(-1, 0.70000005), (1, 0.0), (-1, 0.3000001)], "value_net": own, "reward_net": own}, {}]
    )
    run(tree, [[0]], {}, 1.0, use_triton)
    assert tree.edge_policy[1].item() == 0.0
    assert tree.search[0].flatten().tolist() == pytest.approx([*own, *own], abs=1e-7)


def test_policies_and_values_keep_their_sums_through_many_backups():
    tree, levels, games = random_forest(2, games=6, most_edges=9)
    for _ in range(300):
        run(tree, levels, games, 1.0, use_triton=False)
    touched = [node for level in levels for node in level]
    sums = torch.stack([tree.edge_policy[list(tree.edges(node))].sum() for node in touched])
    assert (sums - 1).abs().max() < 1e-5
    assert (tree.search.sum(-1) - 1).abs().max() < 1e-5


def test_bad_arguments_are_refused():
    tree, levels, _ = random_forest(0)
    nodes = torch.tensor(levels[0])
    with pytest.raises(ProbZeroError, match="level_sizes: expected a sum of"):
        backup(tree, nodes, [len(nodes) + 1], torch.zeros_like(nodes))
    with pytest.raises(ProbZeroError, match="temperature: expected a number above 0"):
        backup(tree, nodes, [len(nodes)], torch.zeros_like(nodes), 0.0)
    with pytest.raises(ProbZeroError, match="backup: games: expected the game of each node"):
        backup(tree, nodes, None, None, use_triton=True)
    tree.net = tree.net.transpose(1, 2).contiguous().transpose(1, 2)
    with pytest.raises(ProbZeroError, match="expected contiguous tensors"):
        backup(tree, nodes, [len(nodes)], torch.zeros_like(nodes), use_triton=True)
