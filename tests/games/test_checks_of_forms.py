"""check_game catches a form of a game that differs from the array form, or answers with the wrong type."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from broken_games import ConnectFour4, Othello4, compiled_from_arrays, refused

from probzero.games.base import Game
from probzero.games.checks import check_game


def test_an_answer_of_the_wrong_type() -> None:
    class Doubles(Othello4):
        def encode(self, states: Any) -> Any:
            planes = super().encode(states)
            return planes.double() if isinstance(planes, torch.Tensor) else planes.astype(np.float64)

    refused(Doubles(), r"expected float32 \[\d+, 2, 4, 4\] from `encode`, found float64")


def test_an_answer_of_the_wrong_shape() -> None:
    class Flat(Othello4):
        def encode(self, states: Any) -> Any:
            return super().encode(states).reshape(len(states), 2, -1)

    refused(Flat(), r"expected float32 \[\d+, 2, 4, 4\] from `encode`, found float32 \[\d+, 2, 16\]")


def test_a_function_that_changes_its_arguments() -> None:
    class InPlace(ConnectFour4):
        def canonical(self, states: Any) -> Any:
            states[:] = super().canonical(states)
            return states

    refused(InPlace(), "expected arguments that `canonical` leaves alone")


def test_a_tensor_form_that_differs() -> None:
    class OnTensors(ConnectFour4):
        def outcome(self, states: Any) -> Any:
            outcome = super().outcome(states)
            return -outcome if isinstance(states, torch.Tensor) else outcome

    refused(OnTensors(), "tensor form of `outcome` as the array form: expected -1, found 1")


def test_a_tensor_form_that_gives_arrays() -> None:
    class Arrays(ConnectFour4):
        def canonical(self, states: Any) -> Any:
            return np.asarray(super().canonical(states))

    refused(Arrays(), "expected torch.int64 from `canonical` of tensors, found int64")


def test_a_game_may_lack_the_tensor_form() -> None:
    class ArraysAlone(ConnectFour4):
        tensor_form = False

        def legal(self, states: Any) -> Any:
            assert isinstance(states, np.ndarray)
            return super().legal(states)

    check_game(ArraysAlone(), count=8)


def with_compiled(**broken: Any) -> Game:
    """Connect Four with parts of its compiled form replaced."""
    game = ConnectFour4()
    vars(game)["rules"] = SimpleNamespace(**(vars(compiled_from_arrays(game)) | broken))
    return game


@pytest.mark.parametrize("constant", ["WORDS", "MOVES", "ACTIONS"])
def test_constants_of_the_compiled_form_that_differ(constant: str) -> None:
    refused(with_compiled(**{constant: 5}), r"expected compiled WORDS, MOVES, ACTIONS \(2, 4, 4\)")


def test_compiled_moves_that_do_not_rise() -> None:
    rules = compiled_from_arrays(ConnectFour4())

    def legal(state: np.ndarray, moves: np.ndarray) -> int:
        count = rules.legal(state, moves)
        moves[:count] = moves[:count][::-1].copy()
        return count

    refused(with_compiled(legal=legal), r"expected compiled legal moves, by rising action, \[")


def test_compiled_legal_moves_that_differ() -> None:
    rules = compiled_from_arrays(ConnectFour4())
    without_the_last = with_compiled(legal=lambda state, moves: max(rules.legal(state, moves) - 1, 0))
    refused(without_the_last, r"expected compiled legal moves, by rising action, \[")


def test_a_compiled_play_that_differs() -> None:
    def play(state: np.ndarray, move: int, out: np.ndarray) -> None:
        out[:] = state[1], state[0]

    refused(with_compiled(play=play), "compiled play as the array form")


def test_a_compiled_play_that_reads_what_it_has_overwritten() -> None:
    rules = compiled_from_arrays(ConnectFour4())

    def play(state: np.ndarray, move: int, out: np.ndarray) -> None:
        after = out.copy()
        rules.play(state, move, after)
        out[0] = after[0]
        out[1] = after[1] | state[0]  # if out is state, these are the opponent's discs

    refused(with_compiled(play=play), "expected compiled play into its own state as into another")


def test_a_compiled_form_that_changes_the_state() -> None:
    rules = compiled_from_arrays(ConnectFour4())

    def rank(state: np.ndarray, moves: np.ndarray, count: int) -> int:
        found = rules.rank(state, moves, count)
        state[:] = state[::-1].copy() if count == 0 else state
        return found

    refused(with_compiled(rank=rank), "expected states that the compiled form leaves alone")


def test_a_compiled_rank_that_differs() -> None:
    refused(with_compiled(rank=lambda state, moves, count: 3), r"expected compiled rank \d+, found 3")


def test_a_compiled_outcome_that_differs() -> None:
    refused(with_compiled(outcome=lambda state: 0), "compiled outcome as the array form: expected -1, found 0")
