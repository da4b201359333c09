"""The published form of datasets: written, read again, and refused by name where it is damaged."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from made_samples import EIGHT, FIVE, OBLONG, SIX, SQUARE, invented, same
from sealed import wide

from probzero import wdl
from probzero.errors import ProbZeroError
from probzero.games.base import Game
from probzero.learning.dataset import Samples, merge
from probzero.learning.published_dataset import export_samples, import_samples

every_game = pytest.mark.parametrize("game", SQUARE + OBLONG, ids=lambda game: game.identity)


@every_game
def test_samples_survive_the_published_form(game: Game, tmp_path: Path) -> None:
    samples = invented(game, 37)
    export_samples(tmp_path / "a.bin", samples, game)
    assert same(import_samples(tmp_path / "a.bin", game), samples)


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
    export_samples(tmp_path / "a.bin", samples, game)
    data = (tmp_path / "a.bin").read_bytes()
    assert struct.unpack_from("<i", data) == (2,)
    numbers = struct.unpack_from(f"<{2 * length}f", data, 4)
    assert len(data) == 4 + 2 * length * 4
    value, reward = samples.value[:, ::-1], samples.reward[:, ::-1]  # loss, draw, win there
    columns = (*wide(samples, game), value, reward, samples.valid, samples.weight)
    expected = [
        number
        for row in range(2)
        for column in (planes(game, samples.states[row]), *(column[row] for column in columns))
        for number in np.atleast_1d(column)
    ]
    assert list(numbers) == expected


def won_start() -> Samples:
    """The start of 5×5, which the player to move wins (by 13); one of its four moves was explored."""
    explored, win = np.array([[0, 1, 0, 0]], np.float32), np.array([[1, 0, 0]], np.float32)
    return Samples(FIVE.start()[None], explored, explored, win, win, np.ones(1, np.float32), np.full(1, 7, np.float32))


def test_a_win_of_the_player_to_move_is_the_third_number_as_the_published_engine_writes_it(tmp_path: Path) -> None:
    """Its mcts.cpp gives {0, 0, 1} to a state whose player to move has won, and its main.cpp writes that unchanged."""
    export_samples(tmp_path / "a.bin", won_start(), FIVE)
    numbers = struct.unpack("<i110f", (tmp_path / "a.bin").read_bytes())[1:]
    assert numbers[102:] == (0, 0, 1, 0, 0, 1, 1, 7)  # value, reward, valid, weight
    assert same(import_samples(tmp_path / "a.bin", FIVE), won_start())


def test_published_values_are_loss_draw_and_win_for_the_player_to_move(tmp_path: Path) -> None:
    def change(data: bytes) -> bytes:
        numbers = list(struct.unpack("<i110f", data))
        numbers[1 + 102 : 1 + 108] = [0.5, 0.375, 0.125, 0.25, 0.75, 0.0]
        return struct.pack("<i110f", *numbers)

    export_samples(tmp_path / "a.bin", won_start(), FIVE)
    (tmp_path / "a.bin").write_bytes(change((tmp_path / "a.bin").read_bytes()))
    samples = import_samples(tmp_path / "a.bin", FIVE)
    for triple, expected in ((samples.value, (0.125, 0.375, 0.5)), (samples.reward, (0.0, 0.75, 0.25))):
        assert (triple[0, wdl.WIN], triple[0, wdl.DRAW], triple[0, wdl.LOSS]) == expected


def test_an_empty_file_of_samples_is_proper(tmp_path: Path) -> None:
    nothing = invented(FIVE, 3).take(np.arange(0))
    export_samples(tmp_path / "a.bin", nothing, FIVE)
    assert (tmp_path / "a.bin").read_bytes() == bytes(4)
    assert len(import_samples(tmp_path / "a.bin", FIVE)) == 0
    assert len(merge([nothing])) == 0


def rewrite(path: Path, change: Callable[[bytes], bytes]) -> Path:
    export_samples(path, invented(FIVE, 4), FIVE)
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
        import_samples(path, FIVE)
    assert str(path) in str(refusal.value) and "\n" not in str(refusal.value)


def test_a_file_of_another_board_size_is_refused(tmp_path: Path) -> None:
    export_samples(tmp_path / "a.bin", invented(SIX, 4), SIX)
    with pytest.raises(ProbZeroError, match="bytes for 4 samples of othello-size5"):
        import_samples(tmp_path / "a.bin", FIVE)


@pytest.mark.parametrize("name", ["missing.bin", "."])
def test_what_is_not_a_file_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ProbZeroError, match="expected a file, found nothing"):
        import_samples(tmp_path / name, FIVE)


COLUMN = {"planes": 0, "policy": 50, "mask": 76, "value": 102, "reward": 105, "valid": 108, "weight": 109}


@pytest.mark.parametrize(
    ("field", "numbers", "message"),
    [
        ("planes", {0: np.nan}, "the planes of a position, found nan"),
        ("planes", {49: np.inf}, "the planes of a position, found inf"),
        ("policy", {0: np.inf}, "a finite number, found inf"),
        ("mask", {1: -np.inf}, "a finite number, found -inf"),
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
    samples = invented(FIVE, 4)
    row = int(samples.valid.argmax())  # a sample whose reward counts
    legal = np.flatnonzero(FIVE.legal(samples.states[row : row + 1]))

    def change(data: bytes) -> bytes:
        table = np.frombuffer(data[4:], "<f4").reshape(4, 110).copy()
        for offset, number in numbers.items():
            place = legal[offset] if field in ("policy", "mask") and len(numbers) == 1 else offset
            table[row, COLUMN[field] + place] = number
        return data[:4] + table.tobytes()

    path = rewrite(tmp_path / "a.bin", change)
    with pytest.raises(ProbZeroError) as refusal:
        import_samples(path, FIVE)
    assert str(refusal.value).startswith(f"dataset: {path}: sample {row}: {field}: expected {message}")


def test_two_discs_on_a_square_are_refused_with_file_and_sample(tmp_path: Path) -> None:
    def change(data: bytes) -> bytes:
        table = np.frombuffer(data[4:], "<f4").reshape(4, 110).copy()
        table[2, [7, 32]] = 1
        return data[:4] + table.tobytes()

    path = rewrite(tmp_path / "a.bin", change)
    expected = f"dataset: {path}: states: illegal position: number 2: expected at most one disc per square, found 0x"
    with pytest.raises(ProbZeroError) as refusal:
        import_samples(path, FIVE)
    assert str(refusal.value).startswith(expected)


@pytest.mark.parametrize("column", ["policy", "mask"])
def test_moves_that_are_not_legal_are_refused(column: str, tmp_path: Path) -> None:
    samples = invented(FIVE, 4)
    illegal = int(np.flatnonzero(~FIVE.legal(samples.states[3:4])[0])[0])

    def change(data: bytes) -> bytes:
        table = np.frombuffer(data[4:], "<f4").reshape(4, 110).copy()
        table[3, COLUMN[column] + illegal] = 1
        return data[:4] + table.tobytes()

    with pytest.raises(ProbZeroError, match=f"sample 3: {column}: expected 0 for moves that are not legal, found 1"):
        import_samples(rewrite(tmp_path / "a.bin", change), FIVE)
