"""Sample files: what is written is read again, what is damaged is refused by name; merging worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_samples import EIGHT, FIVE, FOUR, OBLONG, SIX, SQUARE, invented, same
from sealed import MADE, made, rearrange, redescribe

from probzero.errors import ProbZeroError
from probzero.games.base import Game
from probzero.learning.dataset import Samples, concatenate, merge, read_samples, read_with_origin, write_samples

TWO_MOVES = "xo../..../..../xo.."
every_game = pytest.mark.parametrize("game", SQUARE + OBLONG, ids=lambda game: game.identity)


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
    samples, path = invented(game, 37), tmp_path / "a.safetensors"
    write_samples(path, samples, game, MADE)
    assert same(read_samples(path, game), samples)
    assert read_with_origin(path, game)[1] == MADE
    first = path.read_bytes()
    write_samples(path, samples.widened(60), game, MADE)  # room that no position needs is not kept
    assert path.read_bytes() == first and path.stat().st_size < 20_000


def test_an_empty_file_of_samples_is_proper(tmp_path: Path) -> None:
    nothing = invented(FIVE, 3).take(np.arange(0))
    write_samples(tmp_path / "a.safetensors", nothing, FIVE, MADE)
    assert len(read_samples(tmp_path / "a.safetensors", FIVE)) == 0
    assert len(merge([nothing])) == 0


def written(path: Path, game: Game = FIVE) -> Path:
    write_samples(path, invented(game, 4), game, MADE)
    return path


def refusal(path: Path, game: Game = FIVE, **wanted: Any) -> str:
    with pytest.raises(ProbZeroError) as error:
        read_samples(path, game, **wanted)
    assert str(error.value).startswith(f"dataset: {path}") and "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda data: data[:3],
        lambda data: b"",
        lambda data: data[:-3] + bytes([data[-3] ^ 4]) + data[-2:],
        lambda data: data.replace(b'"seed\\": 0', b'"seed\\": 1'),
        lambda data: data.replace(b"othello", b"otherlo"),
    ],
    ids=["cut", "over-long", "three bytes", "empty", "a bit", "another seed", "another game"],
)
def test_a_damaged_file_is_refused(change: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = written(tmp_path / "a.safetensors")
    before = path.read_bytes()
    path.write_bytes(change(before))
    assert path.read_bytes() != before
    assert "made anew" in refusal(path)


def test_a_file_of_another_game_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.safetensors", SIX)
    assert "game: expected {'name': 'othello', 'size': 5}, found {'name': 'othello', 'size': 6}" in refusal(path)
    redescribe(written(path), game_version=0)
    assert "game_version: expected 1, found 0" in refusal(path)


def test_a_file_from_elsewhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    write_samples(path, invented(FIVE, 4), FIVE, made(seed=2, iteration=7, settings={"search": "abc", "selfplay": "x"}))
    read_samples(path, FIVE, seed=2, iteration=7, settings={"search": "abc", "training": "y"})
    assert "seed: expected seed 0, found seed 2" in refusal(path, seed=0)
    assert "iteration: expected iteration 6, found iteration 7" in refusal(path, iteration=6)
    assert "search: expected a file made with the settings at hand (def)" in refusal(path, settings={"search": "def"})


@pytest.mark.parametrize("name", ["missing.safetensors", "."])
def test_what_is_not_a_file_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ProbZeroError, match="expected a file, found nothing"):
        read_samples(tmp_path / name, FIVE)


@pytest.mark.parametrize(
    ("field", "numbers", "message"),
    [
        ("policy", {0: np.inf}, "a finite number, found inf"),
        ("value", {1: np.nan}, "a finite number, found nan"),
        ("reward", {1: np.nan}, "a finite number, found nan"),
        ("weight", {0: np.inf}, "a finite number, found inf"),
        ("mask", {0: 2}, "0 or 1, found 2"),
        ("mask", dict.fromkeys(range(2), 0), "an explored move, found 0"),
        ("mask", {2: 1}, "0 beyond the legal moves, found 1"),
        ("policy", {0: -0.25}, "a number ≥ 0, found -0.25"),
        ("policy", dict.fromkeys(range(2), 0), "a sum of 1, found 0"),
        ("value", {0: 0.5, 1: 0.5, 2: 0.5}, "a sum of 1, or zeros for none, found 1.5"),
        ("value", {0: 1.5, 1: -0.5, 2: 0}, "a number ≥ 0, found -0.5"),
        ("reward", {0: 0.5, 1: 0, 2: 0}, "a sum of 1 where valid, found 0.5"),
        ("reward", {0: 1.5, 1: -0.5, 2: 0}, "a number ≥ 0 where valid, found -0.5"),
        ("valid", {0: 3}, "0 or 1, found 3"),
        ("weight", {0: 0}, "a number > 0, found 0"),
        ("weight", {0: -3}, "a number > 0, found -3"),
    ],
)
def test_a_bad_number_is_refused_with_file_sample_and_field(
    field: str, numbers: dict[int, float], message: str, tmp_path: Path
) -> None:
    """The second sample has two moves, the first of them explored; no other has more than four."""
    path = tmp_path / "a.safetensors"
    states = np.array([FOUR.start()] * 4)
    states[1] = FOUR.from_text(TWO_MOVES)
    policy = np.tile(np.float32([1, 0, 0, 0]), (4, 1))
    rest = np.tile(np.float32([0.25, 0.5, 0.25]), (4, 1)), np.ones(4, np.float32)
    samples = Samples(states, policy, policy.copy(), rest[0], rest[0].copy(), rest[1], rest[1].copy())
    write_samples(path, samples, FOUR, MADE)
    changed = getattr(samples, field).copy()
    for offset, number in numbers.items():
        changed.reshape(4, -1)[1, offset] = number
    stored = {"mask": np.uint8, "valid": np.uint8}.get(field, np.float32)
    rearrange(path, **{field: changed.astype(stored)})
    with pytest.raises(ProbZeroError) as error:
        read_samples(path, FOUR)
    assert str(error.value).startswith(f"dataset: {path}: sample 1: {field}: expected {message}")


def test_arrays_of_other_shapes_and_types_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.safetensors")
    rearrange(path, states=np.zeros((4, 3), np.int64))
    assert "states: expected int64 of shape (n, 2), found int64 of shape (4, 3)" in refusal(path)
    rearrange(written(path), value=np.zeros((4, 2), np.float32))
    assert "value: expected float32 of shape (4, 3), found float32 of shape (4, 2)" in refusal(path)
    rearrange(written(path), weight=np.zeros(4, np.float64))
    assert "weight: expected float32 of shape (4,), found float64 of shape (4,)" in refusal(path)
    rearrange(written(path), more=np.zeros(4, np.float32))
    assert "more: expected no such tensor, found one" in refusal(path)


def test_two_discs_on_a_square_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.safetensors")
    states = invented(FIVE, 4).states
    states[2] = [1, 1]
    rearrange(path, states=states)
    assert "states: illegal position: number 2: expected at most one disc per square, found 0x" in refusal(path)


@every_game
def test_discs_beyond_the_board_are_not_written(game: Game, tmp_path: Path) -> None:
    samples = invented(game, 4)
    if game.shape.squares < 64:
        samples.states[1, 0] |= 1 << game.shape.squares
        with pytest.raises(ProbZeroError, match=r"states: illegal position: number 1: expected discs on the .* board"):
            write_samples(tmp_path / "a.safetensors", samples, game, MADE)
    assert not list(tmp_path.iterdir())


def test_policy_outside_the_mask_is_refused(tmp_path: Path) -> None:
    samples = invented(FIVE, 4, seed=3)
    assert samples.mask[2].sum() > 1
    samples.mask[2, int(samples.policy[2].argmax())] = 0
    with pytest.raises(ProbZeroError, match="sample 2: policy: expected 0 for moves outside the mask"):
        write_samples(tmp_path / "a.safetensors", samples, FIVE, MADE)
    assert not list(tmp_path.iterdir()), "nothing half-written"


def test_a_reward_without_a_finished_game_may_be_anything_finite(tmp_path: Path) -> None:
    samples = invented(FIVE, 4)
    changed = replace(samples, valid=np.zeros(4, np.float32), reward=np.full((4, 3), 7, np.float32))
    write_samples(tmp_path / "a.safetensors", changed, FIVE, MADE)
    assert same(read_samples(tmp_path / "a.safetensors", FIVE), changed)


def test_arrays_of_the_wrong_shape_are_not_written(tmp_path: Path) -> None:
    path, samples = tmp_path / "a.safetensors", invented(FIVE, 4)
    with pytest.raises(ProbZeroError, match=r"states: expected shape \(n, 2\), found \(4, 3\)"):
        write_samples(path, replace(samples, states=np.zeros((4, 3), np.int64)), FIVE, MADE)
    with pytest.raises(ProbZeroError, match="value: expected 4 rows, found 3"):
        write_samples(path, replace(samples, value=samples.value[:3]), FIVE, MADE)
    more = samples.widened(20)
    more.mask[3, 19] = 1
    with pytest.raises(ProbZeroError, match=r"sample 3: mask: expected at most \d+ moves, found more"):
        write_samples(path, more, FIVE, MADE)
    assert not list(tmp_path.iterdir())


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
    write_samples(tmp_path / "a.safetensors", merged, EIGHT, MADE)
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
