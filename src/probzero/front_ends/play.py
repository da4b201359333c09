"""A game in the terminal: a person and a player, two people, or two players.

Everything is lines: what a person types is a move or one of the words of `WORDS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.text import Text

from probzero.arena.players import Player
from probzero.errors import ProbZeroError
from probzero.front_ends import board, saved, screens
from probzero.front_ends.analysis import Judge, Thoughts, think
from probzero.front_ends.players import Contestant
from probzero.front_ends.positions import Line, action_of
from probzero.front_ends.thinkers import Thinker
from probzero.random_keys import key

WORDS = {
    "hint": "what the network thinks of your moves",
    "truth": "what is exactly true of them",
    "undo": "take your last move back",
    "moves": "the game so far",
    "save FILE": "keep the game in a file",
    "quit": "leave; the game is kept",
    "help": "these words",
}
MOST = 5  # moves of a player that are shown


@dataclass
class Session:
    """A game that is being played; a player that is None is a person at this terminal."""

    line: Line
    players: tuple[Contestant | None, Contestant | None]
    names: tuple[str, str]
    shown: Console
    ask: Callable[[str], str]  # reads a line
    keep: Path  # where the game is kept as it goes on
    judge: Judge
    hinter: Callable[[], Thinker | None]
    seed: int = 0
    asked: bool = field(default=False, init=False)
    kept: bool = field(default=False, init=False)

    def make_ready(self) -> None:
        """Make the players that may yet turn out not to be for this game."""
        for player in self.players:
            if player is not None and player.thinker is None:
                self._made(player)

    def run(self) -> bool:
        """Play on until the game is over or a person leaves; return whether it is over."""
        self._greet()
        while legal := self.line.legal():
            player = self.players[self.line.turn]
            if player is not None:
                self._let_play(player)
            elif len(legal) == 1 and not self.line.game.view(self.line.state).target:
                self._say(f"{self._side} can only {self.line.game.move_name(legal[0])}")
                self._play(legal[0])
            elif not self._ask_person():
                return False
        self._board()
        self._say_result()
        if self.kept:
            self.keep.unlink(missing_ok=True)
        return True

    @property
    def _side(self) -> str:
        return self.line.game.sides[self.line.turn]

    @cached_property
    def _ascii(self) -> bool:
        return screens.plain_letters(self.shown)

    def _say(self, text: str | Text, style: str = "") -> None:
        self.shown.print(text, style=style)

    def _greet(self) -> None:
        """Say who plays, and what a person may type."""
        sides = [board.side(self.line.game, turn, self._ascii).append(f": {self.names[turn]}") for turn in (0, 1)]
        self._say(Text("   ").join(sides))
        if None in self.players and (legal := self.line.legal()):
            self._say(f"Type a move, such as {self.line.game.move_name(legal[-1])}, or help.", "dim")

    def _board(self, mark: bool = False) -> None:
        last = self.line.actions[-1] if self.line.actions else None
        marks = self.line.legal() if mark else ()
        self._say("")
        self._say(
            board.drawn(self.line.game, self.line.state, self.line.turn, mark=marks, last=last, ascii=self._ascii)
        )
        if self.line.game.has_margin:
            self._say(board.counts(self.line.game, self.line.state, self.line.turn, self._ascii))

    def _play(self, action: int) -> None:
        self.line.play(action)
        try:
            saved.save(self.keep, self.line, self.names)
            self.kept = True
        except OSError as error:
            if not self.asked:
                self._say(f"the game cannot be kept: {error}", "yellow")
            self.asked = True

    def _let_play(self, player: Contestant) -> None:
        """Let a player that is no person make its move, and show what it thought."""
        if None not in self.players:
            self._board()
        thoughts: Thoughts | None = None
        first = "" if self.kept else " (once on a machine its loops are compiled)"
        with self.shown.status(f"{player.name} thinks …{first}"):
            if player.thinker is not None:
                thoughts = think(player.thinker, self.line.state)
                action = action_of(self.line.game, thoughts.best)
                assert action is not None
            else:
                action = self._chosen(player)
        said = Text.assemble(board.side(self.line.game, self.line.turn, self._ascii), f" ({player.name}) plays ")
        self._say(said.append(self.line.game.move_name(action), "bold"))
        if thoughts is not None:
            self.shown.print(screens.thoughts_shown(thoughts, self._side, ascii=self._ascii, most=MOST))
        self._play(action)

    def _chosen(self, player: Contestant) -> int:
        made: Player = self._made(player)
        made.begin(self.line.state[None], np.array([key("play", self.seed)], np.int64))
        return int(made.choose(np.array([0]), len(self.line.actions))[0])

    def _made(self, player: Contestant) -> Player:
        if player.name not in self._players_made:
            self._players_made[player.name] = player.make(self._history)
        return self._players_made[player.name]

    @cached_property
    def _players_made(self) -> dict[str, Player]:
        return {}

    def _history(self, state: np.ndarray) -> str | None:
        """Return the moves that led to the position at hand, if the game began at the start."""
        begun = np.array_equal(self.line.begin, self.line.game.start()) and np.array_equal(state, self.line.state)
        return self.line.moves if begun else None

    def _ask_person(self) -> bool:
        """Let the person move, or do what else is asked; return False to leave."""
        self._board(mark=True)
        while True:
            text = self.ask(f"{self._side} to move: ").strip()
            word, _, rest = text.partition(" ")
            action = action_of(self.line.game, text) if text else None
            if action is not None:
                try:
                    self._play(action)
                    return True
                except ProbZeroError as error:
                    self._say(str(error), "red")
            elif word in ("quit", "exit", "q"):
                return False
            elif word in ("undo", "u"):
                if self._take_back():
                    return True
                self._say("there is no move of yours to take back", "yellow")
            elif word in ("save", "s"):
                self._save(rest.strip())
            elif word in ("hint", "h", "truth", "t", "moves", "m"):
                self._tell(word[0])
            elif text:
                if word not in ("help", "?"):
                    self._say(f"no move, and no word: {text!r}", "red")
                self._help()

    def _take_back(self) -> bool:
        """Take moves back until it is a person's turn again; return whether there was one."""
        turns = [len(self.line.actions) - number for number in range(1, len(self.line.actions) + 1)]
        mine = [ply for ply in turns if self.players[ply % 2] is None]
        if not mine:
            return False
        while len(self.line.actions) > mine[0]:
            self.line.take_back()
        return True

    def _save(self, name: str) -> None:
        path = Path(name or "game.json")
        try:
            saved.save(path, self.line, self.names)
            self._say(f"kept in {path}: probzero play --load {path}")
        except OSError as error:
            self._say(f"not kept: {error}", "red")

    def _tell(self, what: str) -> None:
        if what == "m":
            self._say(self.line.moves or "none yet")
        elif what == "t":
            with self.shown.status("solving …"):
                truth = self.judge.truth(self.line.state)
            missing = "what is exactly true of this position is not to be found in some seconds"
            self._say(missing) if truth is None else self.shown.print(screens.truth_shown(truth))
        else:
            thinker = self.hinter()
            if thinker is None:
                self._say("there is no network of this game to ask", "yellow")
                return
            with self.shown.status("thinking …"):
                thoughts = think(thinker, self.line.state)
            self.shown.print(screens.thoughts_shown(thoughts, self._side, ascii=self._ascii))

    def _help(self) -> None:
        legal = self.line.game.move_names(self.line.legal())
        self._say(f"moves: {legal}")
        for word, meaning in WORDS.items():
            self._say(Text.assemble((f"{word:9} ", "bold"), meaning))

    def _say_result(self) -> None:
        game, state = self.line.game, self.line.state[None]
        outcome = int(game.outcome(state)[0])
        if outcome == 0:
            self._say("The game is drawn.", "bold")
            return
        turn = self.line.turn if outcome > 0 else 1 - self.line.turn
        by = f" by {abs(int(game.margin(state)[0]))}" if game.has_margin else ""
        self._say(Text.assemble(board.side(game, turn, self._ascii), f" ({self.names[turn]}) wins{by}."), "bold")
