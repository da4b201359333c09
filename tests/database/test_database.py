"""The database against plain minimax over all positions of 4×4 Othello, and against what others have counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_database import SMALL, make, opened, silent
from oracles import plain_minimax

from probzero import games
from probzero.commands.database import layers_table
from probzero.database.form import Form
from probzero.database.games import GAMES, count_games
from probzero.database.layers import LAYER, path_of, read_layer
from probzero.errors import ProbZeroError
from probzero.games.base import Game
from probzero.games.random_play import play_by_seed
from probzero.tables import read_table
from probzero.truth.labels import Solver

REFERENCE = Path(__file__).parents[2] / "results" / "reference" / "database"
POSITIONS_4 = 12_351  # of 4×4 Othello up to symmetry
GAMES_4 = 60_060  # complete games of 4×4 Othello from the start, as others have enumerated
# Of 5×5 others counted 2 × 233,648,038,152, in two classes of first moves.
GAMES_5 = {"b1": 44_473_349_511, "a2": 44_473_349_511, "d3": 189_174_688_641, "c4": 189_174_688_641}
COLUMNS = (
    "discs", "positions", "terminal", "passes", "wins", "draws", "losses", "mean_margin", "choices", "decisive",
    "single", "sha256",
)  # fmt: skip


def all_of(folder: Path, game: Game = SMALL) -> dict[tuple[int, ...], int]:
    """Every position of a database with its value."""
    database = opened(folder, game)
    found = {}
    for phase in range(database.first, database.last + 1):
        layer = database.layer(phase)
        states = database.form.states(layer.keys).tolist()
        found |= {tuple(state): int(value) for state, value in zip(states, layer.values, strict=True)}
    return found


def test_every_position_of_a_small_board_has_the_value_of_plain_minimax(database4: Path) -> None:
    assert len(plain_minimax.solve(SMALL).value) == POSITIONS_4
    assert all_of(database4) == plain_minimax.solve(SMALL).value


def test_a_game_with_other_symmetries_and_no_margin_is_solved_alike(tmp_path: Path) -> None:
    game = games.make("connect_four", width=4, height=3)
    make(tmp_path, game)
    assert all_of(tmp_path, game) == plain_minimax.solve(game).value


def recounted() -> pd.DataFrame:
    """The table of layers, from plain minimax."""
    solved = plain_minimax.solve(SMALL)
    rows = []
    for key, value in solved.value.items():
        moves = solved.moves[key]
        keeping = sum(np.sign(move) == np.sign(value) for move in moves)
        must_pass = bool(SMALL.legal(np.array([key]))[0, SMALL.actions - 1])
        row = {
            "discs": sum(word.bit_count() for word in key), "positions": 1, "terminal": not moves, "passes": must_pass,
            "wins": value > 0, "draws": value == 0, "losses": value < 0, "mean_margin": value,
            "choices": len(moves) > 1, "decisive": keeping < len(moves), "single": len(moves) > 1 and keeping == 1,
        }  # fmt: skip
        rows.append(row)
    table = pd.DataFrame(rows).groupby("discs").sum().reset_index().astype(np.int64)
    return table.assign(mean_margin=table["mean_margin"] / table["positions"])


def test_layers_are_counted_as_by_plain_minimax_and_are_those_committed(database4: Path) -> None:
    table = layers_table(make(database4), "discs")
    assert list(table) == list(COLUMNS)
    pd.testing.assert_frame_equal(table.drop(columns="sha256"), recounted(), check_dtype=False)
    committed = read_table(REFERENCE / "layers4.csv", {"discs": int, "sha256": str})
    pd.testing.assert_frame_equal(committed, table.round({"mean_margin": 4}), check_dtype=False)


def test_games_from_the_start_are_as_many_as_others_counted(database4: Path) -> None:
    counted = count_games(opened(database4), 2, silent)
    assert counted["games"].sum() == GAMES_4
    assert plain_minimax.solve(SMALL).games[tuple(SMALL.canonical(SMALL.start()[None])[0].tolist())] == GAMES_4


def test_what_is_committed_of_5x5_is_what_others_counted() -> None:
    layers = read_table(REFERENCE / "layers.csv", {"discs": int, "positions": int, "sha256": str})
    assert list(layers) == list(COLUMNS)
    assert layers["positions"].sum() == 361_701_112
    assert layers.set_index("discs")["positions"][[20, 21]].tolist() == [79_977_489, 82_655_017]
    assert (layers["wins"] + layers["draws"] + layers["losses"] == layers["positions"]).all()
    assert layers["mean_margin"][0] == 13  # the start
    early = layers[layers["discs"] <= 8]
    assert early["wins"].sum() == 69, "68 and one that is reached by a pass"
    counted = read_table(REFERENCE / "games.csv", {"first_move": str, "games": int}, GAMES)
    assert dict(zip(counted["first_move"], counted["games"], strict=True)) == GAMES_5
    assert counted["games"].sum() == 2 * 233_648_038_152


def test_the_solver_answers_the_same_with_and_without_a_database(database4: Path) -> None:
    played = play_by_seed(SMALL, 50, SMALL.longest_game, seed=3).states.reshape(-1, 2)
    states = np.unique(played, axis=0)
    turned = SMALL.turn(states, np.arange(len(states)) % 8)
    with_it, without = Solver(SMALL, threads=1, lookup=opened(database4)), Solver(SMALL, threads=1)
    for positions in (states, turned):
        for margins in (True, False):
            one, other = with_it.label(positions, margins=margins), without.label(positions, margins=margins)
            for name in ("result", "action_result", "margin", "action_margin"):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_what_cannot_be_reached_is_left_to_the_search(database4: Path) -> None:
    reached = SMALL.start()
    alone = SMALL.from_text("xo../oxx./.xo./....")
    states = np.stack([reached, alone])
    assert opened(database4).values(states) is None
    labels = Solver(SMALL, threads=1, lookup=opened(database4)).label(states)
    np.testing.assert_array_equal(labels.action_margin, Solver(SMALL, threads=1).label(states).action_margin)


def test_a_layer_that_is_there_is_not_made_again_and_the_rest_is_the_same_bytes(
    database4: Path, tmp_path: Path
) -> None:
    make(tmp_path, threads=1)
    whole = {path.name: path.read_bytes() for path in database4.glob("*-*")}
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*-*")} == whole
    for phase in range(4, 11):  # as if the backward pass had been stopped
        path_of(tmp_path, LAYER, phase).unlink()
    path_of(tmp_path, LAYER, 16).with_suffix(".json").unlink()
    kept = {phase: path_of(tmp_path, LAYER, phase).stat().st_mtime_ns for phase in range(11, 16)}
    make(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*-*")} == whole
    assert {phase: path_of(tmp_path, LAYER, phase).stat().st_mtime_ns for phase in range(11, 16)} == kept


def test_keys_are_the_first_of_all_turned_forms_on_larger_boards() -> None:
    game = games.make("othello", size=5)
    states = play_by_seed(game, 20, game.longest_game, seed=1).states.reshape(-1, 2)
    form = Form(game)
    np.testing.assert_array_equal(form.states(form.keys(states)), game.canonical(states))


@pytest.mark.parametrize(
    ("name", "options", "found"),
    [
        ("othello", {"size": 6}, "expected a game that can be solved"),
        ("connect_four", {"width": 7, "height": 6}, "expected a game that can be solved"),
    ],
)
def test_a_game_that_is_too_large_is_refused(name: str, options: dict[str, int], found: str) -> None:
    with pytest.raises(ProbZeroError, match=found):
        Form(games.make(name, **options))


def test_a_game_of_longer_words_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    game = games.make("othello", size=4)
    monkeypatch.setattr(game, "word_bits", 36)
    with pytest.raises(ProbZeroError, match="expected a state of two words of at most 31 bits, found 2 words of 36"):
        Form(game)


def test_files_are_keys_then_values(database4: Path) -> None:
    path, count = path_of(database4, LAYER, 9), len(read_layer(database4, SMALL, LAYER, 9).keys)
    data = path.read_bytes()
    keys, values = np.frombuffer(data[: 8 * count], "<i8"), np.frombuffer(data[8 * count :], np.int8)
    assert (np.diff(keys) > 0).all() and len(values) == count
    solved = plain_minimax.solve(SMALL).value
    assert [solved[int(key) >> 16, int(key) & 0xFFFF] for key in keys] == values.tolist()
