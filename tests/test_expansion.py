"""New nodes: the compiled form and the tensor operations agree with each other and with the rules, on every board."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from slow_othello import SlowOthello

from probzero.errors import ProbZeroError
from probzero.games.othello import SIZES, othello
from probzero.games.random_play import play_randomly
from probzero.search.expansion import add_edges, legal_moves
from probzero.search.tree import Tree

CPU = torch.device("cpu")
GAMES = 3


def positions(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Positions of random games to their ends, finished ones among them."""
    rules = othello(size)
    played = play_randomly(rules, 12, rules.longest_game, seed=size)
    own, opp = (np.unique(np.stack([played.own.ravel(), played.opp.ravel()], 1), axis=0)).T
    return torch.from_numpy(own.copy()), torch.from_numpy(opp.copy())


def grown(size: int, in_step: bool, transpositions: bool, capacity: int = 20_000) -> Tree:
    """Three games, each with every third position as a root, all of them expanded by priors with ties."""
    tree = Tree(othello(size), GAMES, capacity, "capacity", CPU, transpositions, in_step)
    tree.game_key[:] = torch.tensor([7, -5, 2**62])
    own, opp = positions(size)
    legal, _ = legal_moves(tree, own, opp)
    own, opp, legal = own[legal.any(1)], opp[legal.any(1)], legal[legal.any(1)]
    game = torch.arange(len(own)) % GAMES
    tree.enter_roots(own[:GAMES], opp[:GAMES], game[:GAMES])
    nodes = tree._enter(own, opp, game, tree.game_key[game])
    drawn = torch.randint(1, 5, legal.shape, generator=torch.Generator().manual_seed(1)).float()
    prior = drawn * legal / (drawn * legal).sum(1, keepdim=True)
    half = len(nodes) // 2
    add_edges(tree, nodes[:half], prior[:half], legal[:half])
    add_edges(tree, nodes[half:], prior[half:], legal[half:])
    return tree


def laid_out(tree: Tree) -> tuple[torch.Tensor, ...]:
    """All edges in order, with keys in the place of nodes: new nodes of one call may be numbered in any order."""
    nodes = tree.edge_count.nonzero()[:, 0]
    nodes = nodes[tree.first_edge[nodes].argsort()]
    real = slice(1, tree.edges)
    child = ~tree.edge_child[real]
    return (
        tree.table.keys[nodes], tree.first_edge[nodes], tree.edge_count[nodes], tree.key[nodes],
        tree.edge_action[real], tree.edge_policy[real], tree.table.keys[child], tree.key[child],
    )  # fmt: skip


@pytest.mark.parametrize("in_step", [False, True], ids=["compiled", "in step"])
@pytest.mark.parametrize("size", SIZES)
def test_legal_moves_and_rank_are_those_of_the_slow_rules(size: int, in_step: bool) -> None:
    tree = Tree(othello(size), 1, 10, "capacity", CPU, in_step=in_step)
    own, opp = positions(size)
    legal, rank = legal_moves(tree, own, opp)
    over = (~legal.any(1)).nonzero()[:5, 0].tolist()
    assert over
    for row in [*range(0, len(own), 7), *over]:
        mine, theirs = (int(side[row]) & (1 << 64) - 1 for side in (own, opp))
        slow = SlowOthello.from_bitboards(size, mine, theirs)
        assert legal[row].nonzero()[:, 0].tolist() == sorted(slow.legal_moves())
        assert int(rank[row]) == 2 * bin(mine | theirs).count("1") + bool(slow.placements())


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
