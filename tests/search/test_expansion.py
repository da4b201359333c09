"""New nodes: the compiled form and the tensor operations agree with each other and with the rules, on every board."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from oracles.connect_four_search import ConnectFourBoard
from oracles.slow_othello import SlowOthello
from searching import FORMS, backend_of

from probzero import games as known_games
from probzero.errors import ProbZeroError
from probzero.games.base import Game
from probzero.games.random_play import play_by_seed
from probzero.network.inference import Evaluation
from probzero.search.backends.base import Leaves
from probzero.search.graph import Graph

GAMES = 3
BOARDS = {f"othello {size}": known_games.make("othello", size=size) for size in (4, 5, 6, 8)}
BOARDS |= {f"connect four {w}x{h}": known_games.make("connect_four", width=w, height=h) for w, h in ((4, 4), (7, 6))}
OTHELLO = BOARDS["othello 5"]

every_form = pytest.mark.parametrize("form", FORMS)
every_board = pytest.mark.parametrize("rules", BOARDS.values(), ids=BOARDS)


def positions(rules: Game) -> torch.Tensor:
    """Positions [n, W] of random games to their ends, finished ones among them."""
    played = play_by_seed(rules, 12, rules.longest_game, seed=rules.shape.width)
    return torch.from_numpy(np.unique(played.states.reshape(-1, rules.words), axis=0))


def entered(rules: Game, form: str, transpositions: bool, capacity: int = 20_000) -> tuple[Graph, torch.Tensor]:
    """Three games, each with every third position as a node; the nodes."""
    graph = Graph(backend_of(rules, form), GAMES, capacity, "capacity", transpositions)
    graph.game_key[:] = torch.tensor([7, -5, 2**62])
    states = positions(rules)
    game = torch.arange(len(states)) % GAMES
    return graph, graph.enter(states, game, graph.game_key[game])


def real_moves(leaves: Leaves) -> torch.Tensor:
    """Which of the listed moves [n, K] are moves, and not there to fill up the row."""
    return torch.arange(leaves.moves.shape[1]) < leaves.counts[:, None]


def grown(rules: Game, form: str, transpositions: bool, capacity: int = 20_000) -> Graph:
    """The same with all nodes expanded, in two calls, by priors with ties."""
    graph, nodes = entered(rules, form, transpositions, capacity)
    for half in nodes.chunk(2):
        leaves = graph.backend.open_nodes(graph, half)
        draw = torch.Generator().manual_seed(1)
        prior = torch.randint(1, 5, (len(half), rules.actions), generator=draw).float()[: len(leaves.nodes)]
        prior = prior.gather(1, leaves.moves) * real_moves(leaves)
        value, reward = torch.rand(2, len(leaves.nodes), 3, generator=draw)
        graph.backend.expand(graph, leaves, Evaluation(prior / prior.sum(1, keepdim=True), value, reward))
        graph.scopes += 0 if transpositions else leaves.total
        graph.edges += leaves.total
        graph.table.settle()
    return graph


def laid_out(graph: Graph) -> tuple[torch.Tensor, ...]:
    """All edges in order, with keys in the place of nodes: new nodes of one call may be numbered in any order."""
    nodes = graph.evaluated.nonzero()[:, 0]
    nodes = nodes[torch.from_numpy(np.lexsort((graph.key[nodes], graph.first_edge[nodes])))]
    real = slice(1, graph.edges)
    child = ~graph.edge_child[real]
    return (
        graph.table.keys[nodes], graph.first_edge[nodes], graph.edge_count[nodes], graph.key[nodes],
        graph.edge_action[real], graph.edge_policy[real], graph.table.keys[child], graph.key[child],
        graph.search[nodes], graph.net[nodes], graph.closed[nodes], graph.rank[nodes],
    )  # fmt: skip


def slow_board(rules: Game, state: torch.Tensor) -> SlowOthello | ConnectFourBoard:
    own, opp = (word & (1 << 64) - 1 for word in state.tolist())
    if rules.name == "othello":
        return SlowOthello.from_bitboards(rules.shape.width, own, opp)
    return ConnectFourBoard.from_bitboards(rules.shape.width, rules.shape.height, own, opp)


def slow_rank(board: SlowOthello | ConnectFourBoard) -> int:
    own, opp = board.bitboards()
    discs = bin(own | opp).count("1")
    return 2 * discs + bool(board.placements()) if isinstance(board, SlowOthello) else discs


@every_form
@every_board
def test_opened_nodes_are_what_the_slow_rules_say(rules: Game, form: str) -> None:
    graph, nodes = entered(rules, form, True)
    leaves = graph.backend.open_nodes(graph, nodes)
    assert graph.evaluated.sum() == len(nodes) > len(leaves.nodes)
    assert leaves.total == leaves.counts.sum()
    assert torch.equal(leaves.states, graph.states(leaves.nodes))
    going = {int(node): row for row, node in enumerate(leaves.nodes)}
    for node in nodes.tolist():
        slow = slow_board(rules, graph.states(torch.tensor([node]))[0])
        assert int(graph.rank[node]) == slow_rank(slow)
        assert bool(graph.closed[node]) == (node not in going) == (not slow.legal_moves())
        if node in going:
            moves, count = leaves.moves[going[node]].tolist(), int(leaves.counts[going[node]])
            assert moves[:count] == sorted(slow.legal_moves())
            assert set(moves[count:]) <= {moves[0]}
            continue
        margin = slow.margin()
        outcome = [float(margin > 0), float(margin == 0), float(margin < 0)]
        assert graph.search[node].tolist() == graph.net[node].tolist() == [outcome, outcome]


@every_form
def test_expanded_nodes_hold_their_estimates(form: str) -> None:
    graph, nodes = entered(OTHELLO, form, True)
    leaves = graph.backend.open_nodes(graph, nodes)
    prior = real_moves(leaves) / leaves.counts[:, None]
    value, reward = torch.rand(2, len(leaves.nodes), 3, generator=torch.Generator().manual_seed(2))
    graph.backend.expand(graph, leaves, Evaluation(prior, value, reward))
    for part in (graph.search, graph.net):
        assert torch.equal(part[leaves.nodes], torch.stack([value, reward], dim=1))


@pytest.mark.parametrize("transpositions", [True, False], ids=["graph", "tree"])
@every_board
def test_both_forms_lay_out_the_same_edges(rules: Game, transpositions: bool) -> None:
    compiled, tensor = (grown(rules, form, transpositions) for form in FORMS)
    assert compiled.edges == tensor.edges > 100 and compiled.nodes == tensor.nodes
    assert compiled.scopes == tensor.scopes
    for mine, theirs in zip(laid_out(compiled), laid_out(tensor), strict=True):
        assert torch.equal(mine, theirs)


@every_board
def test_edges_come_by_falling_prior_and_lead_where_the_rules_say(rules: Game) -> None:
    graph = grown(rules, "compiled", True)
    nodes = graph.edge_count.nonzero()[:, 0]
    edges = graph.edges_of(nodes)
    policy = torch.where(edges.real, graph.edge_policy[edges.index], -1.0)
    action = torch.where(edges.real, graph.edge_action[edges.index].long(), 99)
    falling = policy[:, 1:] <= policy[:, :-1]
    tied = policy[:, 1:] == policy[:, :-1]
    assert (falling & (~tied | (action[:, 1:] >= action[:, :-1]))).all()
    row, slot = edges.real.nonzero(as_tuple=True)
    child = edges.child[row, slot]
    assert torch.equal(graph.states(child), rules.play(graph.states(nodes[row]), action[row, slot]))
    assert torch.equal(graph.game(child), graph.game(nodes[row]))


@every_form
def test_a_graph_that_is_full_says_so(form: str) -> None:
    with pytest.raises(ProbZeroError, match="capacity: expected at most"):
        grown(OTHELLO, form, True, capacity=200)
