"""descend: the Triton kernel in Triton's interpreter and the reference, against the compiled loop and against paper."""

from __future__ import annotations

from typing import Any

import interpreted  # noqa: F401 (before anything that imports triton)
import pytest
import torch
from searching import FORMS, INTERPRETED, SYSTEMATIC, changed, invented, searching

from probzero import games as known_games
from probzero.errors import ProbZeroError
from probzero.games.base import Game
from probzero.kernels.backup.reference import listed
from probzero.kernels.descend import triton_kernel
from probzero.network.inference import Evaluation
from probzero.random_keys import key
from probzero.search.backends.tensor import triton_kernels

GAMES = {
    "othello": known_games.make("othello", size=4),
    "connect four": known_games.make("connect_four", width=4, height=4),
    "go": known_games.make("go", size=2, komi=0, longest=8),
}
DEVICE_FORMS = ("tensor", INTERPRETED)

pytestmark = pytest.mark.usefixtures("one_thread")


def grown(rules: Game, form: str, batches: int, **options: Any) -> Any:
    """A search of three games, grown without the interpreter, which is slow; then the form is that form."""
    search = searching(rules=rules, games=3, form="compiled" if form == "compiled" else "tensor", **options)
    search.run(torch.arange(3), 5, batches, 0)
    if form == INTERPRETED:
        search.graph.backend.kernels = triton_kernels()
    return search


def state_of(graph: Any) -> dict[tuple[int, ...], tuple]:
    """What descend leaves behind, by position and game."""
    nodes = graph.nodes
    edges = graph.edges_of(torch.arange(nodes))
    rows = zip(
        graph.table.keys[:nodes].tolist(), graph.visits[:nodes].tolist(), graph.volume[:nodes].tolist(),
        (edges.explored & edges.real).tolist(), (graph.edge_visits[edges.index] * edges.real).tolist(), strict=True,
    )  # fmt: skip
    return {tuple(name): tuple(map(str, rest)) for name, *rest in rows}


def names(graph: Any, nodes: torch.Tensor) -> set[tuple[int, ...]]:
    found = [tuple(row) for row in graph.table.keys[nodes].tolist()]
    assert len(set(found)) == len(found), "each once"
    return set(found)


@pytest.mark.parametrize("form", DEVICE_FORMS)
@pytest.mark.parametrize("splitting", ["systematic", "middle", "multinomial"])
@pytest.mark.parametrize("game", GAMES)
def test_particles_go_where_the_compiled_loop_sends_them(game: str, splitting: str, form: str) -> None:
    found = []
    for which in ("compiled", form):
        # The graphs are the same before; one of three games has no particles, another one has seven.
        search = grown(GAMES[game], which, 3)
        graph, particles = search.graph, torch.tensor([4, 0, 7]) * ~search.graph.closed[search.graph.root]
        descent = graph.backend.descend(graph, graph.root, particles, 7, splitting, key("salt"))
        split = descent.nodes if which == "compiled" else listed(graph.scratch, descent.nodes)
        found.append((state_of(graph), names(graph, split), names(graph, descent.leaves[descent.leaves >= 0])))
        assert (graph.rank_heads == -1).all()
    assert found[0] == found[1] and len(found[0][1]) > 3


@pytest.mark.parametrize("form", DEVICE_FORMS)
def test_lists_begin_with_the_deepest_node_of_each_game(form: str) -> None:
    search = grown(GAMES["connect four"], form, 6)
    graph = search.graph
    touched = graph.backend.descend(graph, graph.root, torch.tensor([6, 6, 0]), 6, "systematic", 3).nodes
    assert touched.tolist()[2] == -1
    for game in (0, 1):
        nodes = listed(graph.scratch, touched[game : game + 1])
        rank = graph.rank[nodes].tolist()
        assert rank == sorted(rank, reverse=True) and rank[0] - rank[-1] >= 3
        assert (graph.game(nodes) == game).all() and nodes[-1] == graph.root[game]


@pytest.mark.parametrize("form", [*FORMS, INTERPRETED])
def test_two_particles_of_one_move_wait_together_and_surplus_goes_round(form: str) -> None:
    # Othello's first move: four unexplored moves. Of 6 particles the first two by prior get 2, the others 1.
    search = searching(5, games=1, form=form)
    graph = search.graph
    descent = graph.backend.descend(graph, graph.root, torch.tensor([6]), 6, "systematic", 1)
    edges = graph.edges_of(graph.root)
    assert graph.edge_visits[edges.index].tolist() == graph.visits[edges.child].tolist() == [[2, 2, 1, 1]]
    assert sorted(descent.leaves[descent.leaves >= 0].tolist()) == sorted(edges.child[0].tolist())
    assert int(graph.visits[graph.root]) == 6 and not graph.volume.any()


@pytest.mark.parametrize("form", [*FORMS, INTERPRETED])
def test_explored_moves_share_by_their_weights(form: str) -> None:
    # All four explored, weights .5 .25 .25 0 and u = ½: 8 particles split 4 2 2 0, whatever the key.
    search = searching(5, games=1, form=form, settings=changed(SYSTEMATIC, splitting="middle"))
    graph = search.graph
    search.simulate(graph.root, torch.tensor([4]), 4, 0)
    edges = graph.edges_of(graph.root)
    graph.edge_policy[edges.index] = torch.tensor([[0.5, 0.25, 0.25, 0.0]])
    before = graph.edge_visits[edges.index]
    graph.backend.descend(graph, graph.root, torch.tensor([8]), 8, "middle", 1)
    assert (graph.edge_visits[edges.index] - before).tolist() == [[4, 2, 2, 0]]


@pytest.mark.parametrize("form", DEVICE_FORMS)
def test_nothing_is_sent_from_no_roots(form: str) -> None:
    search = grown(GAMES["othello"], form, 1)
    before, none = state_of(search.graph), torch.zeros(0, dtype=torch.int64)
    search.graph.backend.descend(search.graph, none, none, 4, "systematic", 1)
    search.graph.backend.descend(search.graph, search.graph.root, torch.zeros(3).long(), 4, "systematic", 1)
    assert state_of(search.graph) == before


def test_the_kernel_refuses_a_scheme_that_it_does_not_have() -> None:
    search = grown(GAMES["othello"], "tensor", 1)
    with pytest.raises(
        ProbZeroError, match="expected one of systematic, middle, multinomial, which the tensor form has"
    ):
        triton_kernel.descend(search.graph, search.graph.root, torch.ones(3).long(), 1, "residual", 1)


def deep(rules: Game) -> Any:
    """An evaluator that is sure of one move everywhere."""
    plain = invented(rules)

    def evaluate(states: torch.Tensor, moves: torch.Tensor) -> Evaluation:
        said = plain(states, moves)
        sure = (moves == moves.gather(1, said.prior.argmax(1, keepdim=True))).float()
        return said._replace(prior=sure / sure.sum(1, keepdim=True))

    return evaluate


def test_a_long_way_down_is_the_same_in_the_kernel() -> None:
    rules, found = GAMES["connect four"], []
    for form in ("compiled", INTERPRETED):
        search = grown(rules, form, 9, evaluate=deep(rules))
        graph = search.graph
        graph.backend.descend(graph, graph.root, torch.tensor([3, 3, 3]), 3, "systematic", 5)
        found.append(state_of(graph))
        assert int((graph.rank[: graph.nodes] * graph.evaluated[: graph.nodes]).max()) >= 8
    assert found[0] == found[1]
