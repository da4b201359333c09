"""Near the end every game can be solved: positions, and who keeps their results."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.plain_minimax import solve

from probzero import games
from probzero.errors import ProbZeroError
from probzero.truth.endings import endings, kept, solved_from
from probzero.truth.positions import move_masks, states_of

SMALL = games.make("othello", size=4)


def test_endings_are_decisive_positions_with_their_exact_results() -> None:
    truth, found = solve(SMALL), endings(SMALL, 9, 6, 1)
    assert found.phase.min() >= 9 and (found.groupby("phase").size() <= 6).all() and len(found) > 10
    states, keeping = states_of(SMALL, found), move_masks(SMALL, found.keeping)
    for state, result, right in zip(states, found.result, keeping, strict=True):
        legal = np.flatnonzero(SMALL.legal(state[None])[0])
        after = SMALL.canonical(SMALL.play(np.tile(state, (len(legal), 1)), legal))
        values = np.array([-np.sign(truth.value[tuple(key)]) for key in after.tolist()])
        assert result == values.max() > values.min()
        assert set(np.flatnonzero(right)) == set(legal[values == result])


def test_moves_that_keep_the_result_are_counted_by_player_and_phase() -> None:
    positions = endings(SMALL, 9, 6, 1)
    first = move_masks(SMALL, positions.keeping).argmax(1)
    worst = move_masks(SMALL, positions.losing).argmax(1)
    table = kept(SMALL, positions, {"good": lambda states: first, "bad": lambda states: worst})
    assert (table[table.player == "good"].kept == table[table.player == "good"].positions).all()
    assert (table[table.player == "bad"].kept == 0).all()
    assert table.groupby("player").positions.sum().tolist() == [len(positions)] * 2


def test_games_say_from_where_on_they_are_solved() -> None:
    assert solved_from(SMALL) == 0 and solved_from(games.make("othello", size=8)) == 51
    assert solved_from(games.make("connect_four", width=7, height=6)) == 14
    with pytest.raises(ProbZeroError, match="expected a game whose endings can be solved"):
        solved_from(games.make("go", size=5, komi=0, longest=60))
