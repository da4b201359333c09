"""The eight symmetries: a group, the same on planes, policies and bitboards, and one that Othello's rules respect."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from probzero.games import symmetry
from probzero.games.bits import unpack
from probzero.games.othello import SIZES, othello

EVERY = np.arange(symmetry.COUNT)


def random_play(size: int, games: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """All unfinished positions of random games, (own, opp)."""
    rules, draws = othello(size), np.random.default_rng(size)
    own, opp = (np.full(games, word, dtype=np.int64) for word in rules.start())
    met = []
    while len(own):
        met.append((own, opp))
        action = np.where(legal := rules.legal(own, opp), draws.random(legal.shape), -1.0).argmax(axis=1)
        own, opp = rules.place(own, opp, action)
        going = ~rules.terminal(own, opp)
        own, opp = own[going], opp[going]
    return np.concatenate([own for own, _ in met]), np.concatenate([opp for _, opp in met])


def test_the_eight_turns_of_a_small_board_worked_out_by_hand() -> None:
    board = np.array([[1, 2], [3, 4]])
    turned = [board.ravel()[symmetry.sources(2)[k]].reshape(2, 2).tolist() for k in EVERY]
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


@pytest.mark.parametrize("size", SIZES)
def test_the_symmetries_are_a_group(size: int) -> None:
    table = {tuple(row): k for k, row in enumerate(symmetry.sources(size).tolist())}
    assert len(table) == 8 and tuple(range(size * size)) in table
    products = [[table[tuple(a[b])] for b in symmetry.sources(size)] for a in symmetry.sources(size)]
    assert all(sorted(row) == list(EVERY) for row in products)
    assert [row.index(0) for row in products] == list(symmetry.INVERSE)


@pytest.mark.parametrize("size", SIZES)
def test_the_inverse_brings_everything_back(size: int) -> None:
    own, opp = random_play(size, games=2)
    own, opp = np.repeat(own, 8), np.repeat(opp, 8)
    k = np.resize(EVERY, len(own))
    back = np.array(symmetry.INVERSE)[k]
    planes = othello(size).encode(own, opp)
    policies = np.random.default_rng(0).random((len(own), size * size + 1))
    np.testing.assert_array_equal(symmetry.turn_bitboards(size, symmetry.turn_bitboards(size, own, k), back), own)
    np.testing.assert_array_equal(symmetry.turn_planes(size, symmetry.turn_planes(size, planes, k), back), planes)
    np.testing.assert_array_equal(
        symmetry.turn_policies(size, symmetry.turn_policies(size, policies, k), back), policies
    )


@pytest.mark.parametrize("size", SIZES)
def test_planes_bitboards_policies_and_actions_turn_alike(size: int) -> None:
    rules = othello(size)
    own, opp = random_play(size, games=2)
    k = np.resize(EVERY, len(own))
    turned_own, turned_opp = symmetry.turn_bitboards(size, own, k), symmetry.turn_bitboards(size, opp, k)
    turned = rules.encode(turned_own, turned_opp)
    np.testing.assert_array_equal(symmetry.turn_planes(size, rules.encode(own, opp), k), turned)
    flat = symmetry.turn_planes(size, rules.encode(own, opp).reshape(len(own), -1), k)
    np.testing.assert_array_equal(flat, turned.reshape(len(own), -1))
    action = np.random.default_rng(1).integers(0, rules.actions, len(own))
    one_hot = np.eye(rules.actions)[action]
    moved = symmetry.turn_policies(size, one_hot, k).argmax(axis=1)
    np.testing.assert_array_equal(symmetry.turn_actions(size, action, k), moved)
    assert (moved[action == rules.pass_action] == rules.pass_action).all()
    disc = np.left_shift(1, np.minimum(action, rules.squares - 1))
    placed = action < rules.squares
    np.testing.assert_array_equal(
        unpack(symmetry.turn_bitboards(size, disc, k), rules.squares).argmax(1)[placed], moved[placed]
    )


@pytest.mark.parametrize("size", SIZES)
def test_the_rules_commute_with_every_symmetry(size: int) -> None:
    rules = othello(size)
    own, opp = random_play(size)
    for k in np.split(np.repeat(EVERY, len(own)), 8):
        turned = symmetry.turn_bitboards(size, own, k), symmetry.turn_bitboards(size, opp, k)
        legal = rules.legal(own, opp)
        np.testing.assert_array_equal(rules.legal(*turned), symmetry.turn_policies(size, legal, k))
        action = legal.argmax(axis=1)
        after = rules.place(*turned, symmetry.turn_actions(size, action, k))
        for found, expected in zip(after, rules.place(own, opp, action), strict=True):
            np.testing.assert_array_equal(found, symmetry.turn_bitboards(size, expected, k))


@pytest.mark.parametrize("size", SIZES)
def test_torch_and_numpy_turn_alike(size: int) -> None:
    own, opp = random_play(size, games=2)
    k = np.resize(EVERY, len(own))
    planes = othello(size).encode(own, opp)
    policies = np.random.default_rng(0).random((len(own), size * size + 1))
    action = policies.argmax(axis=1)
    tensor = torch.from_numpy
    for turn, values in (
        (symmetry.turn_bitboards, own),
        (symmetry.turn_planes, planes),
        (symmetry.turn_policies, policies),
        (symmetry.turn_actions, action),
    ):
        np.testing.assert_array_equal(turn(size, tensor(values), tensor(k)).numpy(), turn(size, values, k))
    found = symmetry.canonical_bitboards(size, tensor(own), tensor(opp))
    for here, there in zip(found, symmetry.canonical_bitboards(size, own, opp), strict=True):
        np.testing.assert_array_equal(here.numpy(), there)


@pytest.mark.parametrize("size", SIZES)
def test_the_canonical_position_is_one_of_the_eight_and_the_same_for_all(size: int) -> None:
    own, opp = random_play(size, games=3)
    turned = np.stack(
        [
            [symmetry.turn_bitboards(size, own, k), symmetry.turn_bitboards(size, opp, k)]
            for k in np.split(np.repeat(EVERY, len(own)), 8)
        ]
    )  # [8, 2, n]
    expected = [min(map(tuple, turned[:, :, row].tolist())) for row in range(len(own))]
    for pair in turned:
        assert list(map(tuple, np.stack(symmetry.canonical_bitboards(size, *pair), axis=1).tolist())) == expected
