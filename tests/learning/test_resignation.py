"""Resignations in AlphaZero's self-play: worked out on paper, and whole games that keep to them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from alphazero_games import DRAW, LOSS, RULES, WIN, configured, played_in_order, replayed, rows_of, settings, shard
from sealed import wide

from probzero.errors import ProbZeroError
from probzero.learning.resignation import Resignation
from probzero.learning.selfplay import Shard
from probzero.random_keys import key

pytestmark = pytest.mark.usefixtures("one_thread")


def keys(count: int) -> torch.Tensor:
    return torch.tensor([key("resignation", game) for game in range(count)])


def rows(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def test_the_player_to_move_resigns_below_the_threshold_and_not_at_it() -> None:
    resignation = Resignation(settings(resign_below=-0.5, play_on=0.0), keys(5))
    ends = resignation.now(torch.tensor([4, 0, 2]), rows(-0.6, -0.5, 0.9), 0)
    assert ends.tolist() == [True, False, False]
    assert resignation.resigned.tolist() == [False, False, False, False, True]
    assert resignation.now(torch.tensor([0, 2]), rows(0.5, -0.51), 1).tolist() == [False, True]
    assert resignation.metrics(torch.tensor([1, 1, 1, -1, -1])) == {
        "resigned": 2,
        "resignations_checked": 0,  # nobody played on, so nobody knows
        "false_resignations": 0,
    }


def test_in_games_that_are_played_on_nobody_resigns_but_who_would_have_is_remembered() -> None:
    resignation = Resignation(settings(resign_below=-0.5, play_on=1.0), keys(6))
    everybody = torch.arange(6)
    # Games 0, 3 and 5: the first player would have; games 1 and 2: the second; game 4: nobody.
    assert not resignation.now(everybody, rows(-0.6, 0, 0, -0.7, 0, -0.9), 0).any()
    assert not resignation.now(everybody, rows(0, -0.8, -0.9, 0, 0, -0.9), 1).any()
    assert not resignation.now(everybody, rows(0, -0.8, 0, 0, 0, 0), 2).any()
    assert resignation.would.tolist() == [0, 1, 1, 0, -1, 0] and not resignation.resigned.any()
    # Seen by the first player: 0 lost as foreseen; in 1 the second player won in spite of it; in 2 it lost; 3 was
    # drawn; in 5 the first player, who was hopeless first, won.
    assert resignation.metrics(torch.tensor([-1, -1, 1, 0, 1, 1])) == {
        "resigned": 0,
        "resignations_checked": 5,
        "false_resignations": 3,
    }


def test_the_share_of_games_played_on_is_chosen_by_their_keys() -> None:
    many = keys(4000)
    resignation = Resignation(settings(resign_below=-0.5, play_on=0.25), many)
    ends = resignation.now(torch.arange(4000), torch.full((4000,), -0.9), 3)
    assert float((~ends).double().mean()) == pytest.approx(0.25, abs=0.03)
    alone = Resignation(settings(resign_below=-0.5, play_on=0.25), many[:7])
    assert alone.now(torch.arange(7), torch.full((7,), -0.9), 3).tolist() == ends[:7].tolist()
    metrics = resignation.metrics(-torch.ones(4000, dtype=torch.int64))
    assert metrics["resigned"] + metrics["resignations_checked"] == 4000
    assert metrics["false_resignations"] == metrics["resignations_checked"]  # ply 3 is the second player's, who won


def test_false_resignations_are_those_of_games_played_on_alone() -> None:
    resignation = Resignation(settings(resign_below=-0.5, play_on=0.5), keys(40))
    resignation.now(torch.arange(40), torch.full((40,), -0.9), 0)
    on = int(resignation.plays_on.sum())
    assert 0 < on < 40
    wrong = resignation.metrics(torch.ones(40, dtype=torch.int64))  # every first player would have won
    assert wrong == {"resigned": 40 - on, "resignations_checked": on, "false_resignations": on}
    assert resignation.metrics(-torch.ones(40, dtype=torch.int64))["false_resignations"] == 0


def test_a_threshold_of_minus_one_is_never_fallen_short_of() -> None:
    resignation = Resignation(settings(resign_below=-1.0, play_on=0.0), keys(3))
    assert not resignation.now(torch.arange(3), rows(-1.0, -0.999, 1.0), 0).any()
    assert resignation.would.tolist() == [-1, -1, -1]


@pytest.fixture(scope="module")
def resigning() -> Shard:
    """Games in which players give up early, half of them played on."""
    return shard(configured(resign_below=-0.1, play_on=0.5))


def test_a_shard_has_a_sample_for_every_move_played(resigning: Shard) -> None:
    metrics = resigning.metrics
    assert metrics["samples"] == metrics["moves"] == len(resigning.samples) == resigning.games.plies.sum()
    policy, mask = wide(resigning.samples, RULES)
    for row, (_, _, board, move) in enumerate(played_in_order(resigning)):
        assert tuple(resigning.samples.states[row].tolist()) == board.bitboards()
        assert np.flatnonzero(mask[row]).tolist() == board.legal_moves()
        visits = policy[row]
        assert visits[move] > 0 and visits.sum() == pytest.approx(1)


def test_a_resigned_game_stops_early_and_the_player_to_move_has_lost(resigning: Shard) -> None:
    given_up = 0
    for row, game in zip(rows_of(resigning), replayed(resigning), strict=True):
        last = game[-1][0]
        black_to_move = (len(row.opening_moves.split()) + row.plies) % 2 == 0
        assert row.margin == (last.margin() if black_to_move else -last.margin())
        if row.resigned:
            given_up += 1
            assert last.legal_moves(), "the game could have gone on"
            assert row.result == (-1 if black_to_move else 1)
        else:
            assert not last.legal_moves() and row.result == np.sign(row.margin)
    assert 0 < given_up < len(resigning.games)
    metrics = resigning.metrics
    assert given_up == metrics["resigned"] and metrics["first_wins"] == (resigning.games.result > 0).sum()
    assert 0 <= metrics["false_resignations"] <= metrics["resignations_checked"] <= len(resigning.games) - given_up


def test_outcomes_in_the_samples_are_those_of_the_games_resigned_ones_among_them(resigning: Shard) -> None:
    for row, (game, ply, _, _) in enumerate(played_in_order(resigning)):
        record = rows_of(resigning)[game]
        black_to_move = (len(record.opening_moves.split()) + ply) % 2 == 0
        result = record.result if black_to_move else -record.result
        assert resigning.samples.value[row].tolist() == {1: WIN, 0: DRAW, -1: LOSS}[int(result)]


def test_a_game_ends_where_its_root_value_first_falls_short(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[list[int], list[float]]] = []
    plain = Resignation.now

    def listening(self: Resignation, games: torch.Tensor, value: torch.Tensor, ply: int) -> torch.Tensor:
        said.append((games.tolist(), value.tolist()))
        return plain(self, games, value, ply)

    monkeypatch.setattr(Resignation, "now", listening)
    found = shard(configured(games=6, resign_below=-0.1, play_on=0.0))
    assert found.metrics["resigned"] > 0
    for row in rows_of(found):
        heard = [value[games.index(row.game)] for games, value in said if row.game in games]
        short = [ply for ply, value in enumerate(heard) if value < -0.1]
        assert short == ([row.plies] if row.resigned else [])


def test_games_that_all_end_before_a_move_are_refused() -> None:
    with pytest.raises(ProbZeroError, match=r"selfplay\.resign_below: expected a value that lets games be played"):
        shard(configured(games=2, resign_below=1.0, play_on=0.0))


@pytest.mark.parametrize("algorithm", ["puct", "particle"])
def test_without_a_threshold_every_game_is_played_to_its_end(algorithm: str) -> None:
    search = {"algorithm": algorithm}
    targets = {"value": "search"}
    found = shard(configured(search, targets, games=4, resign_below=-1.0, play_on=0.0))
    assert not found.games.resigned.any()
    assert (found.metrics["resigned"], found.metrics["resignations_checked"]) == (0, 0)
    assert not any(game[-1][0].legal_moves() for game in replayed(found))
