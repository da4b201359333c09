"""Every game speaks the Go Text Protocol; whatever is sent is answered, and what is wrong changes nothing."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sealed import checkpoint_info

from probzero import __version__
from probzero.config import Network
from probzero.front_ends.gtp import Engine
from probzero.front_ends.players import contestant
from probzero.games.names import named
from probzero.network.checkpoint import save_checkpoint
from probzero.network.model import build

NETWORK = Network(blocks=1, channels=8)
GAMES = ("go-5", "othello-4", "connect_four-4x4", "chess")


def engine(name: str = "go-5", player: str = "random") -> Engine:
    game = named(name)
    return Engine(game, lambda text: contestant(text, game), player)


def said(engine: Engine, *lines: str) -> list[str]:
    """The answers, without the empty line that ends each."""
    answers = list(engine.answers(lines))
    assert all(re.fullmatch(r"[=?]\d*( [^\n]*|)(\n[^\n]+)*\n\n", answer) for answer in answers)
    return [answer[:-2] for answer in answers]


def test_answers_bear_the_number_of_their_command() -> None:
    assert said(engine(), "7 protocol_version", "name", "08 version", "quit", "name") == [
        "=7 2", "= ProbZero", f"=08 {__version__}", "=",
    ]  # fmt: skip


def test_comments_control_characters_and_empty_lines_are_nothing() -> None:
    assert said(engine(), "", "  ", "# quit", "na\x07me\r\n", "3\tname # of the engine", "\x00") == [
        "= ProbZero", "=3 ProbZero",
    ]  # fmt: skip


def test_commands_are_those_it_lists() -> None:
    listed = said(engine(), "list_commands")[0][2:].split("\n")
    required = "protocol_version name version known_command list_commands quit boardsize clear_board komi play genmove"
    assert set(required.split()) <= set(listed)
    assert all(said(engine(), f"known_command {name}") == ["= true"] for name in listed)
    assert said(engine(), "known_command loadsgf", "known_command", "loadsgf x") == [
        "= false", "= false", "? unknown command",
    ]  # fmt: skip


def test_a_game_of_go_is_played_taken_back_and_scored() -> None:
    found = engine()
    assert said(found, "boardsize 5", "komi 3.5", "clear_board", "play black C3", "play w c2", "showboard") == [
        "=", "=", "=", "=", "=",
        "= \n   A B C D E\n 5 . . . . .\n 4 . . . . .\n 3 . . X . .\n 2 . . O . .\n 1 . . . . .\nX to move",
    ]  # fmt: skip
    assert said(found, "final_score", "undo", "final_score", "undo", "undo") == [
        "= W+3.5", "=", "= B+21.5", "=", "? cannot undo",
    ]  # fmt: skip
    assert said(found, "final_score", "komi 0", "final_score") == ["= W+3.5", "=", "= 0"]


def test_a_colour_may_move_twice_as_the_protocol_wants() -> None:
    found = engine()
    assert said(found, "play b a1", "play b b1", "play w c1", "play b pass", "play b d1") == ["="] * 5
    assert said(found, "gogui-rules_side_to_move", "gogui-rules_board")[0] == "= white"
    assert said(found, "gogui-rules_board")[0].endswith("\nX X O X .")
    assert said(engine("connect_four-4x4"), "play w 1")[0].startswith("? illegal move")


def test_after_two_passes_the_answer_is_a_pass_and_in_games_without_passes_an_error() -> None:
    assert said(engine(), "play b pass", "play w pass", "genmove b", "play b a1", "final_score") == [
        "=", "=", "= pass", "? illegal move: b a1, the game is over", "= 0",
    ]  # fmt: skip
    lines = [f"play {'bw'[ply % 2]} {1 + ply % 2}" for ply in range(7)]
    found = engine("connect_four-4x4")
    assert said(found, "final_score") == ["? cannot score: the game goes on"]
    assert said(found, *lines)[-1] == "=" and said(found, "genmove w", "final_score") == ["? the game is over", "= B+1"]


def test_engines_play_every_game_by_its_own_names() -> None:
    assert said(engine("othello-4"), "play b a2", "genmove w", "gogui-rules_board_size")[::2] == ["=", "= 4 4"]
    found = engine("connect_four-7x6", "mobility")
    assert (
        said(found, *[f"play {colour} {column}" for colour, column in ("b1", "w7", "b1", "w7", "b1", "w6")])[-1] == "="
    )
    assert said(found, "reg_genmove b", "genmove b", "final_score") == ["= 1", "= 1", "= B+1"]
    assert said(engine("chess"), "play b e2e4", "gogui-rules_side_to_move") == ["=", "= white"]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("boardsize 9", "? unacceptable size: the board of random is 5×5"),
        ("boardsize", "? syntax error: boardsize takes a whole number"),
        ("boardsize 5x", "? syntax error: boardsize takes a whole number"),
        ("boardsize ٥", "? syntax error: boardsize takes a whole number"),
        ("komi nan", "? syntax error: komi takes a number"),
        ("komi 1_0", "? syntax error: komi takes a number"),
        ("play b", "? syntax error: play takes a colour and a vertex"),
        ("play red c3", "? syntax error: expected a colour, black or white"),
        ("play b i9", "? syntax error: i9 is no vertex of go-komi0-longest60-size5"),
        ("genmove", "? syntax error: expected a colour, black or white"),
        ("time_left b 3", "? syntax error: expected 2 numbers"),
        ("gogui-play_sequence b a1 w", "? syntax error: play takes a colour and a vertex"),
        ("12 loadsgf game.sgf", "?12 unknown command"),
        ("12", "?12 unknown command"),
        ("probzero-player othello-5.safetensors", "? player: othello-5.safetensors: expected a checkpoint"),
        ("probzero-position xo.../o..../...../...../..... - 6 0", "? illegal position: number 0: expected a liberty"),
        (
            "probzero-position .o.../o..../...../...../..... b1 6 0",
            "? illegal position: number 0: expected a ko on one",
        ),
        ("probzero-position c3 c3", "? move: 'c3 c3', move 2: expected one of"),
    ],
)
def test_what_is_wrong_is_one_line_and_changes_nothing(line: str, answer: str) -> None:
    found = engine()
    said(found, "play b c3", "play w b2", "komi 1.5")
    before = said(found, "showboard", "final_score", "list_commands")
    refused = said(found, line)
    assert len(refused) == 1 and refused[0].startswith(answer) and "\n" not in refused[0]
    assert said(found, "showboard", "final_score", "list_commands") == before


def test_a_checkpoint_of_another_game_is_refused_and_the_engine_goes_on(tmp_path: Path) -> None:
    game = named("othello-4")
    path = tmp_path / "0001.safetensors"
    save_checkpoint(path, build(game.shape, NETWORK, 1), checkpoint_info(game, NETWORK))
    found = engine()
    refused = said(found, f"probzero-player {path}", "play b c3", "reg_genmove w")
    assert refused[0] == f"? player: {path}: game: expected go-5, found othello-4"
    assert [one[0] for one in refused[1:]] == ["=", "="]
    assert said(engine("othello-4"), f"probzero-player {path}", "genmove b", "probzero-analyse")[0] == "= 0001:96"


def random_line(draws: random.Random, found: Engine) -> str:
    """A command with arguments of any kind, or anything at all."""
    vertices = [found.game.move_name(action) for action in range(min(found.game.actions, 40))]
    legal = [found.game.move_name(action) for action in found.line.legal()] or ["pass"]
    words = [
        *vertices,
        *legal,
        "b",
        "w",
        "black",
        "white",
        "-1",
        "5",
        "0.5",
        "1e9",
        "9" * 30,
        "start",
        "é",
        "\x00",
        "#",
    ]
    kind = draws.random()
    if kind < 0.1:
        return "".join(
            chr(draws.choice((draws.randrange(32), draws.randrange(0x3000)))) for _ in range(draws.randrange(60))
        )
    if kind < 0.5:
        return f"{draws.choice(['', '1 '])}play {draws.choice('bw')} {draws.choice(legal)}"
    command = draws.choice([name for name in found.commands if name != "quit"] + ["loadsgf", ""])
    return f"{draws.choice(['', '12 '])}{command} {' '.join(draws.choices(words, k=draws.randrange(4)))}"


@pytest.mark.parametrize("count", [250, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", GAMES)
def test_random_lines_are_all_answered(name: str, count: int) -> None:
    draws, found, answered = random.Random(count), engine(name), 0
    for _ in range(count):
        line = random_line(draws, found)
        before, past = found.line, len(found.past)
        answers = said(found, line)
        answered += len(answers)
        if answers and answers[0].startswith("?"):
            assert found.line is before and len(found.past) == past
    assert answered > 0.7 * count and said(found, "name", "quit") == ["= ProbZero", "="]


def test_the_command_speaks_until_it_is_told_to_quit() -> None:
    command = [sys.executable, "-m", "probzero", "gtp", "--game", "go-5", "--player", "random"]
    sent = b"1 boardsize 5\n2 genmove b\n\xff\xfe\n3 quit\n4 name\n"
    done = subprocess.run(command, input=sent, capture_output=True, timeout=300, check=True)
    assert re.fullmatch(r"=1\n\n=2 ([A-E][1-5]|pass)\n\n(\? unknown command\n\n)?=3\n\n", done.stdout.decode())
