"""The Go Text Protocol, version 2, for every game: one line in, one answer out.

Vertices are the game's own names of moves, in capitals or not. Black is who moves first. Beside the protocol's commands
there are GoGui's `gogui-rules_…`, which tell a program the rules of any game, and three of our own:

probzero-player NAME        another player, as `probzero match` names them
probzero-position TEXT      a position as `probzero analyse` takes it; whose turn it is is Black
probzero-analyse            what the player thinks, move by move

An answer that begins with ? says in one line what was wrong, and changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from copy import copy

import numpy as np

from probzero import __version__
from probzero.errors import ProbZeroError
from probzero.front_ends.analysis import think
from probzero.front_ends.players import Contestant
from probzero.front_ends.positions import Line, action_of, read
from probzero.games import make
from probzero.games.base import Game

COLOURS = {"b": 0, "black": 0, "w": 1, "white": 1}  # who moves first and second
SIGNS, EMPTY = "XO", "."
PASS, KOMI = "pass", "komi"  # the protocol's words, where a game has them
NUMBER = re.compile(r"[-+]?\d{1,6}(\.\d{1,6})?", re.ASCII)
SHOWN = 8  # moves of an analysis
Words = list[str]


class Refusal(Exception):
    """What the protocol answers after its question mark."""


class Engine:
    """A game as far as it was played, and who moves for us. `player` makes a player of the game from its name."""

    def __init__(self, game: Game, player: Callable[[str], Contestant], name: str) -> None:
        self.game, self.player = game, player
        self.contestant = player(name)
        self.line, self.past = Line(game, game.start()), list[Line]()
        self.komi = float(game.options.get(KOMI, 0))
        self.quitting = False
        self.commands: dict[str, Callable[[Words], str]] = {
            "protocol_version": lambda words: "2",
            "name": lambda words: "ProbZero",
            "version": lambda words: __version__,
            "known_command": lambda words: "true" if words and words[0] in self.commands else "false",
            "list_commands": lambda words: "\n".join(self.commands),
            "quit": self._quit,
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "komi": self._komi,
            "play": self._play,
            "genmove": self._genmove,
            "reg_genmove": lambda words: self._named(self._choice(_colour(words))),
            "undo": self._undo,
            "showboard": lambda words: "\n" + self._board(),
            "final_score": self._final_score,
            "time_settings": lambda words: _accepted(words, 3),
            "time_left": lambda words: _accepted(words[1:], 2),
            "gogui-play_sequence": self._play_sequence,
            "gogui-rules_game_id": lambda words: self.game.name,
            "gogui-rules_board": lambda words: self._rows(),
            "gogui-rules_board_size": lambda words: f"{self.game.shape.width} {self.game.shape.height}",
            "gogui-rules_legal_moves": lambda words: " ".join(map(self._named, self.line.legal())),
            "gogui-rules_side_to_move": lambda words: ("black", "white")[self.line.turn],
            "gogui-rules_final_result": self._final_score,
            "probzero-player": self._set_player,
            "probzero-position": self._set_position,
            "probzero-analyse": self._analyse,
        }

    def answers(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the answers to lines until `quit`."""
        for line in lines:
            answer = self.answer(line)
            if answer is not None:
                yield answer
            if self.quitting:
                return

    def answer(self, line: str) -> str | None:
        """Return the answer to a line, with the empty line that ends it; None to a line without a command."""
        words = _words(line)
        if not words:
            return None
        number = words.pop(0) if re.fullmatch(r"\d+", words[0], re.ASCII) else ""
        try:
            if not words or words[0] not in self.commands:
                raise Refusal("unknown command")
            sign, text = "=", self.commands[words[0]](words[1:])
        except (Refusal, ProbZeroError) as error:
            sign, text = "?", " ".join(str(error).split())
        return f"{sign}{number} {text}".rstrip() + "\n\n"

    def _quit(self, words: Words) -> str:
        self.quitting = True
        return ""

    def _boardsize(self, words: Words) -> str:
        if not words or not re.fullmatch(r"\d{1,6}", words[0], re.ASCII):
            raise Refusal("syntax error: boardsize takes a whole number")
        if int(words[0]) not in self.game.shape[1:3]:
            height, width = self.game.shape[1:3]
            raise Refusal(f"unacceptable size: the board of {self.contestant.name} is {width}×{height}")
        return self._clear_board(words)

    def _clear_board(self, words: Words) -> str:
        self.line, self.past = Line(self.game, self.game.start()), []
        return ""

    def _komi(self, words: Words) -> str:
        """It counts in the score; the player thinks of the komi that it has learned with."""
        if not words or not NUMBER.fullmatch(words[0]):
            raise Refusal("syntax error: komi takes a number")
        self.komi = float(words[0])
        return ""

    def _play(self, words: Words) -> str:
        if len(words) < 2:
            raise Refusal("syntax error: play takes a colour and a vertex")
        colour, action = _colour(words), action_of(self.game, words[1])
        if action is None:
            raise Refusal(f"syntax error: {words[1]} is no vertex of {self.game.identity}")
        line = self._turned_to(colour)
        if action not in line.legal():
            raise Refusal(f"illegal move: {words[0]} {words[1]}" + ("" if line.legal() else ", the game is over"))
        line.play(action)
        self._go_on(line)
        return ""

    def _play_sequence(self, words: Words) -> str:
        before = self.line, self.past.copy()
        try:
            for place in range(0, len(words), 2):
                self._play(words[place : place + 2])
        except Refusal:
            self.line, self.past = before
            raise
        return ""

    def _genmove(self, words: Words) -> str:
        line = self._turned_to(_colour(words))
        action = self._choice(_colour(words))
        if line.legal():
            line.play(action)
            self._go_on(line)
        return self._named(action)

    def _choice(self, colour: int) -> int:
        """Return the player's move; after the end a pass, in games that know passes."""
        line = self._turned_to(colour)
        if not line.legal():
            passing = action_of(self.game, PASS)
            if passing is None:
                raise Refusal("the game is over")
            return passing
        player = self.contestant.make()
        player.begin(line.state[None], np.zeros(1, dtype=np.int64))
        return int(player.choose(np.arange(1), 0)[0])

    def _turned_to(self, colour: int) -> Line:
        """Return a copy of the game in which it is that colour's turn: the other one has passed, if it may.

        Two moves of one colour in a row are no fault of the protocol. Where a second pass would end the game, the one
        before it is taken back instead."""
        line = copy(self.line)
        line.states, line.actions = line.states.copy(), line.actions.copy()
        if line.turn == colour:
            return line
        passing = action_of(self.game, PASS)
        if passing is None or passing not in line.legal():
            raise Refusal("illegal move: it is the other colour's turn")
        line.play(passing)
        if not line.legal() and line.actions[-2:] == [passing, passing]:
            line.take_back()
            line.take_back()
        return line

    def _go_on(self, line: Line) -> None:
        self.past.append(self.line)
        self.line = line

    def _undo(self, words: Words) -> str:
        if not self.past:
            raise Refusal("cannot undo")
        self.line = self.past.pop()
        return ""

    def _final_score(self, words: Words) -> str:
        """Score the board as it stands, where games are won by a margin."""
        state = self.line.state[None]
        view = 1 if self.line.turn == 0 else -1
        if self.game.has_margin:
            options = self.game.options
            even = make(self.game.name, **options | {KOMI: 0}) if KOMI in options else self.game
            ahead = int(even.margin(state)[0]) * view - self.komi * (KOMI in options)
        elif self.game.finished(state)[0]:
            ahead = int(self.game.outcome(state)[0]) * view
        else:
            raise Refusal("cannot score: the game goes on")
        return "0" if ahead == 0 else f"{'B' if ahead > 0 else 'W'}+{abs(ahead):g}"

    def _rows(self) -> str:
        owner = self.game.view(self.line.state).owner * (1 if self.line.turn == 0 else -1)
        return "\n".join(" ".join({1: SIGNS[0], -1: SIGNS[1], 0: EMPTY}[one] for one in row) for row in owner.tolist())

    def _board(self) -> str:
        view = self.game.view(self.line.state)
        rows = [f"{name:>2} {row}" for name, row in zip(view.rows, self._rows().split("\n"), strict=True)]
        to_move = f"{SIGNS[self.line.turn]} to move" if self.line.legal() else "the game is over"
        return "\n".join(["   " + " ".join(view.columns).upper(), *rows, to_move])

    def _named(self, action: int) -> str:
        """Return the name of a move; those of squares are in capitals, as everywhere in the protocol."""
        name = self.game.move_name(action)
        return name.upper() if re.fullmatch(r"[a-z]\d+", name) else name

    def _set_player(self, words: Words) -> str:
        if not words:
            raise Refusal("syntax error: probzero-player takes a name")
        self.contestant = self.player(" ".join(words))
        return self.contestant.name

    def _set_position(self, words: Words) -> str:
        line = read(self.game, " ".join(words))
        self.line, self.past = Line(self.game, line.state), []
        return ""

    def _analyse(self, words: Words) -> str:
        if self.contestant.thinker is None or not self.line.legal():
            raise Refusal("nothing to think of: the game is over, or the player has no thoughts")
        found = think(self.contestant.thinker, self.line.state)
        moves = (f"{self._named(move.action)} {move.weight:.3f}" for move in found.moves[:SHOWN])
        return "\n".join([f"value {found.value:+.3f}", *moves])


def _words(line: str) -> Words:
    """Return the words of a line without its comment; control characters but tabs are nothing."""
    kept = "".join(one for one in line if one == "\t" or one.isprintable())
    return kept.split("#")[0].split()


def _colour(words: Words) -> int:
    if not words or words[0].lower() not in COLOURS:
        raise Refusal("syntax error: expected a colour, black or white")
    return COLOURS[words[0].lower()]


def _accepted(words: Words, count: int) -> str:
    """Take numbers that change nothing: a move takes as long as its particles do."""
    if len(words) != count or not all(NUMBER.fullmatch(word) for word in words):
        raise Refusal(f"syntax error: expected {count} numbers")
    return ""
