"""Draws in the search: neither won nor lost at the end of a game, and all the way up from there."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from drawn import BOARDS, ROW, drawn_positions, states_of
from oracles.slow_othello import SlowOthello
from searching import FORMS, SYSTEMATIC, backend_of, changed, played, searching

from probzero import wdl
from probzero.network.inference import Evaluation
from probzero.search.graph import Graph
from probzero.search.move_choice import best

pytestmark = pytest.mark.usefixtures("one_thread")

DRAW = [0.0, 1.0, 0.0]
# Full boards with eight discs each, one that ended early with five each (nobody can place), a full board of Connect
# Four without four in a row.
FINISHED = {
    "othello 4": ["xxxx/xxxx/oooo/oooo", "xoxo/oxox/xoxo/oxox", "xxx./xx../..oo/.ooo"],
    "connect four 4x4": ["xxox/ooxo/xxox/ooxo"],
}

every_form = pytest.mark.parametrize("form", FORMS)
every_board = pytest.mark.parametrize("board", BOARDS)


def finished(board: str) -> torch.Tensor:
    """Drawn ends [n, W], each seen by both players."""
    states = torch.from_numpy(np.array([BOARDS[board].from_text(text) for text in FINISHED[board]]))
    return torch.cat([states, states.flip(1)])


def test_a_draw_is_its_own_reverse_and_expects_nothing() -> None:
    for result in (torch.tensor([0, 1, -1]), np.array([0, 1, -1])):
        triples = wdl.from_result(result)
        assert triples.tolist() == [DRAW, [1, 0, 0], [0, 0, 1]]
        assert wdl.flip(triples).tolist() == [DRAW, [0, 0, 1], [1, 0, 0]]
        assert wdl.expectation(triples).tolist() == [0, 1, -1]


@every_board
def test_a_drawn_end_is_one_by_the_rules_for_both_players(board: str) -> None:
    rules, states = BOARDS[board], finished(board)
    assert rules.finished(states).all() and rules.finished(states.numpy()).all()
    assert not rules.outcome(states).any() and not rules.outcome(states.numpy()).any()
    if rules.has_margin:
        assert not rules.margin(states).any()
        assert [SlowOthello.from_bitboards(4, *state).margin() for state in states.tolist()] == [0] * len(states)


@every_form
@every_board
def test_a_node_at_a_drawn_end_is_closed_and_a_draw(board: str, form: str) -> None:
    states = finished(board)
    graph = Graph(backend_of(BOARDS[board], form), 1, 100, "capacity")
    nodes = graph.enter(
        states, torch.zeros(len(states), dtype=torch.int64), torch.zeros(len(states), dtype=torch.int64)
    )
    assert not len(graph.backend.open_nodes(graph, nodes).nodes)
    assert graph.closed[nodes].all()
    assert graph.search[nodes].tolist() == graph.net[nodes].tolist() == [[DRAW, DRAW]] * len(states)
    assert graph.backend.playouts(states, torch.arange(len(states))).tolist() == [0] * len(states)


@every_form
@every_board
def test_searching_to_exhaustion_finds_the_draw_and_a_move_that_keeps_it(board: str, form: str) -> None:
    positions = drawn_positions(board)
    search = searching(rules=BOARDS[board], games=len(positions), form=form)
    games = torch.arange(len(positions))
    search.start(games, torch.from_numpy(states_of(positions)))
    search.run(games, 8, 200, 0)
    graph = search.graph
    assert graph.closed[graph.root].all()
    assert torch.allclose(graph.search[graph.root], torch.tensor(DRAW), atol=1e-3)
    assert search.value(games).abs().max() < 1e-3
    for position, action in zip(positions, best(search.moves(games)).tolist(), strict=True):
        assert action in position.keeping
    moves = search.moves(games)
    for position, action, weight in zip(positions, moves.action.tolist(), moves.weight.tolist(), strict=True):
        lost = [w for move, w in zip(action, weight, strict=True) if move in position.losing]
        assert sum(lost) < 1e-6 and sum(weight) == pytest.approx(1)


@every_form
@pytest.mark.parametrize("algorithm", ["particle", "puct", "ucb1"])
def test_a_game_that_nobody_can_win_is_worth_nothing_once_its_ends_are_seen(algorithm: str, form: str) -> None:
    # A network that says "won" everywhere: what particle search has explored to the end contradicts it exactly, and in
    # MCTS a simulation from the last move but one on always ends in a draw.
    def sanguine(states: torch.Tensor, moves: torch.Tensor) -> Evaluation:
        won = torch.tensor([[1.0, 0.0, 0.0]]).repeat(len(states), 1)
        return Evaluation(torch.full(moves.shape, 1 / moves.shape[1]), won, won)

    settings = changed(SYSTEMATIC, algorithm=algorithm, exploration=1.0)
    search = searching(rules=ROW, games=2, settings=settings, form=form, evaluate=sanguine)
    games = torch.arange(2)
    for ply in range(3 if algorithm == "puct" else 0):
        search.run(games, 2, 2, ply)
        search.advance(games, played(search, games, 1.0, ply))
    search.run(games, 6, 30, 9)
    assert search.value(games).tolist() == pytest.approx([0, 0], abs=1e-6)
    if algorithm == "particle":
        assert torch.allclose(search.graph.search[search.graph.root], torch.tensor(DRAW), atol=1e-6)
