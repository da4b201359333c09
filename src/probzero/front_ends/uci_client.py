"""A program that speaks the Universal Chess Interface as a player: Stockfish, Fairy-Stockfish and others.

One process plays all games: before each of its moves it is told the game from the start. `go` says how far it thinks,
as in "depth 6", "nodes 10000" or "movetime 100". Moves are called as `Game.uci_name` calls them.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, Queue
from threading import Thread

import numpy as np

from probzero.arena.simple_players import Follower
from probzero.errors import ProbZeroError, bad
from probzero.games.base import Game
from probzero.kinds import Array, plain

PATIENCE = 120.0  # seconds for one answer
STANDARD = "chess"  # the variant of which the interface says nothing
History = Callable[[np.ndarray], str | None]  # the moves that led from the start to where a game begins


class Engine:
    """The process, and its answers. It is ended with the object."""

    def __init__(self, command: str) -> None:
        self.command = command
        try:
            self.process = subprocess.Popen(
                shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True, bufsize=1, errors="replace",
            )  # fmt: skip
        except (OSError, ValueError, IndexError) as error:
            raise bad("engine", command, "a program that can be started", error) from None
        self._lines: Queue[str | None] = Queue()
        Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.strip())
        self._lines.put(None)

    def send(self, *commands: str) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write("".join(f"{command}\n" for command in commands))
            self.process.stdin.flush()
        except OSError:
            raise self._wrong(commands[-1], "nothing: it has ended") from None

    def ask(self, command: str, answer: str) -> list[str]:
        """Send a command; return the words of the next line that begins with `answer`."""
        self.send(command)
        while True:
            try:
                line = self._lines.get(timeout=PATIENCE)
            except Empty:
                raise self._wrong(command, f"no {answer} for {PATIENCE:.0f} s") from None
            if line is None:
                raise self._wrong(command, "nothing: it has ended")
            if line.split()[:1] == [answer]:
                return line.split()

    def _wrong(self, command: str, found: str) -> ProbZeroError:
        return bad("engine", f"{self.command}: {command}", "an answer", found)

    def __del__(self) -> None:
        if hasattr(self, "process"):
            with suppress(OSError):
                self.process.kill()
                self.process.wait()


class UciPlayer(Follower):
    """The engine as a player."""

    def __init__(self, game: Game, go: str, command: str, history: History) -> None:
        super().__init__(game)
        if game.uci_variant is None:
            raise bad("engine", command, "a game that the Universal Chess Interface knows", game.identity)
        self.engine, self.go, self.history = Engine(command), go, history
        self.engine.ask("uci", "uciok")
        if game.uci_variant != STANDARD:
            self.engine.send(f"setoption name UCI_Variant value {game.uci_variant}")
        self.engine.ask("isready", "readyok")

    def begin(self, states: Array, keys: Array) -> None:
        super().begin(states, keys)
        self.moves: list[list[str]] = []
        for state in self.states:
            before = self.history(state)
            if before is None:
                raise bad("engine", self.engine.command, "games that begin at the start", self.game.to_text(state))
            self.moves.append(self._told(before))
        self.engine.send("ucinewgame")

    def choose(self, games: Array, ply: int) -> np.ndarray:
        return np.array([self._move(number) for number in plain(games).tolist()])

    def observe(self, games: Array, action: Array) -> None:
        for number, chosen in zip(plain(games).tolist(), plain(action).tolist(), strict=True):
            self.moves[number].append(self.game.uci_name(self.states[number], chosen))
        super().observe(games, action)

    def _told(self, names: str) -> list[str]:
        """Return moves from the start by the names of the interface."""
        told, states = [], self.game.start()[None]
        for action in self.game.parse_moves(names):
            told.append(self.game.uci_name(states[0], action))
            states = self.game.play(states, np.array([action]))
        return told

    def _move(self, number: int) -> int:
        state, told = self.states[number], self.moves[number]
        legal = np.flatnonzero(self.game.legal(state[None])[0]).tolist()
        names = {self.game.uci_name(state, action): action for action in legal}
        self.engine.send(" ".join(["position startpos", *(["moves", *told] if told else [])]))
        answer = self.engine.ask(f"go {self.go}", "bestmove")
        if len(answer) < 2 or answer[1] not in names:
            where = f"{self.engine.command}: move after {' '.join(told) or 'the start'}"
            raise bad("engine", where, f"one of {' '.join(names)}", " ".join(answer))
        return names[answer[1]]
