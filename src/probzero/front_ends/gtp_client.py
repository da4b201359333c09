"""A program that speaks the Go Text Protocol (version 2) as a player: GNU Go, or any other engine.

One process plays all games: before each of its moves it is told the game from the start. Moves are called as the game
calls them, in capitals or not; the board is set up with `boardsize`, `clear_board` and, where there is one, `komi`.
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
from probzero.front_ends.positions import action_of
from probzero.games.base import Game
from probzero.kinds import Array, plain

PATIENCE = 120.0  # seconds for one answer
COLOURS = ("black", "white")  # of who moves first and second
GIVEN_UP = "resign"


class Engine:
    """The process, and its answers. It is ended with the object."""

    def __init__(self, command: str, patience: float = PATIENCE) -> None:
        self.command, self.patience = command, patience
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
            self._lines.put(line.rstrip("\r\n"))
        self._lines.put(None)

    def send(self, command: str) -> str:
        """Return the answer to a command; an error that the engine gives, or silence, is ours."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except OSError:
            raise self._wrong(command, "nothing: it has ended") from None
        answer: list[str] = []
        while True:
            try:
                line = self._lines.get(timeout=self.patience)
            except Empty:
                raise self._wrong(command, f"nothing for {self.patience:.0f} s") from None
            if line is None:
                raise self._wrong(command, "nothing: it has ended")
            if line.strip():
                answer.append(line.strip())
            elif answer:  # an empty line ends an answer
                break
        if not answer[0].startswith("="):
            raise self._wrong(command, " ".join(answer)[:200])
        return " ".join([answer[0][1:].strip(), *answer[1:]]).strip()

    def _wrong(self, command: str, found: str) -> ProbZeroError:
        return bad("engine", f"{self.command}: {command}", "an answer that begins with =", found)

    def end(self) -> None:
        with suppress(OSError):
            self.process.kill()
            self.process.wait()

    def __del__(self) -> None:
        if hasattr(self, "process"):
            self.end()


class GtpPlayer(Follower):
    """The engine as a player; `history` gives the moves that led from the start to where a game begins."""

    def __init__(self, game: Game, command: str, history: Callable[[np.ndarray], str | None]) -> None:
        super().__init__(game)
        self.engine, self.history = Engine(command), history
        self.engine.send(f"boardsize {game.shape.height}")

    def begin(self, states: Array, keys: Array) -> None:
        super().begin(states, keys)
        self.moves: list[list[str]] = []
        for state in self.states:
            before = self.history(state)
            if before is None:
                raise bad("engine", self.engine.command, "games that begin at the start", self.game.to_text(state))
            self.moves.append(before.split())

    def choose(self, games: Array, ply: int) -> np.ndarray:
        return np.array([self._move(int(number)) for number in plain(games)])

    def observe(self, games: Array, action: Array) -> None:
        super().observe(games, action)
        for number, chosen in zip(plain(games).tolist(), plain(action).tolist(), strict=True):
            self.moves[number].append(self.game.move_name(chosen))

    def _move(self, number: int) -> int:
        """Tell the engine the game and return its move."""
        told = self.moves[number]
        self.engine.send("clear_board")
        komi = self.game.options.get("komi")
        if komi is not None:
            self.engine.send(f"komi {komi}")
        for ply, move in enumerate(told):
            self.engine.send(f"play {COLOURS[ply % 2]} {move}")
        answer = self.engine.send(f"genmove {COLOURS[len(told) % 2]}")
        action = action_of(self.game, answer)
        legal = self.game.legal(self.states[number][None])[0]
        if answer.lower() == GIVEN_UP:
            return self._plays_on(legal)
        if action is None or not legal[action]:
            expected = f"one of {self.game.move_names(np.flatnonzero(legal))}"
            raise bad("engine", f"{self.engine.command}: move after {' '.join(told) or 'the start'}", expected, answer)
        return action

    def _plays_on(self, legal: np.ndarray) -> int:
        """Return a legal move for an engine that gives up: games are played to their ends. It passes if it can."""
        passing = self.game.actions_by_name.get("pass")
        return passing if passing is not None and legal[passing] else int(np.flatnonzero(legal)[0])
