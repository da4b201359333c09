"""check_game passes the games we have, and catches one fault of each kind in games that are broken on purpose."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pytest
import torch
from broken_games import ConnectFour4, Othello4, refused

from probzero import games
from probzero.errors import ProbZeroError
from probzero.games.base import Symmetries
from probzero.games.checks import check_game


@pytest.mark.parametrize("size", [4, 5, 6, 8])
def test_othello_is_a_game(size: int) -> None:
    check_game(games.make("othello", size=size))


@pytest.mark.parametrize(("width", "height"), [(7, 6), (4, 4), (5, 4), (1, 1), (4, 1), (1, 6)])
def test_connect_four_is_a_game(width: int, height: int) -> None:
    check_game(games.make("connect_four", width=width, height=height))


@pytest.mark.parametrize(("size", "komi", "longest"), [(2, 0, 9), (3, 0, 14), (5, 2.5, 60), (7, 0, 60)])
def test_go_is_a_game(size: int, komi: float, longest: int) -> None:
    check_game(games.make("go", size=size, komi=komi, longest=longest), count=8)


def test_the_stand_ins_are_games_as_long_as_they_are_whole() -> None:
    check_game(Othello4(), count=8)
    check_game(ConnectFour4(), count=8)


# The registry and the first state.


def test_options_that_the_registry_does_not_know() -> None:
    game = Othello4()
    game.options = {"size": 7}
    with pytest.raises(ProbZeroError, match=r"game\.size: expected one of 4, 5, 6, 8, found 7"):
        check_game(game)


def test_a_name_under_which_the_registry_has_another_game() -> None:
    class Misnamed(ConnectFour4):
        name = "othello"

    game = Misnamed()
    game.options = {"size": 4}
    refused(game, "expected a Othello, as `make` gives, found Misnamed")


def test_a_first_state_that_is_handed_out_twice() -> None:
    class OneStart(Othello4):
        @cached_property
        def first(self) -> np.ndarray:
            return super().start()

        def start(self) -> np.ndarray:
            return self.first

    refused(OneStart(), "expected a fresh array from each `start`")


def test_a_first_state_of_the_wrong_type() -> None:
    class Narrow(Othello4):
        def start(self) -> np.ndarray:
            return super().start().astype(np.int32)

    refused(Narrow(), r"expected int64 \[2\] from `start`, found int32 \[2\]")


def test_a_game_that_is_over_before_it_begins() -> None:
    class Full(ConnectFour4):
        def start(self) -> np.ndarray:
            return self.from_text("xxoo/ooxx/xxoo/ooxx")

    refused(Full(), "expected a legal move in the first state, found none")


# The rules.


def test_more_moves_than_the_bound() -> None:
    game = ConnectFour4()
    game.most_moves = 3
    refused(game, "expected most_moves from 4 to 4, found 3")


def test_a_bound_on_moves_above_the_number_of_actions() -> None:
    game = ConnectFour4()
    game.most_moves = 5
    refused(game, "expected most_moves from 4 to 4, found 5")


def test_ranks_beyond_their_bound() -> None:
    game = ConnectFour4()
    game.ranks = 6
    refused(game, r"expected ranks in 0 … 5, found 0 … \d+")


def test_a_game_longer_than_its_bound() -> None:
    class Short(ConnectFour4):
        longest_game = 6

    refused(Short(), "expected games of at most 6 plies, found a longer one")


def test_a_rank_that_does_not_rise_when_a_player_passes() -> None:
    class Discs(Othello4):
        def rank(self, states: Any, legal: Any) -> Any:
            return self.phase(states)

    refused(Discs(), "expected ranks that rise along every move")


def test_an_end_with_moves_left() -> None:
    class Hasty(ConnectFour4):
        def finished(self, states: Any) -> Any:
            return self.phase(states) > 12

    refused(Hasty(), "finished exactly without a legal move")


def test_an_outcome_that_is_none() -> None:
    class Margins(Othello4):
        def outcome(self, states: Any) -> Any:
            return self.margin(states)

    refused(Margins(), "expected outcomes of −1, 0 or 1")


def test_an_outcome_against_the_margin() -> None:
    class Reversed(Othello4):  # who has fewer discs wins
        def outcome(self, states: Any) -> Any:
            return -super().outcome(states)

    refused(Reversed(), "outcome has the margin's sign: expected")


def test_positions_of_the_game_that_it_refuses_itself() -> None:
    class Small(ConnectFour4):
        def check_states(self, states: np.ndarray) -> None:
            self.full = 0xFF
            super().check_states(states)

    with pytest.raises(ProbZeroError, match=r"illegal position: .*expected discs on the 4×4 board only"):
        check_game(Small(), count=8)


# The symmetries.


def test_a_direction_that_turns_no_discs() -> None:
    class NotDown(Othello4):  # discs below the new one stay as they are
        def play(self, states: Any, actions: Any) -> Any:
            own, opp = states[..., 0], states[..., 1]
            after = super().play(states, actions)
            rows = 16 - 4 * (actions // 4 + 1)  # squares in the rows below
            below = ~(((own & 0) + 1 << 16 - rows) - 1) & 0xFFFF
            column = ((own & 0) + 0x1111) << (actions % 4)
            kept = opp & below & column & after[..., 1] * (actions < 16)
            both = after[..., 0] | kept, after[..., 1] & ~kept
            return torch.stack(both, -1) if isinstance(states, torch.Tensor) else np.stack(both, -1)

    refused(NotDown(), r"play after symmetry \d")


def test_a_move_that_is_legal_on_one_side_alone() -> None:
    class NoFirst(ConnectFour4):  # the first column takes one disc
        def legal(self, states: Any) -> Any:
            legal = super().legal(states)
            legal[..., 0] &= ((states[..., 0] | states[..., 1]) & 1) == 0
            return legal

    refused(NoFirst(), "legal moves after symmetry 1")


def test_an_outcome_that_depends_on_the_side() -> None:
    class Corner(ConnectFour4):  # the second player wins a draw from the left corner
        def outcome(self, states: Any) -> Any:
            outcome = super().outcome(states)
            return outcome - (states[..., 1] & 1) * (outcome == 0)

    refused(Corner(), "outcome after symmetry 1")


def test_symmetries_that_do_not_begin_with_the_identity() -> None:
    game = ConnectFour4()
    game.symmetries = Symmetries(*(table[::-1].copy() for table in game.symmetries))
    refused(game, "the identity as the first symmetry")


def test_symmetries_that_are_no_permutations() -> None:
    game = ConnectFour4()
    game.symmetries = Symmetries(game.symmetries.squares, np.array([[0, 1, 2, 3], [3, 2, 1, 1]]))
    refused(game, r"expected symmetries that are permutations \[S, 4\]")


def test_actions_that_do_not_turn_with_the_board() -> None:
    game = ConnectFour4()
    game.symmetries = Symmetries(game.symmetries.squares, np.array([[0, 1, 2, 3], [0, 1, 2, 3]]))
    refused(game, "(legal moves|play) after symmetry 1")


def test_rows_that_are_all_turned_like_the_first() -> None:
    class First(Othello4):
        def turn(self, states: Any, k: Any) -> Any:
            return super().turn(states, k * 0 + k[0])

    refused(First(), "rows turned each for itself")


def test_a_canonical_form_that_is_not_the_same_for_all_turned_forms() -> None:
    class Itself(Othello4):
        def canonical(self, states: Any) -> Any:
            return states

    refused(Itself(), r"canonical after symmetry \d")


def test_a_canonical_form_that_is_another_position() -> None:
    class Empty(Othello4):
        def canonical(self, states: Any) -> Any:
            return states * 0

    refused(Empty(), "expected canonical to be one of the turned forms")


# Planes, notation and names.


def test_planes_that_cannot_be_read_back() -> None:
    class Swapped(Othello4):
        def encode(self, states: Any) -> Any:
            return super().encode(states[..., [1, 0]])

    refused(Swapped(), "`decode` of `encode`")


def test_planes_that_do_not_turn_with_the_board() -> None:
    class Rolled(Othello4):  # the first row comes last, and is read back from there
        def encode(self, states: Any) -> Any:
            return super().encode(states)[:, :, [1, 2, 3, 0]]

        def decode(self, planes: np.ndarray) -> np.ndarray:
            return super().decode(planes[:, :, [3, 0, 1, 2]])

    refused(Rolled(), "planes of states turned by symmetry [1-7]")


def test_a_notation_that_loses_a_disc() -> None:
    class Loses(Othello4):
        def to_text(self, state: np.ndarray) -> str:
            return super().to_text(state & ~1)

    refused(Loses(), "`from_text` of `to_text`")


def test_a_notation_of_several_lines() -> None:
    class Lines(Othello4):
        def to_text(self, state: np.ndarray) -> str:
            return super().to_text(state).replace("/", "\n")

        def from_text(self, text: str) -> np.ndarray:
            return super().from_text(text.replace("\n", "/"))

    refused(Lines(), "expected a notation of one line")


def test_a_notation_that_takes_anything() -> None:
    class Lenient(Othello4):
        def from_text(self, text: str) -> np.ndarray:
            return super().from_text(text[:19])

    refused(Lenient(), "expected a notation that is none to be refused, found '[x.o/]{19}[?]'")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (lambda action: f"column {action}", "names of moves that are words"),
        (lambda action: "", "names of moves that are words"),
        (lambda action: str(action // 2), "names that tell moves apart"),
    ],
)
def test_names_that_do_not_serve(name: Any, expected: str) -> None:
    class Renamed(ConnectFour4):
        def move_name(self, action: int) -> str:
            return name(action)

    refused(Renamed(), expected)


def test_names_that_take_anything() -> None:
    class Lenient(ConnectFour4):
        def parse_moves(self, names: str, where: object = "text") -> list[int]:
            return [self.actions_by_name.get(name, 0) for name in names.split()]

    refused(Lenient(), "expected a name that no move has to be refused")
