"""A budget of leaves: simulations that need no evaluation cost nothing, but there are at most four for each leaf."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from drawn import ROW
from searching import FORMS, SYSTEMATIC, changed, searching

pytestmark = pytest.mark.usefixtures("one_thread")

LEAVES = changed(SYSTEMATIC, budget="leaves")
PUCT = changed(LEAVES, algorithm="puct", exploration=1.5)


@pytest.mark.parametrize("form", FORMS)
def test_a_search_that_meets_finished_games_alone_stops_after_four_simulations_a_leaf(form: str) -> None:
    # One square of four is left: every simulation ends in the same finished game, and no leaf is evaluated.
    search = searching(rules=ROW, games=2, settings=PUCT, form=form)
    games = torch.arange(2)
    for _ in range(3):
        search.advance(games, search.graph.rules.legal(search.graph.states(search.graph.root)).int().argmax(1))
    search.evaluate_roots(games)
    search.run(games, 5, 2, 3)
    assert search.spent.tolist() == [0, 0]
    assert search.graph.visits[search.graph.root].tolist() == [40, 40]  # 4 · 5 · 2


@pytest.mark.parametrize(("settings", "batches"), [(LEAVES, 28), (SYSTEMATIC, 7)], ids=["leaves", "simulations"])
def test_batches_that_find_nothing_are_four_for_each_that_was_asked_for(settings: Any, batches: int) -> None:
    search = searching(games=2, settings=settings)
    sent: list[list[int]] = []
    search.simulate = lambda roots, particles, most, salt: sent.append(particles.tolist())
    search.run(torch.arange(2), 8, 7, 0)
    assert sent == [[8, 8]] * batches


def test_the_last_batches_are_no_larger_than_what_is_left_of_the_budget() -> None:
    # Every batch finds three of the eight leaves: so eight particles may be sent, then five, then two.
    search = searching(games=1, settings=LEAVES)
    sent: list[int] = []

    def finds_three(roots: torch.Tensor, particles: torch.Tensor, most: int, salt: int) -> None:
        sent.append(int(particles))
        search.spent += 3

    search.simulate = finds_three
    search.run(torch.tensor([0]), 8, 1, 0)
    assert sent == [8, 5, 2]
