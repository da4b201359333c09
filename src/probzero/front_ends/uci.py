"""The Universal Chess Interface: one line in, any number of lines out, while a search goes on in a thread of its own.

Options: `Checkpoint`, a network of the rules of chess (by default the committed one of the endgames); `Search`, which
is particles, puct, or ucb1 with random playouts; `Nodes` of a `go` that says no limit; `Positions`, the most that a
search keeps. A node is a particle or a simulation; the depth is the length of the line that the search expects.

The protocol has no errors: a line that cannot be done is answered by `info string error: …` and changes nothing. A game
that began before the position does not count: repetition is no part of the rules (`games/chess.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import Literal

from probzero import __version__
from probzero.config import Search
from probzero.errors import ProbZeroError, bad
from probzero.front_ends import networks
from probzero.front_ends.uci_board import STARTPOS, Board
from probzero.front_ends.uci_search import Limits, seconds_of, think
from probzero.games import make
from probzero.games.base import Game
from probzero.games.chess import Chess
from probzero.games.names import short_name
from probzero.network.inference import Evaluator
from probzero.search.build import SearchFactory

GAME, ENDGAMES = "chess", "chess_endgames"
COMMITTED = "<committed>"  # the checkpoint of which nobody says another
SEARCHES = {"particles": "particle", "puct": "puct", "ucb1": "ucb1"}  # and the algorithms' names elsewhere
SPLITTING: Literal["systematic"] = (
    "systematic"  # its draws are keyed by the position; without any, few particles leave out many equal moves
)
PLAYOUTS = Search(splitting=SPLITTING, temperature=1.0, cache=False, algorithm="ucb1")
NODES, POSITIONS = (384, 1, 10_000_000), (2_000_000, 10_000, 50_000_000)  # default, least and most
LONGEST = 10**9  # of a number that somebody sends
NONE = "(none)"  # the best move where there is none
DEPTH_OF_PERFT = 7
Words = list[str]


class Engine:
    """What was set and where the game stands; `write` takes whole lines, from any thread."""

    def __init__(self, write: Callable[[str], None], checkpoint: str = COMMITTED) -> None:
        self._write, self._writing = write, Lock()
        self.checkpoint, self.search, self.nodes, self.positions = COMMITTED, "particles", NODES[0], POSITIONS[0]
        self.network: tuple[Path, Evaluator] | None = None
        self.board = Board.after(make(GAME), STARTPOS, [])
        self.stop, self.told, self.thread = Event(), Event(), Thread()
        self._factory: SearchFactory | None = None
        self.quitting = self.endless = False  # the latter of the search that goes on
        if checkpoint != COMMITTED:
            self._set_checkpoint(checkpoint)
        self.commands: dict[str, Callable[[Words], None]] = {
            "uci": self._uci,
            "isready": self._is_ready,
            "debug": lambda words: None,
            "ucinewgame": self._new_game,
            "setoption": self._set_option,
            "position": self._set_position,
            "go": self._go,
            "stop": lambda words: self.wait(),
            "quit": self._quit,
        }

    def say(self, line: str) -> None:
        with self._writing:
            self._write(line)

    def answer(self, lines: Iterable[str]) -> None:
        """Do what lines say until `quit`, or their end, at which a search with a limit comes to it first.

        However that ends, the search ends first: an interpreter that shuts down under compiled code may crash."""
        try:
            for line in lines:
                self.do(line)
                if self.quitting:
                    return
            if self.thread.is_alive() and not self.endless:
                self.thread.join()
        finally:
            self.wait()

    def do(self, line: str) -> None:
        """Do what a line says."""
        words = line.split()
        if not words:
            return
        try:
            if words[0] not in self.commands:
                raise bad("command", words[0][:40], f"one of {', '.join(self.commands)}", "another")
            self.commands[words[0]](words[1:])
        except ProbZeroError as error:
            self._refuse(error)

    def wait(self) -> None:
        """Stop the search, if one is going on, and wait until it has told its move."""
        self.stop.set()
        if self.thread.is_alive():
            self.thread.join()

    def _refuse(self, error: ProbZeroError) -> None:
        text = " ".join("".join(one if one.isprintable() else " " for one in str(error)).split())
        self.say(f"info string error: {text}")

    def _at_rest(self) -> None:
        if self.told.is_set() and self.thread.is_alive():  # who has told its move ends at once
            self.thread.join()
        if self.thread.is_alive():
            raise bad("command", "while a search is going on", "stop, isready or quit", "another")

    def _quit(self, words: Words) -> None:
        self.wait()
        self.quitting = True

    def _uci(self, words: Words) -> None:
        self.say(f"id name ProbZero {__version__}")
        self.say("id author the authors of ProbZero")
        self.say(f"option name Checkpoint type string default {COMMITTED}")
        self.say(f"option name Search type combo default particles {' '.join(f'var {name}' for name in SEARCHES)}")
        for name, (usual, least, most) in (("Nodes", NODES), ("Positions", POSITIONS)):
            self.say(f"option name {name} type spin default {usual} min {least} max {most}")
        self.say("uciok")

    def _is_ready(self, words: Words) -> None:
        """Load and compile what a search needs, if that was not done yet, so that its time is its own."""
        if self._factory is None and not self.thread.is_alive():
            try:
                think(self.factory, Board.after(self.game, STARTPOS, []), Limits(nodes=1), self.stop, lambda line: None)
            except ProbZeroError as error:
                self._refuse(error)
        self.say("readyok")

    def _new_game(self, words: Words) -> None:
        self._at_rest()
        self.board = Board.after(make(GAME), STARTPOS, [])

    def _set_option(self, words: Words) -> None:
        self._at_rest()
        if words[:1] != ["name"] or "value" not in words:
            raise bad("setoption", " ".join(words)[:80] or "setoption", "name NAME value VALUE", "something else")
        place = words.index("value")
        name, value = " ".join(words[1:place]).lower(), " ".join(words[place + 1 :])
        if name == "checkpoint":
            self._set_checkpoint(value)
        elif name == "search":
            if value not in SEARCHES:
                raise bad("setoption", "Search", f"one of {', '.join(SEARCHES)}", value or "nothing")
            self.search = value
        elif name == "nodes":
            self.nodes = _number("setoption", "Nodes", [value], *NODES[1:])
        elif name == "positions":
            self.positions = _number("setoption", "Positions", [value], *POSITIONS[1:])
        else:
            raise bad("setoption", name or "setoption", "one of Checkpoint, Search, Nodes, Positions", "no such option")
        self._factory = None

    def _set_checkpoint(self, value: str) -> None:
        path = networks.committed_of(ENDGAMES) if value == COMMITTED else Path(value)
        if path.is_dir():
            path = networks.newest(path)
        evaluator, info = networks.load(path)
        if not isinstance(info.game, Chess):
            raise bad("checkpoint", path, f"a network of {GAME} or {ENDGAMES}", short_name(info.game))
        self.network, self.checkpoint = (path, evaluator), value

    @property
    def game(self) -> Game:
        """Return the rules of the search: those that the network learned with, of which others have none."""
        return make(GAME) if self.search == "ucb1" or self.network is None else self.network[1].game

    @property
    def factory(self) -> SearchFactory:
        """Return what makes searches as they are set; evaluations are kept from move to move."""
        if self._factory is None:
            if self.search == "ucb1":
                self._factory = SearchFactory(make(GAME), None, PLAYOUTS, self.positions, "Positions")
            else:
                if self.network is None:
                    self._set_checkpoint(self.checkpoint)
                assert self.network is not None
                path, evaluator = self.network
                chosen = {"algorithm": SEARCHES[self.search], "splitting": SPLITTING}
                settings = networks.search_of(path)[0].model_copy(update=chosen)
                self._factory = SearchFactory(evaluator.game, evaluator, settings, self.positions, "Positions")
        return self._factory

    def _set_position(self, words: Words) -> None:
        self._at_rest()
        place = words.index("moves") if "moves" in words else len(words)
        begin, moves = words[:place], words[place + 1 :]
        if begin == [STARTPOS]:
            self.board = Board.after(make(GAME), STARTPOS, moves)
        elif begin[:1] == ["fen"]:
            self.board = Board.after(make(GAME), " ".join(begin[1:]), moves)
        else:
            raise bad("position", " ".join(words)[:80] or "position", "startpos or fen, and moves", "something else")

    def _go(self, words: Words) -> None:
        self._at_rest()
        if words[:1] == ["perft"]:
            self._perft(words[1:])
            return
        limits = self._limits(words)
        if not self.board.legal():
            self.say("info depth 0 score " + ("mate 0" if self.board.lost else "cp 0"))
            self.say(f"bestmove {NONE}")
            return
        factory = self.factory
        board = Board(self.game, self.board.state, self.board.black)
        self.stop.clear()
        self.told.clear()
        self.endless = limits.endless
        self.thread = Thread(target=self._think, args=(factory, board, limits))
        self.thread.start()

    def _think(self, factory: SearchFactory, board: Board, limits: Limits) -> None:
        move = NONE
        try:
            move = think(factory, board, limits, self.stop, self.say)
            if limits.endless:
                self.stop.wait()  # the protocol wants no move before `stop`
        except ProbZeroError as error:
            self._refuse(error)
        except BrokenPipeError:
            return  # nobody reads any more, which the main thread will find too
        finally:
            self.told.set()  # before anybody can answer the move
            with suppress(BrokenPipeError):
                self.say(f"bestmove {move}")

    def _limits(self, words: Words) -> Limits:
        """Return the limits that a `go` says; words that it does not know are passed over, as the protocol wants."""
        numbers, among, rest = dict[str, int](), list[int](), list(words)
        known, legal = set[str](), self.board.legal()
        while rest:
            name = rest.pop(0)
            if name in LIMITS:
                numbers[name] = _number("go", name, rest[:1], *LIMITS[name])
                rest = rest[1:]
            elif name == "searchmoves":
                while rest and rest[0] in legal:
                    among.append(legal[rest.pop(0)])
                if not among:
                    raise bad("go", "searchmoves", f"moves among {' '.join(legal)}", rest[0] if rest else "none")
            else:
                known.add(name)
        seconds = numbers["movetime"] / 1000 if "movetime" in numbers else None
        clock, increment = ("btime", "binc") if self.board.black else ("wtime", "winc")
        if seconds is None and clock in numbers:
            moves = numbers.get("movestogo")
            seconds = seconds_of(max(0, numbers[clock]) / 1000, numbers.get(increment, 0) / 1000, moves)
        nodes, depth = numbers.get("nodes"), numbers.get("depth")
        if "infinite" in known:
            return Limits(nodes, seconds, depth, tuple(among), endless=True)
        if nodes is None and seconds is None and depth is None:
            nodes = self.nodes
        return Limits(nodes, seconds, depth, tuple(among))

    def _perft(self, words: Words) -> None:
        """Count lines of play from the position, as engines do to check and to time their rules."""
        depth, began = _number("go", "perft", words, 1, DEPTH_OF_PERFT), monotonic()
        nodes = self.board.game.loops("probzero.games.compiled.rows").perft(self.board.state, depth)
        seconds = max(monotonic() - began, 1e-9)
        self.say(f"info depth {depth} nodes {nodes} time {1000 * seconds:.0f} nps {nodes / seconds:.0f}")
        self.say(f"info string perft {depth}: {nodes}")


LIMITS = {
    "nodes": (1, LONGEST),
    "movetime": (1, LONGEST),
    "depth": (1, LONGEST),
    "movestogo": (1, LONGEST),
    **dict.fromkeys(("wtime", "btime", "winc", "binc"), (-LONGEST, LONGEST)),  # a clock may have run out
}


def _number(command: str, name: str, words: Words, least: int, most: int) -> int:
    """Return the first of the words as a whole number within its range, or refuse it."""
    text = words[0] if words else "nothing"
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 12 and least <= int(text) <= most):
        raise bad(command, name, f"a whole number from {least} to {most}", text[:40])
    return int(text)
