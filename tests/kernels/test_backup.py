"""backup, all forms: the compiled loop, the reference, and the Triton kernel in Triton's interpreter."""

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
from kernel_forms import KERNEL_FORMS, backup, chained
from oracles.slow_backup import DRAWN, LOST, WON, SmallGraph, random_forest, slow_backup

from probzero.errors import ProbZeroError
from probzero.kernels.backup import reference, triton_kernel

every_form = pytest.mark.parametrize("form", KERNEL_FORMS)


def assert_same(found: SmallGraph, expected: SmallGraph, tolerance: float = 2e-6) -> None:
    for field in fields(SmallGraph):
        if field.name == "scratch":
            continue
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if one.is_floating_point():
            assert (one.double() - other.double()).abs().max() < tolerance, field.name
        else:
            assert torch.equal(one, other), field.name


@every_form
def test_three_nodes_by_hand(form):
    # Winner weights .3·.5 + .5·.9 = .60 and .4·.2 + .1·.5 = .13, so w = 60/73 and 13/73. A fifth of the policy is
    # unexplored: m = .8. The children flipped and weighed:
    #   value  (60·.5 + 13·.1, 60·.3 + 13·.4, 60·.2 + 13·.5)/73 = (31.3, 23.2, 18.5)/73
    #   target (60·.3 + 13·.4, 60·.6 + 13·.3, 60·.1 + 13·.3)/73 = (23.2, 39.9,  9.9)/73
    graph = SmallGraph.build(
        [
            {"edges": [(1, 0.3), (-1, 0.2), (2, 0.5)], "value_net": (0.6, 0.1, 0.3), "reward_net": (0.25, 0.5, 0.25)},
            {"value": (0.2, 0.3, 0.5), "target": (0.1, 0.6, 0.3)},
            {"value": (0.5, 0.4, 0.1), "target": (0.3, 0.3, 0.4)},
        ]
    )
    children = graph.search[1:].clone()
    backup(graph, [[0]], {}, 1.0, form)
    assert graph.edge_policy.tolist() == pytest.approx([0.8 * 60 / 73, 0.2, 0.8 * 13 / 73], abs=1e-6)
    value = [0.8 * 31.3 / 73 + 0.2 * 0.6, 0.8 * 23.2 / 73 + 0.2 * 0.1, 0.8 * 18.5 / 73 + 0.2 * 0.3]
    target = [0.8 * 23.2 / 73 + 0.2 * 0.25, 0.8 * 39.9 / 73 + 0.2 * 0.5, 0.8 * 9.9 / 73 + 0.2 * 0.25]
    assert graph.search[0, 0].tolist() == pytest.approx(value, abs=1e-6)
    assert graph.search[0, 1].tolist() == pytest.approx(target, abs=1e-6)
    assert torch.equal(graph.search[1:], children)
    assert not graph.closed.any()


@every_form
@pytest.mark.parametrize(("end", "between"), [(WON, LOST), (DRAWN, DRAWN), (LOST, WON)], ids=["won", "drawn", "lost"])
def test_a_pass_carries_a_terminal_up_two_levels_at_once(end, between, form):
    # 0 -> pass node 1 -> terminal 2. Won by its mover it is lost at 1 and won at 0, a draw is one for both; and nothing
    # is left to explore.
    graph = SmallGraph.build(
        [{"edges": [(1, 1.0)]}, {"edges": [(2, 1.0)]}, {"value": end, "target": end, "closed": True}],
    )
    backup(graph, [[1], [0]], {}, 1.0, form)
    assert graph.search.tolist() == [[list(end)] * 2, [list(between)] * 2, [list(end)] * 2]
    assert graph.edge_policy.tolist() == [1.0, 1.0]
    assert graph.closed.tolist() == [True, True, True]


@every_form
def test_a_shared_child_serves_both_its_parents(form):
    # 0 -> 1, 2 and 1 -> 3, 2 -> 3. Both parents become flip(3) = (.5, .3, .2), so 0 weighs them equally and gets
    # flip(.5, .3, .2) = (.2, .3, .5) however unequal its policy was before.
    graph = SmallGraph.build(
        [
            {"edges": [(1, 0.9), (2, 0.1)]},
            {"edges": [(3, 1.0)]},
            {"edges": [(3, 1.0)]},
            {"value": (0.2, 0.3, 0.5), "target": (0.7, 0.2, 0.1)},
        ]
    )
    backup(graph, [[1, 2], [0]], {}, 1.0, form)
    assert graph.search[1].tolist() == graph.search[2].tolist()
    assert graph.search[1].flatten().tolist() == pytest.approx([0.5, 0.3, 0.2, 0.1, 0.2, 0.7], abs=1e-6)
    assert graph.search[0].flatten().tolist() == pytest.approx([0.2, 0.3, 0.5, 0.7, 0.2, 0.1], abs=1e-6)
    assert graph.edge_policy[:2].tolist() == pytest.approx([0.5, 0.5], abs=1e-6)


@every_form
def test_a_node_closes_only_when_everything_below_is_closed(form):
    terminal: dict = {"value": DRAWN, "target": DRAWN, "closed": True}
    leaf: dict = {}
    graph = SmallGraph.build(
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
    backup(graph, [[2, 3, 4], [5, 6]], {}, 1.0, form)
    assert graph.closed.tolist() == [True, False, True, False, False, True, False]


@every_form
def test_an_unexplored_edge_opens_a_node_even_if_no_node_of_the_batch_is_complete(form):
    graph = SmallGraph.build([{"edges": [(1, 0.5), (-1, 0.5)], "closed": True}, {"closed": True}])
    backup(graph, [[0]], {}, 1.0, form)
    assert graph.closed.tolist() == [False, True]


@every_form
@pytest.mark.parametrize("K", [1, 2, 7, 26, 33, 65])
def test_awkward_numbers_of_children(K, form):
    draw = random.Random(K)
    kids = [
        {"value": v, "target": v[::-1]}
        for v in torch.randn(K, 3, generator=torch.Generator().manual_seed(K)).softmax(-1).tolist()
    ]
    weights = [draw.random() for _ in range(K + 1)]
    edges = [(k + 2, w / sum(weights)) for k, w in enumerate(weights[:K])]
    # Node 0 has everything explored but the last edge, node 1 a single edge: its padded slots reach past all edges.
    graph = SmallGraph.build([{"edges": [*edges, (-1, weights[K] / sum(weights))]}, {"edges": [(2, 1.0)]}, *kids])
    expected = slow_backup(graph, [[0, 1]], 1.0)
    backup(graph, [[0, 1]], {}, 1.0, form)
    assert_same(graph, expected)


@every_form
@pytest.mark.parametrize("temperature", [1.0, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_random_graphs_of_several_games_agree_with_the_slow_backup(seed, temperature, form):
    graph, levels, games = random_forest(seed)
    expected = slow_backup(graph, levels, temperature)
    backup(graph, levels, games, temperature, form)
    assert_same(graph, expected)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    games=st.integers(1, 6),
    most_edges=st.integers(1, 20),
    temperature=st.sampled_from([1.0, 0.5, 3.0]),
)
def test_the_reference_agrees_with_the_slow_backup(seed, games, most_edges, temperature):
    graph, levels, node_games = random_forest(seed, games, most_edges)
    expected = slow_backup(graph, levels, temperature)
    backup(graph, levels, node_games, temperature, form="reference")
    assert_same(graph, expected, 1e-5)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32), games=st.integers(1, 4), most_edges=st.sampled_from([1, 5, 40]))
def test_the_kernel_agrees_with_the_reference(seed, games, most_edges):
    graph, levels, node_games = random_forest(seed, games, most_edges, depth=3, width=3)
    expected = copy.deepcopy(graph)
    backup(expected, levels, node_games, 1.0, form="reference")
    backup(graph, levels, node_games, 1.0, form="triton")
    assert_same(graph, expected, 1e-6)


@every_form
def test_games_do_not_leak_into_one_another(form):
    graph, levels, games = random_forest(11, games=3)
    other = copy.deepcopy(graph)
    mine = torch.tensor([games[node] == 1 for node in range(len(games))])
    other.search[~mine] = torch.tensor(LOST)
    other.net[~mine] = torch.tensor(WON)
    other.closed[~mine] ^= True
    backup(graph, levels, games, 1.0, form)
    backup(other, levels, games, 1.0, form)
    assert torch.equal(graph.search[mine], other.search[mine])
    assert torch.equal(graph.closed[mine], other.closed[mine])
    my_edges = torch.repeat_interleave(mine, graph.edge_count)
    assert torch.equal(graph.edge_policy[my_edges], other.edge_policy[my_edges])
    assert not torch.equal(graph.search[~mine], other.search[~mine])


@pytest.mark.parametrize("form", ["reference", "triton"])
def test_who_has_nothing_left_to_explore_is_closed_and_renewed_on_whatever_path_it_lies(form):
    # 0 -> 1 and 2; 1 -> 3; 2 -> 3 and 4; 5 -> 3 and an unexplored move. Particles went 1, 3 to the end 4 (from 3 too):
    # 3 closes, which closes 1 on the way, and elsewhere 2, whose last open child it was, and 0; 5 stays open.
    graph = SmallGraph.build(
        [
            {"edges": [(1, 0.5), (2, 0.5)]},
            {"edges": [(3, 1.0)]},
            {"edges": [(3, 0.5), (4, 0.5)]},
            {"edges": [(4, 1.0)]},
            {"value": WON, "target": WON, "closed": True},
            {"edges": [(3, 0.5), (-1, 0.5)]},
        ]
    )
    moves = {3: [(1, 0), (2, 0), (5, 0)], 4: [(2, 1), (3, 0)], 1: [(0, 0)], 2: [(0, 1)]}
    for child, parents in moves.items():
        for parent, slot in parents:
            graph.next_parent[graph.first_edge[parent] + slot] = graph.first_parent[child]
            graph.first_parent[child] = parent * graph.most_moves + slot + 1
    if form == "triton":
        triton_kernel.backup(graph, chained(graph, [3, 1], [0, 0]), 1.0)
    else:
        backup(graph, [[3], [1]], {}, 1.0, form)
        reference.close(graph, torch.tensor([3, 1]), 1.0)
    assert graph.closed.tolist() == [True, True, True, True, True, False]
    # 4 is won by its mover, so 3 is lost and 1 won; of 2's children 3 is lost and 4 won: it takes 3, and is won too.
    expected = [LOST, WON, WON, LOST, WON]
    assert graph.search[:5].tolist() == [[list(value)] * 2 for value in expected]
    assert graph.edge_policy[graph.first_edge[2] : graph.first_edge[3]].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("touched", [[-1, -1, -1], []])
def test_games_without_touched_nodes_are_left_alone(touched):
    graph, _, _ = random_forest(3)
    before = copy.deepcopy(graph)
    triton_kernel.backup(graph, torch.tensor(touched, dtype=torch.int64), 1.0)
    assert_same(graph, before, 1e-30)


@every_form
def test_only_touched_nodes_and_their_explored_edges_change(form):
    graph, levels, games = random_forest(5)
    before = copy.deepcopy(graph)
    backup(graph, levels, games, 1.0, form)
    touched = torch.zeros(len(games), dtype=torch.bool)
    touched[[node for level in levels for node in level]] = True
    assert touched.any() and not touched.all()
    assert torch.equal(graph.search[~touched], before.search[~touched])
    assert torch.equal(graph.closed[~touched], before.closed[~touched])
    kept = ~torch.repeat_interleave(touched, graph.edge_count) | (graph.edge_child < 0)
    assert torch.equal(graph.edge_policy[kept], before.edge_policy[kept])
    for name in ("first_edge", "edge_count", "edge_child", "net"):
        assert torch.equal(getattr(graph, name), getattr(before, name)), name


def test_no_touched_nodes_is_no_work():
    graph, _, _ = random_forest(0)
    before = copy.deepcopy(graph)
    backup(graph, [], {}, 1.0, "compiled")
    assert_same(graph, before, 1e-30)


@every_form
def test_unexplored_mass_that_rounds_above_one_gives_the_networks_value(form):
    # The unexplored policies sum to slightly over 1, as rounding may have it: m is 0, not negative.
    own = (0.5, 0.3, 0.2)
    graph = SmallGraph.build(
        [{"edges": [(-1, 0.70000005), (1, 0.0), (-1, 0.3000001)], "value_net": own, "reward_net": own}, {}]
    )
    backup(graph, [[0]], {}, 1.0, form)
    assert graph.edge_policy[1].item() == 0.0
    assert graph.search[0].flatten().tolist() == pytest.approx([*own, *own], abs=1e-7)


def test_policies_and_values_keep_their_sums_through_many_backups():
    graph, levels, games = random_forest(2, games=6, most_edges=9)
    for _ in range(300):
        backup(graph, levels, games, 1.0, form="reference")
    touched = [node for level in levels for node in level]
    sums = torch.stack([graph.edge_policy[list(graph.edges(node))].sum() for node in touched])
    assert (sums - 1).abs().max() < 1e-5
    assert (graph.search.sum(-1) - 1).abs().max() < 1e-5


def test_tensors_that_are_not_contiguous_are_refused():
    graph, levels, games = random_forest(0)
    graph.net = graph.net.transpose(1, 2).contiguous().transpose(1, 2)
    with pytest.raises(ProbZeroError, match="expected contiguous tensors"):
        backup(graph, levels[:1], games, 1.0, "triton")
