"""The engine of the Universal Chess Interface, driven as GUIs drive it: by python-chess, and line by line."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.engine
import pytest
from sealed import checkpoint_info

from probzero import games
from probzero.config import Network
from probzero.front_ends.uci import SEARCHES, Engine
from probzero.front_ends.uci_board import Board
from probzero.front_ends.uci_search import seconds_of
from probzero.network.checkpoint import save_checkpoint
from probzero.network.model import build

NETWORK = Network(blocks=1, channels=8, policy_hidden=8)
GAME = games.make("chess_endgames")
MATES_IN_ONE = ("7k/8/6K1/8/8/8/Q7/8 w - - 0 1", "8/q7/8/8/8/6k1/8/7K b - - 0 1")


def saved(folder: Path, name: str, **options: int) -> Path:
    """An untrained network of a game."""
    game, path = games.make(name, **options), folder / f"{name}.safetensors"
    save_checkpoint(path, build(game.shape, NETWORK, 1), checkpoint_info(game, NETWORK))
    return path


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("networks"), "chess_endgames")


class Spoken:
    """An engine in this process, and what it says."""

    def __init__(self, checkpoint: Path) -> None:
        self.lines: list[str] = []
        self.engine = Engine(self.lines.append, str(checkpoint))

    def __call__(self, *lines: str) -> list[str]:
        """Return what is said to these lines, the end of a search awaited."""
        self.lines.clear()
        for line in lines:
            before = self.engine.thread
            self.engine.do(line)
            if self.engine.thread is not before and "infinite" not in line:
                self.engine.thread.join()
        return self.lines.copy()

    def move(self, *lines: str) -> str:
        return self(*lines)[-1].removeprefix("bestmove ")


@pytest.fixture
def spoken(checkpoint: Path) -> Iterator[Spoken]:
    found = Spoken(checkpoint)
    yield found
    found.engine.wait()


@pytest.fixture(scope="module")
def driven(checkpoint: Path) -> Iterator[chess.engine.SimpleEngine]:
    command = [sys.executable, "-m", "probzero", "uci", "--checkpoint", str(checkpoint)]
    with chess.engine.SimpleEngine.popen_uci(command, timeout=3600) as engine:
        engine.ping()
        yield engine


def test_python_chess_finds_its_options_and_sets_them(driven: chess.engine.SimpleEngine) -> None:
    assert driven.id["name"].startswith("ProbZero")
    assert {"Checkpoint", "Search", "Nodes", "Positions"} <= set(driven.options)
    assert driven.options["Search"].var == ["particles", "puct", "ucb1"]
    with pytest.raises(chess.engine.EngineError):
        driven.configure({"Nodes": 0})


@pytest.mark.parametrize("search", SEARCHES)
def test_every_search_plays_legal_moves_for_both_sides(driven: chess.engine.SimpleEngine, search: str) -> None:
    driven.configure({"Search": search})
    driven.ping()
    board = chess.Board()
    for limit in (chess.engine.Limit(nodes=24), chess.engine.Limit(time=0.05), chess.engine.Limit(depth=2)) * 2:
        played = driven.play(board, limit, info=chess.engine.INFO_ALL)
        assert played.move in board.legal_moves
        said = played.info
        assert said["pv"][0] == played.move and said["score"].turn == board.turn and said["nodes"] > 0
        if limit.nodes:
            assert said["nodes"] == limit.nodes
        if limit.depth:
            assert said["depth"] >= limit.depth
        replies = board.copy()
        for move in said["pv"]:
            assert move in replies.legal_moves
            replies.push(move)
        board.push(played.move)


def test_an_endless_search_ends_when_it_is_stopped(driven: chess.engine.SimpleEngine) -> None:
    driven.configure({"Search": "particles"})
    with driven.analysis(chess.Board()) as analysis:
        for info in analysis:
            if info.get("nodes", 0) >= 64:
                break
    assert analysis.wait().move in chess.Board().legal_moves


@pytest.mark.parametrize("search", SEARCHES)
def test_a_mate_in_one_is_played_and_told(spoken: Spoken, search: str) -> None:
    for fen in MATES_IN_ONE:
        said = spoken(f"setoption name Search value {search}", f"position fen {fen}", "go nodes 600")
        move = said[-1].removeprefix("bestmove ")
        board = chess.Board(fen)
        board.push_uci(move)
        assert board.is_checkmate(), move
        assert f"score mate 1 pv {move}" in said[-2]


def test_names_of_moves_are_those_of_python_chess_whoever_is_to_move() -> None:
    draws = random.Random(1)
    starts = [chess.STARTING_FEN, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1",
              "8/PPPk4/8/8/8/8/4Kppp/8 b - - 0 1"]  # fmt: skip
    for fen in starts:
        board, moves = chess.Board(fen), list[str]()
        while not board.is_game_over() and len(moves) < 80:
            ours = Board.after(GAME, fen, moves)
            legal = ours.legal()
            assert sorted(legal) == sorted(move.uci() for move in board.legal_moves)
            assert ours.black == (board.turn == chess.BLACK)
            chosen = draws.choice(sorted(legal))
            moves.append(chosen)
            board.push_uci(chosen)


@pytest.mark.parametrize("search", SEARCHES)
def test_equal_nodes_give_equal_lines_whatever_was_searched_before(
    spoken: Spoken, checkpoint: Path, search: str
) -> None:
    asked = ("position fen 8/8/8/2k5/8/8/2PK4/8 w - - 0 1", "go nodes 100")
    first = spoken(f"setoption name Search value {search}", *asked)
    spoken("position startpos", "go nodes 50")
    again, anew = spoken(*asked), Spoken(checkpoint)(f"setoption name Search value {search}", *asked)
    assert lines(first) == lines(again) == lines(anew)


def lines(said: list[str]) -> list[str]:
    """The lines that are expected, without times."""
    return [re.sub(r" time \d+( nps \d+)?", "", line) for line in said][-2:]


def test_particles_come_to_all_of_many_equal_moves(spoken: Spoken) -> None:
    """An untrained network holds all twenty moves for almost equal, and a batch has eight particles."""
    said = spoken("position startpos", "go nodes 2000")[-2]
    assert int(said.split()[2]) >= 2 and " nodes 2000 " in said


def test_a_move_is_chosen_among_those_that_are_named(spoken: Spoken) -> None:
    assert spoken.move("position startpos", "go nodes 16 searchmoves a2a3") == "a2a3"
    assert spoken.move("position startpos moves e2e4", "go searchmoves h7h6 h7h5 nodes 16") in ("h7h6", "h7h5")


def test_a_clock_is_shared_among_the_moves_to_come() -> None:
    assert seconds_of(60, 0, None) == 2 and seconds_of(60, 0, 10) == 6 and seconds_of(60, 1, 10) == pytest.approx(6.8)
    assert seconds_of(0.01, 0, None) == 0 and seconds_of(0.5, 10, 1) == pytest.approx(0.45)


def test_where_the_game_is_over_there_is_no_move(spoken: Spoken) -> None:
    mated = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
    assert spoken(f"position fen {mated}", "go nodes 8") == ["info depth 0 score mate 0", "bestmove (none)"]
    assert spoken("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "go")[0] == "info depth 0 score cp 0"


def test_lines_of_play_are_counted(spoken: Spoken) -> None:
    assert spoken("go perft 3")[-1] == "info string perft 3: 8902"
    assert spoken("position startpos moves e2e4", "go perft 2")[-1] == "info string perft 2: 600"


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("castle", "command: castle: expected one of uci"),
        ("position", "position: position: expected startpos or fen"),
        ("position startpos moves e2e5", "illegal move: number 1: expected one of .*, found e2e5"),
        ("position startpos moves e2e4 e2e4", "illegal move: number 2"),
        ("position startpos moves E2E4", "illegal move: number 1"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "illegal position: number 0: expected one king on each side"),
        ("position fen 7k/6Q1/6K1/8/8/8/8/8 w - - 0 1", "illegal position: .*a king that cannot be taken"),
        (
            "position fen 7K/8/8/QQQQQ3/QQQQQ3/8/5k2/8 w - - 0 1",
            "illegal position: number 0: .*a side may have",
        ),
        ("position fen hello", "position: 'hello': expected a FEN of six fields"),
        ("position fen 8/8/4k3/8/8/4K3/8/8 w - - 0 1 moves", None),
        ("go nodes", "go: nodes: expected a whole number from 1 to 1000000000, found nothing"),
        ("go nodes 0", "go: nodes: expected a whole number from 1"),
        ("go depth ٣", "go: depth"),
        ("go movetime 1e3", "go: movetime"),
        ("go searchmoves e2e5", "go: searchmoves: expected moves among"),
        ("go perft 99", "go: perft: expected a whole number from 1 to 7, found 99"),
        ("setoption", "setoption: setoption: expected name NAME value VALUE"),
        ("setoption name Hash value 16", "setoption: hash: expected one of Checkpoint, Search, Nodes, Positions"),
        ("setoption name Search value alphabeta", "setoption: Search: expected one of particles, puct, ucb1"),
        ("setoption name Nodes value many", "setoption: Nodes: expected a whole number from 1"),
        ("setoption name Checkpoint value no/such.safetensors", ".*no/such.safetensors"),
    ],
)
def test_what_is_wrong_is_told_in_one_line_and_changes_nothing(spoken: Spoken, line: str, error: str | None) -> None:
    spoken("position startpos moves d2d4")
    before = (spoken.engine.board, spoken.engine.search, spoken.engine.nodes, spoken.engine.network)
    said = spoken(line)
    if error is None:
        assert said == []
        return
    assert len(said) == 1 and re.match(f"info string error: {error}", said[0]), said
    assert (spoken.engine.board, spoken.engine.search, spoken.engine.nodes, spoken.engine.network) == before
    assert spoken("isready")[-1] == "readyok"


@pytest.mark.parametrize(("name", "options"), [("othello", {"size": 4}), ("go", {"size": 3, "komi": 0, "longest": 20})])
def test_a_checkpoint_of_another_game_is_refused(
    spoken: Spoken, tmp_path: Path, name: str, options: dict[str, int]
) -> None:
    said = spoken(f"setoption name Checkpoint value {saved(tmp_path, name, **options)}")
    assert len(said) == 1 and "expected a network of chess or chess_endgames, found" in said[0]
    assert spoken.move("go nodes 8") in {move.uci() for move in chess.Board().legal_moves}


def test_a_network_of_all_of_chess_plays_too(spoken: Spoken, tmp_path: Path) -> None:
    assert spoken(f"setoption name Checkpoint value {saved(tmp_path, 'chess')}") == []
    assert spoken.move("go nodes 8") in {move.uci() for move in chess.Board().legal_moves}


def test_while_it_searches_only_some_commands_are_taken(spoken: Spoken) -> None:
    spoken("go infinite")
    assert spoken("isready")[-1] == "readyok"
    refused = [line for line in spoken("position startpos", "go nodes 4", "ucinewgame") if "error" in line]
    assert len(refused) == 3 and all("expected stop, isready or quit" in line for line in refused)
    assert spoken("stop")[-1].startswith("bestmove ")
    assert spoken("stop") == []


def test_no_search_outlives_its_engine(spoken: Spoken) -> None:
    """An interpreter that ends while compiled code runs in another thread may crash, or never end."""

    def interrupted() -> Iterator[str]:
        yield "go infinite"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spoken.engine.answer(interrupted())
    assert not spoken.engine.thread.is_alive() and spoken.lines[-1].startswith("bestmove ")


def test_at_the_end_of_its_lines_a_search_goes_on_to_its_limit_and_one_without_is_stopped(spoken: Spoken) -> None:
    """So that `printf '…go nodes 64' | probzero uci` is what it says."""
    spoken.engine.answer(["position startpos", "go nodes 64"])
    assert " nodes 64 " in spoken.lines[-2] and spoken.lines[-1].startswith("bestmove ")
    spoken.engine.answer(["go infinite"])
    assert not spoken.engine.thread.is_alive()


def test_a_search_ends_without_a_word_where_nobody_reads(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unread(line: str) -> None:
        raise BrokenPipeError

    fallen: list[object] = []
    monkeypatch.setattr("threading.excepthook", fallen.append)
    engine = Engine(unread, str(checkpoint))
    engine.do("go infinite")
    engine.thread.join(60)
    assert not engine.thread.is_alive() and not fallen


WORDS = ["position", "startpos", "fen", "moves", "e2e4", "e7e5", "e7e8q", "go", "nodes", "depth", "movetime",
         "infinite", "1", "2", "-3", "9" * 30, "setoption", "name", "value", "Search", "Nodes", "ucb1", "puct",
         "particles", "Checkpoint", "searchmoves", "isready", "uci", "ucinewgame", "stop", "wtime", "perft", "é",
         "\x00", "٣", *chess.STARTING_FEN.split(), "8/8/8/3k4/8/8/8/KQ6"]  # fmt: skip


def random_line(draws: random.Random) -> str:
    kind = draws.random()
    if kind < 0.15:
        return "".join(
            chr(draws.choice((draws.randrange(32), draws.randrange(0x3000)))) for _ in range(draws.randrange(50))
        )
    if kind < 0.35:
        moves = draws.choice(["", "moves e2e4", "moves e2e4 e7e5 g1f3", "moves e2e4 e2e4"])
        return f"position startpos {moves}"
    if kind < 0.45:
        limit = draws.choice(["nodes 1", "nodes 9", "movetime 1", "depth 1", "infinite", "wtime 5 btime 5", "perft 2"])
        return f"go {limit}"
    if kind < 0.55:
        return draws.choice(["stop", "isready", "setoption name Search value ucb1", "setoption name Search value puct"])
    return " ".join(draws.choices(WORDS, k=draws.randrange(8)))


@pytest.mark.parametrize("count", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_lines_leave_an_engine_that_goes_on(spoken: Spoken, count: int) -> None:
    draws = random.Random(count)
    spoken("setoption name Nodes value 8", "setoption name Positions value 100000")
    for number in range(count):
        line = random_line(draws)
        if "quit" in line.split():
            continue
        said = spoken(line)
        assert all("\n" not in answer and answer.split()[0] in SAID for answer in said), line
        if number % 10 == 9:
            spoken("stop")
    spoken("stop", "setoption name Search value particles", "ucinewgame")
    assert spoken.move("position startpos", "go nodes 8") in {move.uci() for move in chess.Board().legal_moves}


SAID = ("info", "bestmove", "readyok", "id", "option", "uciok")


def test_without_a_committed_network_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from probzero.front_ends import networks

    monkeypatch.setattr(networks, "REPOSITORY", tmp_path)
    monkeypatch.chdir(tmp_path)
    lines: list[str] = []
    engine = Engine(lines.append)
    engine.do("go nodes 8")
    assert len(lines) == 1 and lines[0].startswith(
        "info string error: network: chess_endgames: expected a committed one"
    )
    engine.do("setoption name Search value ucb1")
    engine.do("go nodes 8")
    engine.thread.join()
    assert lines[-1].startswith("bestmove ")
