"""The symmetries of a board: a group, the same on planes, policies and states, and one that Othello's rules respect."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from probzero import games
from probzero.bits import unpack
from probzero.games import symmetry
from probzero.games.base import Game
from probzero.games.random_play import play_by_seed

SIZES = (4, 5, 6, 8)
EVERY = np.arange(8)
INVERSE = (0, 1, 2, 3, 4, 6, 5, 7)  # all are their own inverses but the two quarter turns


def othello(size: int) -> Game:
    return games.make("othello", size=size)


def random_play(size: int, count: int = 40) -> np.ndarray:
    """All unfinished positions of random games."""
    rules = othello(size)
    played = play_by_seed(rules, count, rules.longest_game, seed=size)
    return played.states[:-1][played.action >= 0]


def test_the_eight_turns_of_a_small_board_worked_out_by_hand() -> None:
    board = np.array([[1, 2], [3, 4]])
    turned = [board.ravel()[squares].reshape(2, 2).tolist() for squares in symmetry.sources(2, 2, symmetry.SQUARE)]
    assert turned == [
        [[1, 2], [3, 4]],
        [[2, 1], [4, 3]],
        [[3, 4], [1, 2]],
        [[4, 3], [2, 1]],
        [[1, 3], [2, 4]],
        [[2, 4], [1, 3]],
        [[3, 1], [4, 2]],
        [[4, 2], [3, 1]],
    ]


def test_a_board_with_an_up_and_a_down_is_mirrored_left_to_right_alone() -> None:
    turned = symmetry.sources(2, 3, symmetry.LEFT_RIGHT)
    assert turned.tolist() == [[0, 1, 2, 3, 4, 5], [2, 1, 0, 5, 4, 3]]


@pytest.mark.parametrize("size", SIZES)
def test_the_symmetries_are_a_group(size: int) -> None:
    squares = othello(size).symmetries.squares
    table = {tuple(row): k for k, row in enumerate(squares.tolist())}
    assert len(table) == 8 and tuple(range(size * size)) in table
    products = [[table[tuple(a[b])] for b in squares] for a in squares]
    assert all(sorted(row) == list(EVERY) for row in products)
    assert [row.index(0) for row in products] == list(INVERSE)


@pytest.mark.parametrize("size", SIZES)
def test_the_inverse_brings_everything_back(size: int) -> None:
    rules = othello(size)
    states = np.repeat(random_play(size, count=2), 8, axis=0)
    k = np.resize(EVERY, len(states))
    back = np.array(INVERSE)[k]
    np.testing.assert_array_equal(rules.turn(rules.turn(states, k), back), states)
    for table in rules.symmetries:
        for here, there in enumerate(INVERSE):
            np.testing.assert_array_equal(table[here][table[there]], np.arange(table.shape[1]))


@pytest.mark.parametrize("size", SIZES)
def test_planes_states_policies_and_actions_turn_alike(size: int) -> None:
    rules = othello(size)
    squares, actions = rules.symmetries
    states = random_play(size, count=2)
    k = np.resize(EVERY, len(states))
    planes = rules.encode(states).reshape(len(states), 2, -1)
    turned = np.take_along_axis(planes, squares[k][:, None], axis=2)
    np.testing.assert_array_equal(turned, rules.encode(rules.turn(states, k)).reshape(turned.shape))
    action = np.random.default_rng(1).integers(0, rules.actions, len(states))
    moved = np.take_along_axis(np.eye(rules.actions)[action], actions[k], axis=1).argmax(axis=1)
    np.testing.assert_array_equal(np.argsort(actions, axis=1)[k, action], moved)
    passes, placed = action == size * size, action < size * size
    assert (moved[passes] == size * size).all()
    disc = np.left_shift(1, np.minimum(action, size * size - 1))
    found = unpack(rules.turn(np.stack([disc, disc], axis=1), k), size * size).argmax(-1)
    np.testing.assert_array_equal(found[placed], np.stack([moved, moved], axis=1)[placed])


@pytest.mark.parametrize("size", SIZES)
def test_the_rules_commute_with_every_symmetry(size: int) -> None:
    rules = othello(size)
    states = random_play(size)
    legal = rules.legal(states)
    action = legal.argmax(axis=1)
    for k, sources in enumerate(rules.symmetries.actions):
        every = np.full(len(states), k)
        turned = rules.turn(states, every)
        np.testing.assert_array_equal(rules.legal(turned), legal[:, sources])
        after = rules.play(turned, np.argsort(sources)[action])
        np.testing.assert_array_equal(after, rules.turn(rules.play(states, action), every))


@pytest.mark.parametrize("size", SIZES)
def test_torch_and_numpy_turn_alike(size: int) -> None:
    rules = othello(size)
    states = random_play(size, count=2)
    k = np.resize(EVERY, len(states))
    tensor = torch.from_numpy
    np.testing.assert_array_equal(rules.turn(tensor(states), tensor(k)).numpy(), rules.turn(states, k))
    np.testing.assert_array_equal(rules.canonical(tensor(states)).numpy(), rules.canonical(states))


@pytest.mark.parametrize("size", SIZES)
def test_the_canonical_position_is_one_of_the_eight_and_the_same_for_all(size: int) -> None:
    rules = othello(size)
    states = random_play(size, count=3)
    turned = np.stack([rules.turn(states, np.full(len(states), k)) for k in EVERY])  # [8, n, 2]
    expected = [min(map(tuple, turned[:, row].tolist())) for row in range(len(states))]
    for same in turned:
        assert list(map(tuple, rules.canonical(same).tolist())) == expected


def test_tables_of_symmetries_cannot_be_changed() -> None:
    for table in othello(4).symmetries:
        with pytest.raises(ValueError, match="read-only"):
            table[0, 0] = 1
