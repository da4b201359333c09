"""Games of self-play are read as they were played, and refused where they contradict the rules or themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from alphazero_games import RULES, configured, shard
from made_games import COUNT, SMALL, recorded, write_games

from probzero.errors import ProbZeroError
from probzero.truth.blunders import count_blunders, read_games

Change = Callable[[pd.DataFrame], pd.DataFrame]


def test_games_are_read_back_as_written_resigned_ones_and_openings_among_them(tmp_path: Path) -> None:
    paths = [write_games(tmp_path / f"shard{number}.csv", recorded(), number) for number in (0, 11)]
    games = read_games(paths, SMALL, COUNT, seed=0, iteration=1)
    assert games.equals(pd.concat([recorded(), recorded()], ignore_index=True))
    assert count_blunders(SMALL, games, threads=1)["moves"] == 2 * recorded().plies.sum()


def test_games_of_real_selfplay_are_read_resigned_ones_and_openings_among_them(tmp_path: Path) -> None:
    played = shard(configured(resign_below=-0.1, play_on=0.5)).games
    assert 0 < played.resigned.sum() < len(played) and (played.opening_moves != "").any()
    assert read_games([write_games(tmp_path / "shard0.csv", played)], RULES, len(played)).equals(played)


def at(row: int, column: str, change: Callable[[object], object]) -> Change:
    """A change of one cell."""

    def changed(games: pd.DataFrame) -> pd.DataFrame:
        values = games[column].astype(object)
        values.iloc[row] = change(values.iloc[row])
        return games.assign(**{column: values})

    return changed


def cut(moves: object) -> str:
    return " ".join(str(moves).split()[:-1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda games: games.iloc[: COUNT // 2], r"shard0\.csv: expected 4 games, found 2"),
        (lambda games: games.iloc[COUNT // 2 :], r"shard0\.csv: expected 4 games, found 2"),
        (lambda games: games.iloc[[0, 1, 2, 2]], r"shard0\.csv: line 5: column game: expected every game once"),
        (lambda games: games.iloc[[1, 0, 2, 3]], r"shard0\.csv: line 2: column game: expected every game once"),
        (lambda games: games.drop(columns="opening_moves"), "column opening_moves: expected present, found only game"),
        (lambda games: games.drop(columns="margin"), "column margin: expected present"),
        (lambda games: games.drop(columns="resigned"), "column resigned: expected present"),
        (at(3, "moves", cut), r"shard0\.csv: line 5: expected a finished game, found one that goes on"),
        (at(1, "resigned", lambda _: 0), r"line 3: expected a finished game, found one that goes on"),
        (
            at(3, "resigned", lambda _: 1),
            r"line 5: expected resigned 1 or 2 for a game that goes on, found one that is fin",
        ),
        (
            at(1, "resigned", lambda _: 3),
            r"line 3: expected resigned 1 or 2 for a game that goes on, found one that goes on",
        ),
        (at(1, "result", lambda found: -int(str(found))), r"line 3: expected result -?1, as its moves say, found"),
        (at(2, "result", lambda found: int(str(found)) - 1), r"line 4: expected result -?\d, as its moves say, found"),
        (at(0, "margin", lambda found: int(str(found)) + 1), r"line 2: expected margin -?\d+, as its moves say"),
        (at(2, "plies", lambda found: int(str(found)) + 2), r"line 4: expected plies \d+, as its moves say, found"),
        (at(2, "moves", lambda _: "b9"), r"shard0\.csv: 'b9': expected names of moves of othello-size4, found b9"),
        (at(2, "opening_moves", lambda _: "a1"), r"shard0\.csv: game 2, ply 1: expected a legal move"),
    ],
)
def test_what_cannot_have_been_played_is_refused(change: Change, message: str, tmp_path: Path) -> None:
    path = write_games(tmp_path / "shard0.csv", change(recorded()))
    with pytest.raises(ProbZeroError, match=message):
        read_games([path], SMALL, COUNT)


def test_the_file_of_another_shard_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProbZeroError, match=r"shard1\.csv: shard: expected shard 1, found shard 0"):
        read_games([write_games(tmp_path / "shard1.csv", recorded())], SMALL, COUNT)
    with pytest.raises(ProbZeroError, match=r"a\.csv: expected a file named after its shard"):
        read_games([write_games(tmp_path / "a.csv", recorded())], SMALL, COUNT)
    with pytest.raises(ProbZeroError, match=r"shard0\.csv: expected a file, found nothing"):
        read_games([tmp_path / "shard0.csv"], SMALL, COUNT)
