"""Sample files: what is written is read again, what is damaged is refused by name; merging worked out by hand."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from probzero import games
from probzero.errors import ProbZeroError
from probzero.games.base import Game
from probzero.learning.dataset import Samples, concatenate, merge, read_samples, write_samples

SQUARE = [games.make("othello", size=size) for size in (4, 5, 6, 8)]
OBLONG = [games.make("connect_four", width=width, height=height) for width, height in ((5, 4), (7, 6))]
FOUR, FIVE, SIX, EIGHT = SQUARE

every_game = pytest.mark.parametrize("game", SQUARE + OBLONG, ids=lambda game: game.identity)


def invented(game: Game, count: int, seed: int = 0, boards: int | None = None) -> Samples:
    """Random but proper samples; `boards` limits how many different positions there are."""
    draws = np.random.default_rng(seed)
    squares, actions = game.shape.squares, game.actions
    discs = draws.integers(0, 3, (boards or count, squares))[draws.integers(0, boards or count, count)]
    mask = draws.random((count, actions)) < 0.3
    mask[np.arange(count), draws.integers(0, actions, count)] = True
    policy = draws.random((count, actions)) * mask
    value, reward = draws.random((2, count, 3))
    valid = draws.random(count) < 0.6
    bits = np.left_shift(np.uint64(1), np.arange(squares, dtype=np.uint64))
    states = np.stack([((discs == side) * bits).sum(1, dtype=np.uint64) for side in (1, 2)], axis=1).view(np.int64)
    columns = (
        policy / policy.sum(axis=1, keepdims=True),
        mask,
        value / value.sum(axis=1, keepdims=True),
        reward / reward.sum(axis=1, keepdims=True) * valid[:, None],
        valid,
        draws.integers(1, 50, count),
    )
    return Samples(states, *(column.astype(np.float32) for column in columns))


def same(first: Samples, second: Samples) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(first.columns(), second.columns(), strict=True))


def slow_merge(samples: Samples) -> dict[bytes, tuple[np.ndarray, ...]]:
    """Equal positions merged one sample and one move at a time; all fields but the state, by state."""
    merged = {}
    for key in {state.tobytes() for state in samples.states}:
        rows = [row for row in range(len(samples)) if samples.states[row].tobytes() == key]
        weight = {row: float(samples.weight[row]) for row in rows}
        policy, mask = np.zeros(samples.policy.shape[1]), np.zeros(samples.policy.shape[1])
        for move in range(len(policy)):
            tried = [row for row in rows if samples.mask[row, move]]
            if tried:
                mask[move] = 1
                policy[move] = sum(weight[row] * samples.policy[row, move] for row in tried)
                policy[move] /= sum(weight[row] for row in tried)
        value = sum(weight[row] * samples.value[row].astype(float) for row in rows) / sum(weight.values())
        reward, valid = np.zeros(3), [row for row in rows if samples.valid[row]]
        if valid:
            reward = sum(weight[row] * samples.reward[row].astype(float) for row in valid)
            reward /= sum(weight[row] for row in valid)
        merged[key] = (policy / policy.sum(), mask, value, reward, float(bool(valid)), sum(weight.values()))
    return merged


@every_game
def test_samples_survive_the_file(game: Game, tmp_path: Path) -> None:
    samples = invented(game, 37)
    write_samples(tmp_path / "a.bin", samples, game)
    assert same(read_samples(tmp_path / "a.bin", game), samples)


def planes(game: Game, state: np.ndarray) -> list[float]:
    """The squares of own discs, then those of opposing ones, one by one."""
    return [float(int(word) >> square & 1) for word in state for square in range(game.shape.squares)]


@pytest.mark.parametrize(
    ("game", "length"),
    [(FIVE, 110), (EIGHT, 266), (OBLONG[0], 58), (OBLONG[1], 106)],
    ids=["5×5", "8×8", "5×4", "7×6"],
)
def test_a_sample_is_so_many_floats_after_a_count_110_of_the_headline_game(
    game: Game, length: int, tmp_path: Path
) -> None:
    samples = invented(game, 2)
    write_samples(tmp_path / "a.bin", samples, game)
    data = (tmp_path / "a.bin").read_bytes()
    assert struct.unpack_from("<i", data) == (2,)
    numbers = struct.unpack_from(f"<{2 * length}f", data, 4)
    assert len(data) == 4 + 2 * length * 4
    expected = [
        number
        for row in range(2)
        for column in (planes(game, samples.states[row]), *(column[row] for column in samples.columns()[1:]))
        for number in np.atleast_1d(column)
    ]
    assert list(numbers) == expected


def test_an_empty_file_of_samples_is_proper(tmp_path: Path) -> None:
    nothing = invented(FIVE, 3).take(np.arange(0))
    write_samples(tmp_path / "a.bin", nothing, FIVE)
    assert (tmp_path / "a.bin").read_bytes() == bytes(4)
    assert len(read_samples(tmp_path / "a.bin", FIVE)) == 0
    assert len(merge([nothing])) == 0


def rewrite(path: Path, change: Callable[[bytes], bytes]) -> Path:
    write_samples(path, invented(FIVE, 4), FIVE)
    path.write_bytes(change(path.read_bytes()))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-1], "expected 1764 bytes for 4 samples of othello-size5, found 1763 bytes"),
        (lambda data: data[:-440], "expected 1764 bytes for 4 samples of othello-size5, found 1324 bytes"),
        (lambda data: data + b"x", "expected 1764 bytes for 4 samples of othello-size5, found 1765 bytes"),
        (lambda data: struct.pack("<i", 5) + data[4:], "expected 2204 bytes for 5 samples"),
        (lambda data: struct.pack("<i", -1) + data[4:], "expected a sample count ≥ 0, found -1"),
        (lambda data: data[:3], "expected a sample count of 4 bytes, found 3 bytes"),
        (lambda data: b"", "found 0 bytes"),
    ],
)
def test_a_file_of_the_wrong_length_is_refused(change: Callable[[bytes], bytes], message: str, tmp_path: Path) -> None:
    path = rewrite(tmp_path / "a.bin", change)
    with pytest.raises(ProbZeroError, match=message) as refusal:
        read_samples(path, FIVE)
    assert str(path) in str(refusal.value) and "\n" not in str(refusal.value)


def test_a_file_of_another_board_size_is_refused(tmp_path: Path) -> None:
    write_samples(tmp_path / "a.bin", invented(SIX, 4), SIX)
    with pytest.raises(ProbZeroError, match="bytes for 4 samples of othello-size5"):
        read_samples(tmp_path / "a.bin", FIVE)


@pytest.mark.parametrize("name", ["missing.bin", "."])
def test_what_is_not_a_file_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ProbZeroError, match="expected a file, found nothing"):
        read_samples(tmp_path / name, FIVE)


COLUMN = {"planes": 0, "policy": 50, "mask": 76, "value": 102, "reward": 105, "valid": 108, "weight": 109}


@pytest.mark.parametrize(
    ("field", "numbers", "message"),
    [
        ("planes", {0: np.nan}, "the planes of a position, found nan"),
        ("planes", {49: np.inf}, "the planes of a position, found inf"),
        ("policy", {0: np.inf}, "a finite number, found inf"),
        ("mask", {3: -np.inf}, "a finite number, found -inf"),
        ("value", {1: np.nan}, "a finite number, found nan"),
        ("reward", {1: np.nan}, "a finite number, found nan"),
        ("valid", {0: np.nan}, "a finite number, found nan"),
        ("weight", {0: np.inf}, "a finite number, found inf"),
        ("planes", {0: 0.5}, "the planes of a position, found 0.5"),
        ("planes", {30: -1}, "the planes of a position, found -1"),
        ("planes", {8: 2}, "the planes of a position, found 2"),
        ("mask", {0: 2}, "0 or 1, found 2"),
        ("mask", dict.fromkeys(range(26), 0), "an explored move, found 0"),
        ("policy", {0: -0.25}, "a number ≥ 0, found -0.25"),
        ("policy", dict.fromkeys(range(26), 0), "a sum of 1, found 0"),
        ("value", {0: 0.5, 1: 0.5, 2: 0.5}, "a sum of 1, or zeros for none, found 1.5"),
        ("value", {0: 1.5, 1: -0.5, 2: 0}, "a number ≥ 0, found -0.5"),
        ("reward", {0: 0.5, 1: 0, 2: 0}, "a sum of 1 where valid, found 0.5"),
        ("reward", {0: 1.5, 1: -0.5, 2: 0}, "a number ≥ 0 where valid, found -0.5"),
        ("valid", {0: 0.5}, "0 or 1, found 0.5"),
        ("weight", {0: 0}, "a number > 0, found 0"),
        ("weight", {0: -3}, "a number > 0, found -3"),
    ],
)
def test_a_bad_number_is_refused_with_file_sample_and_field(
    field: str, numbers: dict[int, float], message: str, tmp_path: Path
) -> None:
    row = int(invented(FIVE, 4).valid.argmax())  # a sample whose reward counts

    def change(data: bytes) -> bytes:
        table = np.frombuffer(data[4:], "<f4").reshape(4, 110).copy()
        for offset, number in numbers.items():
            table[row, COLUMN[field] + offset] = number
        return data[:4] + table.tobytes()

    path = rewrite(tmp_path / "a.bin", change)
    with pytest.raises(ProbZeroError) as refusal:
        read_samples(path, FIVE)
    assert str(refusal.value).startswith(f"dataset: {path}: sample {row}: {field}: expected {message}")


def test_two_discs_on_a_square_are_refused_with_file_and_sample(tmp_path: Path) -> None:
    def change(data: bytes) -> bytes:
        table = np.frombuffer(data[4:], "<f4").reshape(4, 110).copy()
        table[2, [7, 32]] = 1
        return data[:4] + table.tobytes()

    path = rewrite(tmp_path / "a.bin", change)
    expected = f"dataset: {path}: states: illegal position: number 2: expected at most one disc per square, found 0x"
    with pytest.raises(ProbZeroError) as refusal:
        read_samples(path, FIVE)
    assert str(refusal.value).startswith(expected)


@every_game
def test_discs_beyond_the_board_are_not_written(game: Game, tmp_path: Path) -> None:
    samples = invented(game, 4)
    if game.shape.squares < 64:
        samples.states[1, 0] |= 1 << game.shape.squares
        with pytest.raises(ProbZeroError, match=r"states: illegal position: number 1: expected discs on the .* board"):
            write_samples(tmp_path / "a.bin", samples, game)
    assert not list(tmp_path.iterdir())


def test_policy_outside_the_mask_is_refused(tmp_path: Path) -> None:
    samples = invented(FIVE, 4)
    move = int(samples.policy[2].argmax())
    samples.mask[2] = 1
    samples.mask[2, move] = 0
    with pytest.raises(ProbZeroError, match="sample 2: policy: expected 0 for moves outside the mask"):
        write_samples(tmp_path / "a.bin", samples, FIVE)
    assert not list(tmp_path.iterdir()), "nothing half-written"


def test_a_reward_without_a_finished_game_may_be_anything_finite(tmp_path: Path) -> None:
    samples = invented(FIVE, 4)
    changed = replace(samples, valid=np.zeros(4, np.float32), reward=np.full((4, 3), 7, np.float32))
    write_samples(tmp_path / "a.bin", changed, FIVE)
    assert same(read_samples(tmp_path / "a.bin", FIVE), changed)


def test_arrays_of_the_wrong_shape_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ProbZeroError, match=r"policy: expected shape \(4, 26\), found \(4, 37\)"):
        write_samples(tmp_path / "a.bin", invented(SIX, 4), FIVE)
    samples = invented(FIVE, 4)
    with pytest.raises(ProbZeroError, match=r"states: expected shape \(4, 2\), found \(4, 3\)"):
        write_samples(tmp_path / "a.bin", replace(samples, states=np.zeros((4, 3), np.int64)), FIVE)


def test_a_game_that_never_tried_a_move_says_nothing_of_it() -> None:
    # Weight 1 tried moves 0 and 1 (½, ½); weight 3 only move 0. Move 0: (1·½ + 3·1)/4 = 7/8; move 1: ½ from the one
    # sample that tried it. Normalised: 7/11 and 4/11. Value: (1·(1,0,0) + 3·(0,0,1))/4. Only the first has a reward.
    def sample(policy: list[float], mask: list[float], value: list[float], valid: float, weight: float) -> Samples:
        padded = np.zeros((2, 1, 17), np.float32)
        padded[0, 0, :2], padded[1, 0, :2] = policy, mask
        reward = [[0, 1 * valid, 0]]
        rest = (np.array(part, np.float32) for part in ([value], reward, [valid], [weight]))
        return Samples(FOUR.start()[None], padded[0], padded[1], *rest)

    merged = merge([sample([0.5, 0.5], [1, 1], [1, 0, 0], 1, 1), sample([1, 0], [1, 0], [0, 0, 1], 0, 3)])
    assert len(merged) == 1
    np.testing.assert_allclose(merged.policy[0, :3], [7 / 11, 4 / 11, 0], rtol=1e-6)
    np.testing.assert_array_equal(merged.mask[0, :3], [1, 1, 0])
    np.testing.assert_allclose(merged.value[0], [0.25, 0, 0.75])
    np.testing.assert_allclose(merged.reward[0], [0, 1, 0])
    assert (merged.valid[0], merged.weight[0]) == (1, 4)


@every_game
def test_merging_agrees_with_merging_one_by_one(game: Game) -> None:
    parts = [invented(game, 60, seed, boards=20) for seed in (1, 1, 2)]  # the first two share boards
    merged = merge(parts)
    expected = slow_merge(concatenate(parts))
    assert len(merged) == len(expected)
    for row in range(len(merged)):
        for found, wanted in zip(merged.take(row).columns()[1:], expected[merged.states[row].tobytes()], strict=True):  # type: ignore[arg-type]
            np.testing.assert_allclose(found, wanted, atol=1e-6)


def keys(samples: Samples) -> list[tuple[int, ...]]:
    """The states as the whole numbers that their bits stand for."""
    return [tuple(int(word) % 2**64 for word in state) for state in samples.states]


def test_merged_samples_are_sorted_proper_and_independent_of_the_order_of_parts(tmp_path: Path) -> None:
    parts = [invented(EIGHT, 50, seed, boards=15) for seed in (3, 4)]
    assert (concatenate(parts).states < 0).any(), "discs on the last square"
    merged, again = merge(parts), merge(parts[::-1])
    write_samples(tmp_path / "a.bin", merged, EIGHT)
    assert keys(merged) == sorted(set(keys(merged)))
    for found, wanted in zip(merged.columns(), again.columns(), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_merging_tells_own_discs_from_opposing_ones_on_every_square() -> None:
    words = [1 << square if square < 63 else -(1 << 63) for square in range(64)]  # the last bit is the sign
    states = np.array([*((word, 0) for word in words), *((0, word) for word in words)])
    samples = replace(invented(EIGHT, 256), states=np.concatenate([states, states[::-1]]))
    merged = merge([samples])
    assert keys(merged) == [*((0, 1 << square) for square in range(64)), *((1 << square, 0) for square in range(64))]
    row = keys(merged).index((1 << 63, 0))
    assert merged.weight[row] == samples.weight[63] + samples.weight[255 - 63]
