"""The targets of AlphaZero's self-play, worked out on paper."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from alphazero_games import DRAW, LOSS, RULES, WIN
from oracles.slow_othello import SlowOthello
from sealed import MADE, wide
from searching import searching

from probzero.config import Targets
from probzero.learning.dataset import Samples, read_samples, write_samples
from probzero.learning.played_moves import PlayedMoves
from probzero.learning.record import Position
from probzero.search.move_choice import Moves

pytestmark = pytest.mark.usefixtures("one_thread")

VALUES = {0: [0.2, -0.4, 0.6, -0.8], 1: [0.5, 0.1]}  # the root's, ply by ply, of a game of four plies and one of two
VISITS = [3.0, 1.0, 0.0]


class Place(NamedTuple):
    own: int
    opp: int
    legal: list[int]


def first_positions(plies: int) -> list[Place]:
    """The positions of a game in which everybody plays the first move that leaves the other a choice of three."""
    board, found = SlowOthello.from_bitboards(5, *RULES.start().tolist()), []
    for _ in range(plies):
        found.append(Place(*board.bitboards(), board.legal_moves()))
        board = next(after for move in board.legal_moves() if len((after := board.after(move)).legal_moves()) >= 3)
    return found


def noted() -> PlayedMoves:
    """Both games as self-play notes them; they begin alike, and the second comes first."""
    moves = PlayedMoves(searching(rules=RULES))
    for ply, position in enumerate(first_positions(4)):
        games = [game for game in (1, 0) if ply < len(VALUES[game])]
        action = torch.tensor([[*position.legal[:3], 0]]).expand(len(games), -1)  # the last column is padding
        weight = torch.tensor([[*VISITS, 0.0]], dtype=torch.float64).expand(len(games), -1)
        states = torch.tensor([position[:2]]).expand(len(games), -1)
        value = torch.tensor([VALUES[game][ply] for game in games], dtype=torch.float64)
        roots = torch.zeros(len(games), dtype=torch.int64)  # nodes, of no use here
        moves.note(Position(torch.tensor(games), states, roots, Moves(action, weight > 0, weight), value))
    return moves


def samples(settings: Targets, result: tuple[int, int] = (1, -1)) -> Samples:
    """Samples of both games; results are those of the players who moved first."""
    return noted().samples(torch.tensor(result), settings)


def values_of(settings: Targets, game: int, result: tuple[int, int] = (1, -1)) -> list[list[float]]:
    """The value targets of one game, ply by ply."""
    rows = [[1, 3, 4, 5], [0, 2]][game]  # noted as game 1, 0 at ply 0 and at ply 1, then game 0 alone
    return samples(settings, result).value[rows].tolist()


def close(found: list[list[float]], expected: list[list[float]]) -> bool:
    return np.allclose(found, expected, atol=1e-6)


def test_the_outcome_is_seen_by_the_player_to_move() -> None:
    outcome = Targets(value="outcome")
    assert values_of(outcome, 0) == [WIN, LOSS, WIN, LOSS]
    assert values_of(outcome, 1) == [LOSS, WIN]
    assert values_of(outcome, 0, (0, 1)) == [DRAW] * 4
    assert values_of(outcome, 1, (0, 1)) == [WIN, LOSS]


def test_the_value_of_the_search_is_a_triple_without_draws() -> None:
    search = Targets(value="search")
    assert close(values_of(search, 0), [[0.6, 0, 0.4], [0.3, 0, 0.7], [0.8, 0, 0.2], [0.1, 0, 0.9]])
    assert close(values_of(search, 1), [[0.75, 0, 0.25], [0.55, 0, 0.45]])


def test_outcome_and_search_are_mixed_by_the_share_of_the_root() -> None:
    mixed = Targets(value="mixed", root_share=0.25)
    assert close(values_of(mixed, 0), [[0.9, 0, 0.1], [0.075, 0, 0.925], [0.95, 0, 0.05], [0.025, 0, 0.975]])
    assert close(values_of(mixed, 0, (0, 1))[:1], [[0.15, 0.75, 0.1]])
    assert close(values_of(Targets(value="mixed", root_share=0.0), 0), [WIN, LOSS, WIN, LOSS])
    assert values_of(Targets(value="mixed", root_share=1.0), 0) == values_of(Targets(value="search"), 0)


def test_one_step_ahead_the_other_player_speaks() -> None:
    steps = Targets(value="steps", steps=1)
    assert close(values_of(steps, 0), [[0.7, 0, 0.3], [0.2, 0, 0.8], [0.9, 0, 0.1], LOSS])
    assert close(values_of(steps, 1), [[0.45, 0, 0.55], WIN])


def test_two_steps_ahead_the_same_player_speaks() -> None:
    steps = Targets(value="steps", steps=2)
    assert close(values_of(steps, 0), [[0.8, 0, 0.2], [0.1, 0, 0.9], WIN, LOSS])
    assert values_of(steps, 1) == [LOSS, WIN]  # it ends before


def test_three_steps_ahead_only_the_first_position_has_a_root_to_ask() -> None:
    assert close(values_of(Targets(value="steps", steps=3), 0), [[0.9, 0, 0.1], LOSS, WIN, LOSS])


@pytest.mark.parametrize("steps", [4, 5, 200])
def test_beyond_the_end_of_the_game_there_is_only_its_outcome(steps: int) -> None:
    assert values_of(Targets(value="steps", steps=steps), 0, (0, 1)) == [DRAW] * 4


def test_policies_are_shares_of_visits_over_all_legal_moves() -> None:
    policy, mask = wide(samples(Targets(value="outcome")), RULES)
    for row, ply in zip([1, 3, 4, 5], range(4), strict=True):
        legal = first_positions(4)[ply].legal
        assert len(legal) >= 3
        expected = np.zeros(26)
        expected[legal[:3]] = [0.75, 0.25, 0]
        assert policy[row].tolist() == pytest.approx(expected.tolist())
        assert np.flatnonzero(mask[row]).tolist() == legal


def test_every_position_played_is_a_sample_of_its_own(tmp_path: Path) -> None:
    found = samples(Targets(value="mixed"))
    assert len(found) == 6
    assert found.states[0].tolist() == found.states[1].tolist()
    assert found.states[2].tolist() == found.states[3].tolist()
    for row, ply in zip([1, 3, 4, 5], range(4), strict=True):
        own, opp, _ = first_positions(4)[ply]
        assert found.states[row].tolist() == [own, opp]
    assert found.weight.tolist() == [1] * 6 and not found.valid.any() and not found.reward.any()
    write_samples(tmp_path / "played.safetensors", found, RULES, MADE)
    assert len(read_samples(tmp_path / "played.safetensors", RULES)) == 6


def test_a_root_value_a_hair_beyond_a_win_is_a_win() -> None:
    moves = noted()
    beyond = torch.tensor([1 + 1e-9, -1 - 1e-9], dtype=torch.float64)
    moves.played[0] = moves.played[0]._replace(value=beyond)
    found = moves.samples(torch.tensor([1, -1]), Targets(value="search"))
    assert found.value[:2].tolist() == [WIN, LOSS] and (found.value >= 0).all()


def test_positions_with_too_few_moves_tried_are_no_samples_of_anybody() -> None:
    found = noted()
    forced = found.played[0].moves
    found.played[0] = found.played[0]._replace(moves=forced._replace(tried=forced.weight > 1))  # one move of each
    result = torch.tensor([1, -1])
    assert len(found.samples(result, Targets(value="outcome"))) == 6
    kept = found.samples(result, Targets(value="outcome", least_moves=2))
    whole = samples(Targets(value="outcome"))
    assert kept.states.tolist() == whole.states[2:].tolist() and kept.value.tolist() == whole.value[2:].tolist()
