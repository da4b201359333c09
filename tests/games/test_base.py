"""What games share: lists of moves and games of random moves."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from probzero import games
from probzero.errors import ProbZeroError
from probzero.games.base import list_moves
from probzero.games.random_play import play_by_seed

LEGAL = np.array(
    [
        [False, True, False, True, True],
        [True, False, False, False, False],
        [False, False, False, False, True],
        [False, False, False, False, False],
    ]
)


@pytest.mark.parametrize("convert", [np.asarray, torch.tensor], ids=["numpy", "torch"])
def test_legal_moves_are_listed_by_rising_action_and_filled_up_with_the_first(convert) -> None:
    assert list_moves(convert(LEGAL), 3).tolist() == [[1, 3, 4], [0, 0, 0], [4, 4, 4], [0, 0, 0]]
    assert list_moves(convert(LEGAL), 5).tolist()[0] == [1, 3, 4, 1, 1]
    assert list_moves(convert(LEGAL[:0]), 3).shape == (0, 3)


def test_random_games_stay_where_they_end() -> None:
    game = games.make("connect_four", width=4, height=4)
    played = play_by_seed(game, games=20, plies=game.longest_game, seed=1)
    assert played.states.shape == (17, 20, 2) and played.action.shape == (16, 20)
    for states, action, after in zip(played.states, played.action, played.states[1:], strict=False):
        legal = game.legal(states)
        going = action >= 0
        np.testing.assert_array_equal(going, legal.any(1))
        assert legal[going, action[going]].all()
        np.testing.assert_array_equal(after[going], game.play(states[going], action[going]))
        np.testing.assert_array_equal(after[~going], states[~going])


def test_random_games_differ_from_each_other_and_repeat_with_their_seed() -> None:
    game = games.make("othello", size=4)
    once, again, other = (play_by_seed(game, 20, 10, seed).action for seed in (1, 1, 2))
    assert np.array_equal(once, again) and not np.array_equal(once, other)
    assert len(np.unique(once, axis=1).T) > 10


def test_a_game_without_a_margin_says_so() -> None:
    game = games.make("connect_four", width=4, height=4)
    with pytest.raises(ProbZeroError, match="expected one that is won by a margin"):
        game.margin(game.start()[None])


def test_an_unknown_game_is_refused() -> None:
    with pytest.raises(ProbZeroError, match=r"game\.name: expected one of .*chess.*, found 'draughts'"):
        games.make("draughts", size=9)
