"""What the page is told of positions, moves and recorded games is true of the game."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploring import answers
from kinds_of_files import GAME, KINDS
from sealed import made, rewrite_table

from probzero.errors import ProbZeroError
from probzero.front_ends.explore.records import Records
from probzero.games.names import named

START = "..../.ox./.xo./...."


def test_the_first_position_is_told_square_by_square() -> None:
    told = answers().position(START)
    assert told["owner"] == ["....", ".ox.", ".xo.", "...."] and told["over"] is None
    landing = {move["move"]: (move["row"], move["column"]) for move in told["moves"]}
    assert landing == {"b1": (0, 1), "a2": (1, 0), "d3": (2, 3), "c4": (3, 2)}
    assert next(move["after"] for move in told["moves"] if move["move"] == "b1") == ".o../.oo./.ox./...."


def test_a_line_has_a_position_before_each_move_and_after_the_last() -> None:
    line = answers().line("", "b1 a1")
    assert [position["at"] for position in line] == [START, ".o../.oo./.ox./....", "ox../.ox./.xo./...."]
    assert line[1]["owner"] == [".o..", ".oo.", ".ox.", "...."]
    assert line == [*answers().line("", "b1"), answers().position(line[2]["at"])]


def test_a_game_that_is_over_says_how_it_ended() -> None:
    told = answers().position("xxxx/xxxx/xxxo/oooo")
    assert told["moves"] == [] and told["over"] == {"result": 1, "margin": 6}


def test_a_move_without_a_square_lands_nowhere() -> None:
    game = answers().game
    passing = next(told for told in _positions_of_games() if told["moves"] and told["moves"][0]["row"] is None)
    assert [(move["move"], move["row"]) for move in passing["moves"]] == [("pass", None)]
    assert not game.finished(game.from_text(passing["at"])[None])[0]


def _positions_of_games() -> list:
    asked = answers()
    record = asked.records.index()[0]["id"]
    return [position for game in asked.records.games(record)[:40] for position in asked.line("", game["moves"])]


def test_the_truth_of_4x4_othello_is_that_of_the_literature() -> None:
    """White wins by 8, whichever of the four alike moves Black plays."""
    told = answers().truth(START)
    assert told is not None and (told["result"], told["margin"]) == (-1, -8)
    assert [(move["margin"], move["keeps"]) for move in told["moves"]] == [(-8, True)] * 4


def test_the_board_of_another_game_has_its_own_rows_columns_and_sides() -> None:
    asked = answers("uct:20", "--game", "connect_four-5x4")
    about = asked.about()
    assert (about["sides"], about["rows"], about["columns"]) == (("Yellow", "Red"), ("",) * 4, tuple("12345"))
    line = asked.line("", "3 3 1")
    assert line[-1]["owner"] == [".....", ".....", "..x..", "o.o.."]
    assert {(move["row"], move["column"]) for move in line[-1]["moves"]} == {(2, 0), (3, 1), (1, 2), (3, 3), (3, 4)}
    thoughts = asked.thoughts(line[-1]["at"], 20)
    assert thoughts["wdl"] is None and sum(move["particles"] for move in thoughts["moves"]) == 20


def test_records_of_a_tournament_are_its_games() -> None:
    asked = answers()
    index = [one["id"] for one in asked.records.index()]
    assert index[0] == "matches/iteration-0012" and "certificates/iteration-0012" in index
    games = asked.records.games("matches/iteration-0012")
    assert all(asked.line("", game["moves"])[-1]["over"] for game in games)
    final = asked.line("", games[0]["moves"])
    view = 1 if len(final) % 2 else -1  # who moved first is to move after an even number of moves
    assert final[-1]["over"]["result"] * view == games[0]["result"]


def test_lines_of_certificates_tell_who_was_beaten_and_where_they_begin() -> None:
    asked = answers()
    lines = asked.records.games("certificates/iteration-0000")
    beaten = lines[0]
    assert beaten["note"] == "beaten" and "best response" in (beaten["first"], beaten["second"])
    final = asked.line(beaten["from"] or "", beaten["moves"])
    view = 1 if len(final) % 2 else -1
    assert final[-1]["over"] == {"result": beaten["result"] * view, "margin": beaten["margin"] * view}
    winner = beaten["first"] if beaten["result"] > 0 else beaten["second"]
    assert winner == "best response"


def test_without_a_run_there_are_no_records(tmp_path: Path) -> None:
    assert Records(named("othello-4"), None).index() == [] == Records(named("othello-4"), tmp_path).index()


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda asked: asked.position("nonsense"), "position: 'nonsense': expected 4 rows"),
        (lambda asked: asked.line("", "b1 b1"), "game: move 2: expected a legal move, found b1"),
        (lambda asked: asked.line("", "z9"), "expected names of moves"),
        (lambda asked: asked.thoughts(START, 7), "particles: request: expected one of 0, 32, found 7"),
        (lambda asked: asked.flow(START, 0), "the policy alone searches nothing"),
        (lambda asked: asked.thoughts("xxxx/xxxx/xxxo/oooo", 32), "expected a game that goes on"),
        (lambda asked: asked.records.games("../../config"), "expected one of the records there are"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(ask, said: str) -> None:
    with pytest.raises(ProbZeroError, match="(?s)" + said.replace("(", r"\(")) as refused:
        ask(answers())
    assert "\n" not in str(refused.value)


def test_a_record_without_its_margins_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "matches" / KINDS["match record"].name
    path.parent.mkdir()
    KINDS["match record"].write(path, made())
    assert len(Records(GAME, tmp_path).games("matches/greedy")) == 4
    rewrite_table(path, lambda table: table.drop(columns="margin"))
    with pytest.raises(ProbZeroError, match=r"greedy\.csv: column margin: expected present"):
        Records(GAME, tmp_path).games("matches/greedy")
