"""New nodes: the compiled form and the tensor operations agree with each other and with the rules, on every board."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from oracles.slow_othello import SlowOthello
from probzero.search.expansion import reach, settle
from probzero.search.tree import Tree

from probzero.errors import ProbZeroError
from probzero.games.othello import SIZES, othello
from probzero.games.random_play import play_randomly
from probzero.network.inference import Evaluation

CPU = torch.device("cpu")
GAMES = 3


def positions(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Positions of random games to their ends, finished ones among them."""
    rules = othello(size)
    played = play_randomly(rules, 12, rules.longest_game, seed=size)
    own, opp = (np.unique(np.stack([played.own.ravel(), played.opp.ravel()], 1), axis=0)).T
    return torch.from_numpy(own.copy()), torch.from_numpy(opp.copy())


def entered(size: int, in_step: bool, transpositions: bool, capacity: int = 20_000) -> tuple[Tree, torch.Tensor]:
    """Three games, each with every third position as a node; the nodes."""
    tree = Tree(othello(size), GAMES, capacity, "capacity", CPU, transpositions, in_step)
    tree.game_key[:] = torch.tensor([7, -5, 2**62])
    own, opp = positions(size)
    game = torch.arange(len(own)) % GAMES
    return tree, tree._enter(own, opp, game, tree.game_key[game])


def grown(size: int, in_step: bool, transpositions: bool, capacity: int = 20_000) -> Tree:
    """The same with all nodes settled, in two calls, by priors with ties."""
    tree, nodes = entered(size, in_step, transpositions, capacity)
    for half in nodes.chunk(2):
        reached = reach(tree, half)
        draw = torch.Generator().manual_seed(1)
        drawn = torch.randint(1, 5, reached.legal.shape, generator=draw).float() * reached.legal
        value, reward = torch.rand(2, len(reached.nodes), 3, generator=draw)
        settle(tree, reached, Evaluation(drawn / drawn.sum(1, keepdim=True), value, reward))
    return tree


def laid_out(tree: Tree) -> tuple[torch.Tensor, ...]:
    """All edges in order, with keys in the place of nodes: new nodes of one call may be numbered in any order."""
    nodes = tree.evaluated.nonzero()[:, 0]
    nodes = nodes[torch.from_numpy(np.lexsort((tree.key[nodes], tree.first_edge[nodes])))]
    real = slice(1, tree.edges)
    child = ~tree.edge_child[real]
    return (
        tree.table.keys[nodes], tree.first_edge[nodes], tree.edge_count[nodes], tree.key[nodes],
        tree.edge_action[real], tree.edge_policy[real], tree.table.keys[child], tree.key[child],
        tree.search[nodes], tree.net[nodes], tree.closed[nodes], tree.rank[nodes],
    )  # fmt: skip


@pytest.mark.parametrize("in_step", [False, True], ids=["compiled", "in step"])
@pytest.mark.parametrize("size", SIZES)
def test_reached_nodes_are_what_the_slow_rules_say(size: int, in_step: bool) -> None:
    tree, nodes = entered(size, in_step, True)
    reached = reach(tree, nodes)
    assert tree.evaluated.sum() == len(nodes) > len(reached.nodes)
    assert reached.moves == reached.legal.sum()
    assert torch.equal(reached.own, tree.own[reached.nodes]) and torch.equal(reached.opp, tree.opp[reached.nodes])
    going = {int(node): row for row, node in enumerate(reached.nodes)}
    for node in nodes.tolist():
        mine, theirs = (int(side[node]) & (1 << 64) - 1 for side in (tree.own, tree.opp))
        slow = SlowOthello.from_bitboards(size, mine, theirs)
        assert int(tree.rank[node]) == 2 * bin(mine | theirs).count("1") + bool(slow.placements())
        assert bool(tree.closed[node]) == (node not in going) == (not slow.legal_moves())
        if node in going:
            assert reached.legal[going[node]].nonzero()[:, 0].tolist() == sorted(slow.legal_moves())
            continue
        margin = bin(mine).count("1") - bin(theirs).count("1")
        outcome = [float(margin > 0), float(margin == 0), float(margin < 0)]
        assert tree.search[node].tolist() == tree.net[node].tolist() == [outcome, outcome]


@pytest.mark.parametrize("in_step", [False, True], ids=["compiled", "in step"])
def test_settled_nodes_hold_their_estimates(in_step: bool) -> None:
    tree, nodes = entered(5, in_step, True)
    reached = reach(tree, nodes)
    prior = reached.legal / reached.legal.sum(1, keepdim=True)
    value, reward = torch.rand(2, len(reached.nodes), 3, generator=torch.Generator().manual_seed(2))
    settle(tree, reached, Evaluation(prior, value, reward))
    for part in (tree.search, tree.net):
        assert torch.equal(part[reached.nodes], torch.stack([value, reward], dim=1))


@pytest.mark.parametrize("transpositions", [True, False], ids=["graph", "tree"])
@pytest.mark.parametrize("size", SIZES)
def test_both_forms_lay_out_the_same_edges(size: int, transpositions: bool) -> None:
    compiled, in_step = (grown(size, form, transpositions) for form in (False, True))
    assert compiled.edges == in_step.edges > 100 and compiled.nodes == in_step.nodes
    assert compiled.worlds == in_step.worlds
    for mine, theirs in zip(laid_out(compiled), laid_out(in_step), strict=True):
        assert torch.equal(mine, theirs)


@pytest.mark.parametrize("size", SIZES)
def test_edges_come_by_falling_prior_and_lead_where_the_rules_say(size: int) -> None:
    tree = grown(size, False, True)
    nodes = tree.edge_count.nonzero()[:, 0]
    edges = tree.edges_of(nodes)
    policy = torch.where(edges.real, tree.edge_policy[edges.index], -1.0)
    action = torch.where(edges.real, tree.edge_action[edges.index].long(), 99)
    falling = policy[:, 1:] <= policy[:, :-1]
    tied = policy[:, 1:] == policy[:, :-1]
    assert (falling & (~tied | (action[:, 1:] >= action[:, :-1]))).all()
    row, slot = edges.real.nonzero(as_tuple=True)
    own, opp = tree.rules.place(tree.own[nodes[row]], tree.opp[nodes[row]], action[row, slot])
    child = edges.child[row, slot]
    assert torch.equal(tree.own[child], own) and torch.equal(tree.opp[child], opp)
    assert torch.equal(tree.game(child), tree.game(nodes[row]))


@pytest.mark.parametrize("in_step", [False, True], ids=["compiled", "in step"])
def test_a_tree_that_is_full_says_so(in_step: bool) -> None:
    with pytest.raises(ProbZeroError, match="capacity: expected at most"):
        grown(5, in_step, True, capacity=200)
