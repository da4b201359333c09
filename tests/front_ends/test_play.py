"""Games in the terminal: what a person types, what is kept, and how it ends when it is broken off."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from probzero import games
from probzero.__main__ import main
from probzero.errors import ProbZeroError
from probzero.front_ends import positions, saved

ROOT = Path(__file__).parents[2]
FOUR = games.make("othello", size=4)
PLAY = ["play", "--game", "othello-4"]
DEADLINE = 300.0  # seconds; other tests may keep the machine busy
Typed = Callable[..., str]


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where games that go on are kept."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "state"


@pytest.fixture
def typed(state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Play with these lines from a person whose input then ends; return what was shown."""

    def play(lines: str, *words: str, status: int = 0) -> str:
        answers = iter(lines.split("\n"))

        def answer(prompt: str) -> str:
            print(prompt, end="")
            for line in answers:
                return line
            raise EOFError

        monkeypatch.setattr("builtins.input", answer)
        assert main([*PLAY, *words]) == status
        return capsys.readouterr().out

    return play


def test_a_person_plays_a_whole_game(typed: Typed, state: Path) -> None:
    """The first legal move each time, against itself: 4×4 Othello by the rules of the slow implementation."""
    from oracles.slow_othello import SlowOthello

    board, moves = SlowOthello.start(4), []
    while legal := board.legal_moves():
        moves.append(FOUR.move_name(legal[0]))
        board = board.after(legal[0])
    shown = typed("\n".join(move for move in moves if move != "pass"), "human", "human")
    margin = board.margin() if len(moves) % 2 == 0 else -board.margin()
    winner = "Black" if margin > 0 else "White"
    assert f"{winner} (human) wins by {abs(margin)}." in " ".join(shown.split())
    assert not list(state.rglob("*.json"))  # a game that is over is not kept


def test_undo_takes_back_both_moves_and_an_illegal_one_changes_nothing(typed: Typed) -> None:
    shown = typed("c4\nundo\nundo\nD3\na1\nmoves\nquit", "greedy")
    assert "there is no move of yours to take back" in shown
    assert "expected one of" in shown and "found a1" in shown
    (kept,) = re.findall(r"(d3 \w\d)\n", shown)
    assert saved.load(saved.latest())[0].moves == kept


def test_hint_and_truth_say_what_the_player_thinks_and_what_is_so(typed: Typed) -> None:
    """4×4: every first move loses by 8."""
    shown = typed("hint\ntruth\nnonsense\nquit", "uct:50")
    assert "Black, as uct sees it with 50 particles" in shown
    assert "exactly: a loss (-8)" in shown and len(re.findall(r"-8", shown)) == 5
    assert "no move, and no word: 'nonsense'" in shown and "moves: b1 a2 d3 c4" in shown


def test_a_game_that_was_left_goes_on(typed: Typed, state: Path) -> None:
    assert "the input has ended; the game is kept: probzero play --resume" in typed("c4", "human", "human")
    (kept,) = state.rglob("*.json")
    shown = typed("moves\nsave other.json\nquit", "--resume")
    assert "\nc4\n" in shown and "--load other.json" in shown
    assert kept.read_text() == Path("other.json").read_text()
    assert "White (uct:8) plays" in typed("quit", "--load", "other.json", "human", "uct:8")


def test_two_players_are_watched(typed: Typed) -> None:
    shown = typed("", "random", "perfect")
    assert "plays" in shown and re.search(r"\((random|perfect)\) wins by \d+\.", shown)


@pytest.mark.parametrize(
    "words",
    [
        ["a", "b", "c"],
        ["nobody"],
        ["--game", "othello-6", "perfect"],
        ["--game", "connect_four-4x4", "greedy"],
        ["--position", "a1"],
        ["--load", "absent.json"],
        ["--resume"],
        ["network"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_played_is_one_line(words: list[str], state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if words == ["network"]:
        words = [str(ROOT / "results/reference/laptop/seed0/checkpoints/0060.safetensors")]  # of another size
    assert main([*PLAY, *words]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("probzero: error: ") and captured.err.count("\n") == 1


@pytest.mark.parametrize(
    "damage",
    [
        ("{", ""), ('"format": 1', '"format": 2'), ("othello-size4", "othello-size7"), ('"human",', ""),
        ('"moves": "c4"', '"moves": "c4 c4"'), ('"moves": "c4"', '"moves": "z9"'), ('"moves": "c4"', '"moves": 4'),
        ("..../.ox.", "..../xoxo/x"), ('"moves"', '"others"'),
    ],
)  # fmt: skip
def test_a_saved_game_that_was_changed_is_refused(damage: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    saved.save(path, positions.read(FOUR, "c4"), ("human", "uct:9"))
    line, players = saved.load(path)
    assert line.moves == "c4" and players == ("human", "uct:9")
    assert damage[0] in path.read_text()
    path.write_text(path.read_text().replace(*damage))
    with pytest.raises(ProbZeroError, match="saved game"):
        saved.load(path)


class Terminal:
    """A program in a terminal of so many columns."""

    def __init__(self, words: list[str], folder: Path, columns: int) -> None:
        self.screen, theirs = pty.openpty()
        environment = {
            **os.environ, "XDG_STATE_HOME": str(folder), "PYTHONPATH": str(ROOT / "src"), "TERM": "xterm",
            "COLUMNS": str(columns), "PYTHONUTF8": "1",
        }  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-m", "probzero", *words], stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
            cwd=folder, start_new_session=True, preexec_fn=lambda: _control(theirs),
        )  # fmt: skip
        os.close(theirs)
        self.seen = ""

    def until(self, wanted: str) -> str:
        """Read until this text has come since the last call; return what did, without its colours."""
        assert self._comes(wanted, DEADLINE), f"{wanted!r} did not come: {self.seen!r}"
        before, _, self.seen = self.seen.partition(wanted)
        return before + wanted

    def interrupt_until(self, wanted: str) -> str:
        """Press Ctrl-C, and again after ten seconds of silence, as a person would; return what came, to this text.

        A signal between readline's prompt and its wait for a key is noticed at the next key or signal alone (CPython).
        """
        for _ in range(12):
            self.type("\x03")
            if self._comes(wanted, 10.0):
                break
        return self.until(wanted)

    def _comes(self, wanted: str, silence: float) -> bool:
        """Read until this text has come, or nothing for so many seconds; return whether it came."""
        while wanted not in self.seen:
            if not select.select([self.screen], [], [], silence)[0]:
                return False
            try:
                data = os.read(self.screen, 65536)
            except OSError:  # the other end is closed
                data = b""
            assert data, f"it ended without {wanted!r}: {self.seen!r}"
            self.seen += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", data.decode())
        return True

    def type(self, text: str) -> None:
        os.write(self.screen, text.encode())


def _control(terminal: int) -> None:
    import fcntl
    import termios

    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)  # Ctrl-C is for this program
    for number in (signal.SIGINT, signal.SIGHUP):  # which whoever runs the tests in the background may have ignored
        signal.signal(number, signal.SIG_DFL)


def test_in_a_terminal_of_40_columns_ctrl_c_ends_it_with_one_line_and_keeps_the_game(tmp_path: Path) -> None:
    terminal = Terminal(["play", "--game", "othello-4", "uct:20"], tmp_path, 40)
    shown = terminal.until("Black to move: ")
    terminal.type("c4\n")
    shown += terminal.until("Black to move: ")
    terminal.type("hint\n")
    shown += terminal.until("Black to move: ")
    assert max(len(line) for line in re.split(r"[\r\n]", shown)) <= 40
    assert "●" in shown and "+" in shown  # discs, and legal moves marked
    ended = terminal.interrupt_until("probzero play --resume")
    assert "probzero: interrupted; the game is kept" in ended and "Traceback" not in ended
    assert terminal.process.wait(DEADLINE) == 130
    (kept,) = (tmp_path / "probzero").rglob("*.json")
    assert saved.load(kept)[0].moves.startswith("c4 ")


def test_a_reader_that_goes_away_loses_no_game(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "src")}
    playing = subprocess.Popen(
        [sys.executable, "-m", "probzero", *PLAY, "human", "human"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=environment, text=True,
    )  # fmt: skip
    assert playing.stdin is not None and playing.stdout is not None and playing.stderr is not None
    playing.stdin.write("c4\n")
    playing.stdin.flush()
    for line in playing.stdout:
        if "last: c4" in line:
            break
    playing.stdout.close()
    with contextlib.suppress(BrokenPipeError):  # it may have noticed already, and have ended
        playing.stdin.write("moves\n" * 50)
        playing.stdin.close()
    assert playing.wait(DEADLINE) == 141
    assert playing.stderr.read() == (
        "probzero: nobody reads the output any more; the game is kept: probzero play --resume\n"
    )
    (kept,) = (tmp_path / "probzero").rglob("*.json")
    assert saved.load(kept)[0].moves == "c4"


@pytest.mark.parametrize("words", [[*PLAY, "human", "human"], ["analyse", "--game", "othello-4", "--player", "uct:8"]])
def test_a_reader_that_was_never_there_is_one_line(words: list[str], tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "src")}
    ended = subprocess.run(
        [sys.executable, "-m", "probzero", *words], input=b"c4\n", stdout=writing, stderr=subprocess.PIPE,
        env=environment,
    )  # fmt: skip
    os.close(writing)
    assert ended.returncode == 141
    assert ended.stderr.decode().startswith("probzero: nobody reads the output any more")
    assert ended.stderr.count(b"\n") == 1


def test_a_game_begins_with_who_plays_and_what_may_be_typed(typed: Typed) -> None:
    shown = " ".join(typed("quit", "uct:8").split())
    assert shown.startswith("● Black: human ○ White: uct:8 Type a move, such as c4, or help.")


def test_the_pieces_of_both_are_counted_whoever_is_to_move(typed: Typed) -> None:
    shown = " ".join(typed("c4\nundo\nquit", "human", "human").split())
    assert re.findall(r"● Black (\d+) ○ White (\d+)", shown) == [("2", "2"), ("4", "1"), ("2", "2")]


def test_two_games_that_are_left_do_not_overwrite_each_other(typed: Typed, state: Path) -> None:
    """Both are of this process, as would be those of two processes that the system calls by one number."""
    typed("c4", "human", "human")
    time.sleep(1.1)
    typed("d3", "human", "human")
    assert sorted(saved.load(path)[0].moves for path in state.rglob("*.json")) == ["c4", "d3"]
    assert saved.load(saved.latest())[0].moves == "d3"


def test_a_terminal_that_knows_ascii_alone_gets_letters(tmp_path: Path) -> None:
    environment = {
        **os.environ, "XDG_STATE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "ascii",
    }  # fmt: skip
    shown = subprocess.run(
        [sys.executable, "-m", "probzero", *PLAY, "human", "human"], input="c4\n", capture_output=True, text=True,
        env=environment, check=True,
    )  # fmt: skip
    assert " 2 + O X ." in shown.stdout and shown.stdout.isascii()


def test_an_engine_that_dies_ends_the_game_with_one_line_and_the_game_is_kept(
    state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("builtins.input", lambda prompt: "c4")
    engine = f"gtp:{sys.executable} {Path(__file__).parent / 'toy_engine.py'} dies"
    assert main([*PLAY, engine]) == 2
    error = capsys.readouterr().err
    assert "nothing: it has ended; the game is kept: probzero play --resume" in error and error.count("\n") == 1
    assert saved.load(saved.latest())[0].moves == "c4"


def test_a_signal_of_the_system_leaves_the_game(tmp_path: Path) -> None:
    terminal = Terminal([*PLAY, "human", "human"], tmp_path, 80)
    terminal.until("Black to move: ")
    terminal.type("c4\n")
    terminal.until("White to move: ")
    os.kill(terminal.process.pid, signal.SIGHUP)
    assert terminal.process.wait(DEADLINE) != 0
    (kept,) = (tmp_path / "probzero").rglob("*.json")
    assert saved.load(kept)[0].moves == "c4"
