"""What a game is: pure functions over arrays of states, int64 [n, words].

A state is seen by the player to move; whose turn it is, is bookkeeping of those who play. Every game has two forms:

- the *array form*, the methods below, for numpy arrays and, unless the game says it has no tensor form, for torch
  tensors on any device alike;
- the *compiled form*, one state at a time, a template `games/compiled/<name>.py` (see `probzero.templates`) with the
  constants WORDS, MOVES, ACTIONS and the functions

      legal(state, moves) -> count      the legal moves, by rising action, written into moves [MOVES]
      play(state, move, out)            the next state, seen by the opponent; `out` may be `state` itself
      outcome(state) -> +1, 0, −1       for the player to move, in a finished game
      rank(state, moves, count)         rises along every move

  and, for the solver, those that `truth/solver.py` names.

`checks.check_game` says whether a game keeps these promises.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, wraps
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from probzero import templates
from probzero.errors import bad
from probzero.games.registry import GAMES, Entry, Option
from probzero.games.view import View, letters, numbers
from probzero.kinds import Array, cast, count_up, is_tensor, like, plain, space


class Shape(NamedTuple):
    """What a network must know of a game."""

    planes: int
    height: int
    width: int
    actions: int

    @property
    def squares(self) -> int:
        return self.height * self.width


class Symmetries(NamedTuple):
    """The S symmetries of a game, the identity first, as permutations."""

    squares: np.ndarray  # [S, H·W] the old square from which symmetry k fills each new square
    actions: np.ndarray  # [S, A] the same for actions


NUMBERS = 1 << 22  # entries for positions × actions that are held at a time, where the positions may be many
NO_VALUE = -128  # in the place of the value of an action that is not legal

ARRAY_FORM = ("legal", "play", "outcome", "rank", "encode", "turn", "finished", "phase", "margin")


class Game(ABC):
    """The rules of one game with its options."""

    name: ClassVar[str]
    version: ClassVar[int]  # changes when the rules' behaviour does; stored in checkpoints
    tensor_form: ClassVar[bool] = True  # whether the methods take torch tensors, as searches on GPUs need
    sides: ClassVar[tuple[str, str]] = ("First", "Second")  # what people call the two players
    uci_variant: str | None = None  # what programs that speak the Universal Chess Interface call it, if they know it

    words: int  # of a state
    word_bits: int = 64  # that a word uses at most
    word_names: tuple[str, ...]  # what they are called as columns of a table
    shape: Shape
    most_moves: int  # no position has more legal moves
    ranks: int  # every rank is below
    symmetries: Symmetries

    def __init__(self, **options: Option) -> None:
        self.options = options

    def __init_subclass__(cls, **keywords: Any) -> None:
        """A game without tensor form still takes tensors of a processor's memory, which numpy can see as arrays."""
        super().__init_subclass__(**keywords)
        for name in ARRAY_FORM if not cls.tensor_form else ():
            if name in vars(cls):
                setattr(cls, name, _through_arrays(vars(cls)[name]))

    def __repr__(self) -> str:
        return self.identity

    @property
    def actions(self) -> int:
        return self.shape.actions

    @property
    def identity(self) -> str:
        """Return name and options as one word."""
        return "-".join([self.name, *(f"{key}{value}" for key, value in sorted(self.options.items()))])

    @property
    def described(self) -> dict[str, Any]:
        """Return name and options as they stand in a configuration."""
        return {"name": self.name, **self.options}

    @property
    def entry(self) -> Entry:
        return GAMES[self.name]

    @property
    def longest_game(self) -> int:
        """An upper bound on plies."""
        return self.entry.longest_game(**self.options)

    @property
    def set_up(self) -> int:
        """How many plies at the beginning of every game chance plays."""
        return self.entry.set_up

    @property
    def has_margin(self) -> bool:
        """Whether games are won by a margin."""
        return self.entry.has_margin

    @property
    def solvable(self) -> bool:
        return self.entry.solvable(**self.options)

    @abstractmethod
    def start(self) -> np.ndarray:
        """Return the first state, int64 [words]."""

    @abstractmethod
    def legal(self, states: Array) -> Array:
        """Return which actions are legal, as booleans [n, A]; none is in a finished game."""

    @abstractmethod
    def play(self, states: Array, actions: Array) -> Array:
        """Return the next states [n, words], seen by the opponent; legality of actions [n] is not checked."""

    @abstractmethod
    def outcome(self, states: Array) -> Array:
        """Return +1, 0 or −1 [n] for the player to move, in finished games."""

    @abstractmethod
    def rank(self, states: Array, legal: Array) -> Array:
        """Return numbers [n] in 0 … ranks − 1 that rise along every move; legal [n, A] as above."""

    @abstractmethod
    def encode(self, states: Array) -> Array:
        """Return float32 planes [n, planes, H, W]."""

    @abstractmethod
    def decode(self, planes: np.ndarray) -> np.ndarray:
        """Return the states [n, words] whose planes [n, planes, H, W] these are."""

    @abstractmethod
    def turn(self, states: Array, k: Array) -> Array:
        """Return states [n, words] with row i turned by symmetry k[i]."""

    @abstractmethod
    def move_name(self, action: int) -> str:
        """Return the usual name of an action, a word without spaces."""

    @abstractmethod
    def to_text(self, state: np.ndarray) -> str:
        """Return the one-line notation of a state [words]."""

    @abstractmethod
    def from_text(self, text: str) -> np.ndarray:
        """Return the state [words] of a notation."""

    def view(self, state: np.ndarray) -> View:
        """Return a state [words] as people look at it.

        Own and opposing pieces are, unless a game says otherwise, the first two planes, and each of the first actions
        places one on the square of its number."""
        planes, (height, width) = self.encode(state[None])[0], self.shape[1:3]
        owner = (planes[0] > 0).astype(np.int8) - (planes[1] > 0).astype(np.int8)
        legal = np.flatnonzero(self.legal(state[None])[0]).tolist()
        target = {action: divmod(action, width) for action in legal if action < self.shape.squares}
        return View(owner, (("",) * width,) * height, numbers(height), letters(width), target)

    def uci_name(self, state: np.ndarray, action: int) -> str:
        """Return the name of an action at a state [words] by the Universal Chess Interface."""
        return self.move_name(action)

    def check_states(self, states: np.ndarray) -> None:  # noqa: B027 (by default any will do)
        """Refuse states [n, words] that are no positions of the game."""

    def finished(self, states: Array) -> Array:
        """Return whether games are over, as booleans [n]."""
        return self.legal(states).sum(-1) == 0

    def phase(self, states: Array) -> Array:
        """Return the stratum of positions [n] in which measurements sort them; here all are in one."""
        return states[..., 0] * 0

    def margin(self, states: Array) -> Array:
        """Return by how much the player to move is ahead [n], if games are won by a margin."""
        raise bad("game", self.identity, "one that is won by a margin", "one that is not")

    def known(self, states: np.ndarray) -> np.ndarray | None:
        """Return exact values int8 [n, A] of all moves, NO_VALUE elsewhere, if the game has tables of them.

        Their signs are results; of two wins the larger comes sooner, of two losses the larger later."""
        return None

    def canonical(self, states: Array) -> Array:
        """Return the one of each state's turned forms [n, words] that comes first, word by word."""
        best = states
        for k in range(1, len(self.symmetries.squares)):
            turned = self.turn(states, states[:, 0] * 0 + k)
            before, equal = states[:, 0] != states[:, 0], states[:, 0] == states[:, 0]
            for word in range(self.words):
                before = before | (equal & (turned[:, word] < best[:, word]))
                equal = equal & (turned[:, word] == best[:, word])
            best = turned * before[:, None] + best * ~before[:, None]
        return best

    def move_names(self, actions: Any) -> str:
        """Return the names of actions, separated by spaces."""
        return " ".join(self.move_name(int(action)) for action in actions)

    def parse_moves(self, names: str, where: object = "text") -> list[int]:
        """Return the actions that `move_names` wrote; `where` is what errors call the place of the names."""
        unknown = [name for name in names.split() if name not in self.actions_by_name]
        if unknown:
            raise bad("moves", f"{where}: {names!r}", f"names of moves of {self.identity}", unknown[0])
        return [self.actions_by_name[name] for name in names.split()]

    @cached_property
    def actions_by_name(self) -> dict[str, int]:
        return {self.move_name(action): action for action in range(self.actions)}

    @cached_property
    def rules(self) -> ModuleType:
        """Return the compiled form."""
        return templates.load(f"probzero.games.compiled.{self.name}", self.identity, **self.options)

    def loops(self, template: str) -> ModuleType:
        """Return a template of loops over the compiled form."""
        return templates.load(template, self.identity, rules=self.rules)


def _through_arrays(method: Callable[..., np.ndarray]) -> Callable[..., Any]:
    """Return a method that also takes tensors in the place of arrays, and then gives one."""

    @wraps(method)
    def wrapped(game: Game, *given: Any) -> Any:
        if not is_tensor(given[0]):
            return method(game, *given)
        return like(np.ascontiguousarray(method(game, *map(plain, given))), given[0])

    return wrapped


def count_moves(game: Game, states: np.ndarray) -> np.ndarray:
    """Return how many legal moves [n] states [n, words] have; there may be many, as they are taken part by part."""
    parts = [game.legal(states[part]).sum(1) for part in _parts(game, states)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def moves_of(game: Game, states: np.ndarray, most: int) -> np.ndarray:
    """Return what `list_moves` does of the legal moves of states [n, words], which are taken part by part, too."""
    moves = np.zeros((len(states), most), dtype=np.int64)
    for part in _parts(game, states):
        row, action = game.legal(states[part]).nonzero()
        slot = np.arange(len(row)) - np.searchsorted(row, row)
        first, fits = slot == 0, slot < most
        moves[part][row[first]] = action[first, None]
        moves[part][row[fits], slot[fits]] = action[fits]
    return moves


def _parts(game: Game, states: np.ndarray) -> list[slice]:
    together = max(1, NUMBERS // game.actions)
    return [slice(first, first + together) for first in range(0, len(states), together)]


def list_moves(legal: Array, most: int) -> Array:
    """Return the legal actions [n, most] of rows legal [n, A] by rising action.

    Each row is filled up with its first, and is all zeros if it has none."""
    order = space(legal).argsort(cast(~legal, "int8"), axis=1, stable=True)[:, :most]
    real = count_up(legal, order.shape[1]) < legal.sum(1, keepdims=True)
    return space(legal).where(real, order, order[:, :1])
