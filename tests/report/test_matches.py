"""Records of matches: read as they were written, refused if they contradict the rules, their file or themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from kinds_of_files import GAME
from made_matches import record, write_record
from sealed import reseal, rewrite_table

from probzero import files
from probzero.arena import elo
from probzero.errors import ProbZeroError
from probzero.report.tables import read_matches

FIRST, SECOND, THIRD = (f"iteration-{number:04}" for number in range(3))
Change = Callable[[pd.DataFrame], pd.DataFrame]


@pytest.fixture
def match_file(tmp_path: Path) -> Path:
    """Eight games: four openings, each from both sides."""
    return write_record(tmp_path / f"{SECOND}.csv", record(GAME, SECOND, [FIRST], openings=4))


def refused(message: str, *paths: Path) -> None:
    with pytest.raises(ProbZeroError, match=message):
        read_matches(paths, GAME)


def test_matches_are_read_back_as_written(match_file: Path) -> None:
    games, written = read_matches([match_file], GAME, seed=0), record(GAME, SECOND, [FIRST], openings=4)
    assert games.equals(written[games.columns]) and len(games) == 8
    assert games["result"].dtype == np.int64
    assert elo.fit(games, [FIRST, SECOND], FIRST).openings == 4


def test_games_without_an_opening_are_read(tmp_path: Path) -> None:
    path = write_record(tmp_path / f"{SECOND}.csv", record(GAME, SECOND, [FIRST], openings=1, plies=0))
    assert read_matches([path], GAME)["opening_moves"].tolist() == ["", ""]


def first_row(column: str, change: Callable[[str], object]) -> Change:
    """A change of one cell, that of the first game."""

    def changed(games: pd.DataFrame) -> pd.DataFrame:
        values = games[column].astype(object)
        values.iloc[0] = change(values.iloc[0])
        return games.assign(**{column: values})

    return changed


def swap_sides(games: pd.DataFrame) -> pd.DataFrame:
    return games.assign(first=games["second"].where(games.index == 0, games["first"]),
                        second=games["first"].where(games.index == 0, games["second"]))  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda games: games.drop(columns="result"), "column result: expected present"),
        (lambda games: games.drop(columns="margin"), "column margin: expected present"),
        (lambda games: games.rename(columns={"plies": "length"}), "column plies: expected present"),
        (first_row("result", lambda _: "win"), "line 2: column result: expected a whole number, found 'win'"),
        (first_row("result", lambda _: 2), r"line 2: expected result -?[01], as its moves say, found 2"),
        (first_row("result", lambda found: found - 1), "line 2: expected result -?[01], as its moves say, found"),
        (first_row("margin", lambda found: found + 1), r"line 2: expected margin -?\d+, as its moves say, found"),
        (first_row("margin", lambda found: -1 - found), r"line 2: expected margin -?\d+, as its moves say, found"),
        (first_row("plies", lambda found: found + 2), r"line 2: expected plies \d+, as its moves say, found"),
        (first_row("moves", lambda moves: moves[:-3]), "line 2: expected a finished game, found one that goes on"),
        (first_row("moves", lambda moves: f"{moves} a1"), "game 0, ply [0-9]+: expected a legal move"),
        (
            first_row("opening_moves", lambda _: "a1 a2"),
            "game 0, ply [0-9]+: expected a legal move",
        ),
        (first_row("opening_moves", lambda _: "z9"), "expected names of moves of othello.*found z9"),
        (lambda games: games.assign(first=games["second"]), "line 2: column first: expected two different players"),
        (swap_sides, f"against {FIRST}, opening 0: expected two games with sides swapped"),
        (lambda games: games[:-1], r"opening 3: expected two games with sides swapped, found 1 game\(s\)"),
        (lambda games: games[:0], "expected a row, found a header alone"),
    ],
)
def test_records_that_contradict_the_rules_or_themselves_are_refused_by_name(
    change: Change, message: str, match_file: Path
) -> None:
    rewrite_table(match_file, change)
    refused(rf"{SECOND}\.csv: .*{message}", match_file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.rstrip(b"\n"), "line 9: expected an end of line"),
        (lambda data: data.rstrip(b"\n").rpartition(b",")[0] + b"\n", "line 9: column margin: expected the last of 8"),
    ],
)
def test_a_record_that_is_cut_short_is_refused_even_if_it_was_sealed_so(
    change: Callable[[bytes], bytes], message: str, match_file: Path
) -> None:
    reseal(match_file, change)
    refused(rf"{SECOND}\.csv: {message}", match_file)


def test_a_record_that_was_changed_by_hand_or_has_no_seal_is_refused(match_file: Path) -> None:
    whole = match_file.read_bytes()
    match_file.write_bytes(whole + whole.splitlines(keepends=True)[-1])
    refused(rf"matches: .*{SECOND}\.csv: expected the file that was written", match_file)
    match_file.write_bytes(whole)
    files.seal_of(match_file).unlink()
    refused(rf"matches: .*{SECOND}\.csv: expected a seal beside it", match_file)


def test_a_pairing_with_fewer_openings_than_the_others_is_refused(tmp_path: Path) -> None:
    games = record(GAME, THIRD, [FIRST, SECOND], openings=3)
    against_first = (games["first"] == FIRST) | (games["second"] == FIRST)
    path = write_record(tmp_path / f"{THIRD}.csv", games[~(against_first & (games["opening"] == 2))])
    refused(f"against {FIRST}: expected 3 openings, found 2", path)


def test_a_record_of_another_player_is_refused(match_file: Path) -> None:
    games = pd.read_csv(match_file)
    other = write_record(match_file.with_name("iteration-0007.csv"), games)
    refused(r"iteration-0007\.csv: line 2: column second: expected a game of iteration-0007", other)
    match_file.rename(other)
    files.seal_of(match_file).rename(files.seal_of(other))
    refused(rf"iteration-0007\.csv: subject: expected subject iteration-0007, found subject {SECOND}", other)


def test_a_record_of_another_seed_is_refused(match_file: Path) -> None:
    with pytest.raises(ProbZeroError, match=rf"{SECOND}\.csv: seed: expected seed 1, found seed 0"):
        read_matches([match_file], GAME, seed=1)


def test_a_missing_or_repeated_record_is_refused(match_file: Path, tmp_path: Path) -> None:
    refused(r"none\.csv: expected a file, found nothing", tmp_path / "none.csv")
    refused("expected once, found more than once", match_file, match_file)
    refused("matches: files: expected one or more, found none")
