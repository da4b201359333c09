"""Matches between two players by name, and programs that speak the Go Text Protocol as players."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from oracles.slow_othello import SlowOthello

from probzero import games
from probzero.__main__ import main
from probzero.errors import ProbZeroError
from probzero.front_ends import matches
from probzero.front_ends.gtp_client import Engine, GtpPlayer
from probzero.front_ends.players import contestant
from probzero.games.names import named
from probzero.random_keys import key

FOUR = games.make("othello", size=4)
GNU_GO = shutil.which("gnugo") or shutil.which("/usr/games/gnugo")
ENGINE = f"{sys.executable} {Path(__file__).parent / 'toy_engine.py'}"


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["match", *words]) == 0
    return capsys.readouterr().out


def test_a_match_is_of_paired_openings_and_its_record_reads_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    told = said(capsys, "perfect", "random", "--game", "othello-4", "--games", "12", "--plies", "3")
    record = tmp_path / "matches" / "perfect-random.csv"
    table = pd.read_csv(record)
    assert len(table) == 12 and (table.groupby("opening")["first"].nunique() == 2).all()
    assert (table.groupby("opening")["opening_moves"].nunique() == 1).all()
    points = (1 + table["result"].where(table["first"] == "perfect", -table["result"])).sum() / 2
    assert f"{points:g} of 12 points · {100 * points / 12:.0f} %" in told
    distinct = len(table[["opening_moves", "moves"]].drop_duplicates())
    assert f"{distinct} different games · record: matches/perfect-random.csv" in told
    assert said(capsys, "--read", str(record), "--game", "othello-4").replace(str(tmp_path) + "/", "") == told


def test_equal_players_openings_and_keys_give_equal_games(tmp_path: Path) -> None:
    common = ["match", "uct:20", "mobility", "--game", "othello-4", "--games", "4"]
    for name in ("one", "two", "other"):
        more = ["--key", "1"] if name == "other" else []
        assert main([*common, "--output", str(tmp_path / f"{name}.csv"), *more]) == 0
    one, two, other = ((tmp_path / f"{name}.csv").read_bytes() for name in ("one", "two", "other"))
    assert one == two != other


def test_a_record_whose_moves_do_not_lead_to_its_results_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "games.csv"
    assert main(["match", "random", "greedy", "--game", "othello-4", "--games", "2", "--output", str(path)]) == 0
    capsys.readouterr()
    path.write_text(path.read_text().replace("random", "perfect"))
    assert main(["match", "--read", str(path), "--game", "othello-4"]) == 2
    assert "SHA-256" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "two that are no people"),
        (["random"], "two that are no people"),
        (["random", "human"], "two that are no people"),
        (["random", "random"], "two different ones"),
        (["random", "greedy", "--games", "3"], "an even number"),
        (["random", "greedy", "--games", "20", "--plies", "1"], "at most 1 after 1 plies"),
        (["random", "gtp:"], "a program that can be started"),
        (["random", "gtp:/no/such/program"], "a program that can be started"),
        (["random", "greedy", "--read", "x.csv"], "none beside --read"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_matches_that_cannot_be_are_one_line(
    words: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["match", "--game", "othello-4", *words]) == 2
    captured = capsys.readouterr()
    assert expected in captured.err and captured.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_engine_plays_what_it_says_in_every_game(tmp_path: Path) -> None:
    """The toy plays its first legal move by the slow rules: from every opening, on either side."""
    one, other = contestant(f"gtp:{ENGINE}", FOUR), contestant("greedy", FOUR)
    played = matches.play(one, other, 4, 3, 7, lambda done: None)
    assert len(played) == 8 and set(played["first"]) | set(played["second"]) == {matches.in_record(one.name), "greedy"}
    for _, row in played.iterrows():
        board, opening = SlowOthello.start(4), row["opening_moves"].split()
        for ply, name in enumerate([*opening, *row["moves"].split()]):
            mover = row["first"] if ply % 2 == 0 else row["second"]
            if ply >= len(opening) and mover != "greedy":
                assert name == FOUR.move_name(board.legal_moves()[0])
            board = board.after(FOUR.actions_by_name[name])


@pytest.mark.parametrize(
    ("manner", "expected"), [("cheats", "expected one of .* found A1"), ("dies", "found nothing: it has ended")]
)
def test_an_engine_that_misbehaves_is_named(manner: str, expected: str) -> None:
    with pytest.raises(ProbZeroError, match=expected):
        matches.play(contestant(f"gtp:{ENGINE} {manner}", FOUR), contestant("random", FOUR), 1, 2, 0, lambda done: None)


def test_an_engine_that_gives_up_plays_on() -> None:
    player = GtpPlayer(FOUR, f"{ENGINE} resigns", lambda state: "")
    player.begin(FOUR.start()[None], np.array([key("x")], np.int64))
    assert FOUR.legal(FOUR.start()[None])[0, player.choose(np.array([0]), 0)[0]]


def test_an_engine_that_says_nothing_is_not_waited_for_for_ever() -> None:
    engine = Engine("sleep 60", patience=0.2)
    with pytest.raises(ProbZeroError, match="found nothing for 0 s"):
        engine.send("name")
    engine.end()
    assert engine.process.poll() is not None


def test_games_that_did_not_begin_at_the_start_are_not_for_engines() -> None:
    player = GtpPlayer(FOUR, ENGINE, lambda state: None)
    with pytest.raises(ProbZeroError, match="games that begin at the start"):
        player.begin(FOUR.start()[None], np.array([0], np.int64))


@pytest.mark.system
@pytest.mark.skipif(not GNU_GO, reason="needs GNU Go (Debian: gnugo)")
def test_gnu_go_plays_paired_games_of_go() -> None:
    go, options = named("go-5"), "--mode gtp --level 1 --chinese-rules --capture-all-dead --seed 1"
    one, other = contestant(f"gtp:{GNU_GO} {options}", go), contestant("random", go)
    played = matches.play(one, other, 2, 2, 0, lambda done: None)
    assert len(played) == 4 and matches.in_record(one.name) == "gnugo"
    won = played["result"].where(played["first"] == "gnugo", -played["result"])
    assert won.sum() == 4  # against random moves


@pytest.mark.system
@pytest.mark.skipif(not GNU_GO, reason="needs GNU Go (Debian: gnugo)")
@pytest.mark.parametrize(("options", "passes"), [("", True), ("--capture-all-dead", False)])
def test_gnu_go_takes_dead_stones_off_if_it_is_told_to(options: str, passes: bool) -> None:
    """Else it passes while they stand, and the board is scored as it stands: they would live."""
    engine = Engine(f"{GNU_GO} --mode gtp --level 1 --chinese-rules --seed 1 {options}")
    engine.send("boardsize 5")
    for move in ("c3", "e1", "c2", "pass", "c4", "pass", "d2", "pass", "b3", "pass", "e2", "pass"):  # e1 is dead
        engine.send(f"play {'w' if move in ('e1', 'pass') else 'b'} {move}")
    assert (engine.send("genmove b").lower() == "pass") == passes
    engine.end()
