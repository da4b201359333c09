"""The particle flow that is shown is that of the search itself, batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from exploring import answers
from searching import SYSTEMATIC, changed, searching

from probzero import games
from probzero.errors import ProbZeroError
from probzero.front_ends.analysis import think
from probzero.front_ends.explore import flow
from probzero.front_ends.explore.flow import record

PARTICLES, BATCHES = 8, 10


@pytest.fixture(scope="module", params=[True, False], ids=["graph", "tree"])
def found(request: pytest.FixtureRequest) -> dict[str, Any]:
    settings = changed(SYSTEMATIC, transpositions=request.param)
    return record(searching(size=4, games=1, settings=settings, keys=[3]), PARTICLES, BATCHES)


def flows(told: dict[str, Any], frame: dict[str, Any]) -> tuple[dict[int, int], dict[int, int]]:
    """Particles of a batch by the node they came to, and by the node they left."""
    into: dict[int, int] = {}
    out: dict[int, int] = {}
    for edge, count in frame["flow"]:
        begin, end, _ = told["edges"][edge]
        out[begin] = out.get(begin, 0) + count
        into[end] = into.get(end, 0) + count
    return into, out


def test_no_particle_is_lost_or_made_between_the_root_and_what_is_new(found: dict[str, Any]) -> None:
    """Who comes to a position that was there already goes on to its children, unless everything below is known."""
    known, closed = {0}, set()
    for frame in found["frames"][1:]:
        into, out = flows(found, frame)
        assert out[0] == PARTICLES
        for node, count in into.items():
            assert out.get(node, 0) == (count if node in known and node not in closed else 0)
        known |= into.keys()
        closed |= set(frame["closed"])
    assert len(known) == len(found["nodes"]) > BATCHES


def test_values_are_those_of_the_backup_equation(found: dict[str, Any]) -> None:
    """value_search ← m·Σ w_i·flip(child_i) + (1 − m)·value_net at every position that particles went through."""
    net: dict[int, np.ndarray] = {}
    now: dict[int, np.ndarray] = {}
    rest: dict[int, float] = {}
    weight: dict[int, float] = {}
    checked = 0
    for frame in found["frames"]:
        for node, *triple, left in frame["value"]:
            net.setdefault(node, np.array(triple))
            now[node], rest[node] = np.array(triple), left
        weight.update(dict(frame["weight"]))
        for node in flows(found, frame)[1]:
            edges = [edge for edge, (begin, _, _) in enumerate(found["edges"]) if begin == node and edge in weight]
            assert sum(weight[edge] for edge in edges) == pytest.approx(1, abs=1e-3)
            below = sum(weight[edge] * now[found["edges"][edge][1]][::-1] for edge in edges)
            assert now[node] == pytest.approx((1 - rest[node]) * below + rest[node] * net[node], abs=2e-3)
            checked += 1
    assert checked > BATCHES


def test_watching_changes_nothing() -> None:
    """The same graph, number by number, as that of a search that nobody watches."""
    watched, alone = (searching(size=4, games=1, keys=[3]) for _ in range(2))
    record(watched, PARTICLES, BATCHES)
    alone.run(np.arange(1), PARTICLES, BATCHES, 0)
    for name in ("search", "edge_visits", "edge_policy", "visits", "closed"):
        assert (getattr(watched.graph, name) == getattr(alone.graph, name)).all()
    assert watched.graph.nodes == alone.graph.nodes


def test_the_last_frame_is_what_the_analysis_says() -> None:
    asked = answers()
    start = asked.game.start()
    seen, told = think(asked.thinkers[32], start), asked.flow(asked.game.to_text(start), 32)
    taken, weight, value = ({} for _ in range(3))
    for frame in told["frames"]:
        for edge, count in frame["flow"]:
            taken[edge] = taken.get(edge, 0) + count
        weight.update(dict(frame["weight"]))
        value.update({node: triple for node, *triple, _ in frame["value"]})
    roots = {name: (edge, end) for edge, (begin, end, name) in enumerate(told["edges"]) if begin == 0}
    tried = {move.move: move for move in seen.moves if move.particles}
    assert roots.keys() == tried.keys()
    for name, (edge, end) in roots.items():
        assert taken[edge] == tried[name].particles
        assert weight[edge] == pytest.approx(tried[name].winner_prob, abs=1e-4)
        assert value[end][2] - value[end][0] == pytest.approx(tried[name].value, abs=3e-4)
    assert value[0] == pytest.approx(seen.wdl, abs=1e-4)


def test_positions_and_moves_of_a_flow_are_those_of_the_game(found: dict[str, Any]) -> None:
    game = games.make("othello", size=4)
    states = [game.from_text(text) for text in found["nodes"]]
    for begin, end, name in found["edges"]:
        after = game.play(states[begin][None], np.array(game.parse_moves(name)))[0]
        assert (after == states[end]).all()


def test_a_search_that_sends_no_particles_has_no_flow() -> None:
    search = searching(size=4, games=1, settings=changed(SYSTEMATIC, algorithm="puct"))
    with pytest.raises(ProbZeroError, match="expected one that sends particles, found puct"):
        flow.record(search, 1, 4)
