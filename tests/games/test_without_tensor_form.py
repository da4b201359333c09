"""A game without tensor form is played on a processor like any other."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from searching import play_games, searching

from probzero import games
from probzero.games.othello import Othello
from probzero.games.random_play import play_by_seed


class ArraysAlone(Othello):
    """Othello, whose functions refuse tensors."""

    tensor_form = False

    def legal(self, states: Any) -> Any:
        return super().legal(_array(states))

    def play(self, states: Any, actions: Any) -> Any:
        return super().play(_array(states), _array(actions))

    def encode(self, states: Any) -> Any:
        return super().encode(_array(states))

    def outcome(self, states: Any) -> Any:
        return super().outcome(_array(states))


def _array(given: Any) -> np.ndarray:
    assert isinstance(given, np.ndarray), "the game has no tensor form"
    return given


def test_tensors_of_a_processor_give_the_tensors_that_arrays_would() -> None:
    game, other = ArraysAlone(4), games.make("othello", size=4)
    played = play_by_seed(other, 20, 6, seed=3)
    states, actions = torch.from_numpy(played.states[-2]), torch.from_numpy(played.action[-1])
    assert torch.equal(game.legal(states), other.legal(states))
    assert torch.equal(game.play(states, actions), other.play(states, actions))
    assert torch.equal(game.encode(states), other.encode(states)) and game.encode(states).dtype == torch.float32
    assert torch.equal(game.outcome(states), other.outcome(states))
    np.testing.assert_array_equal(game.legal(played.states[-2]), other.legal(played.states[-2]))


def test_whole_games_are_searched_as_those_of_any_other_game() -> None:
    alone, other = (searching(games=3, rules=rules) for rules in (ArraysAlone(4), games.make("othello", size=4)))
    assert play_games(alone, 20, 4, 3) == play_games(other, 20, 4, 3)
