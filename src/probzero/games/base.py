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
from probzero.games.registry import GAMES, Entry
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


ARRAY_FORM = ("legal", "play", "outcome", "rank", "encode", "turn", "finished", "phase", "margin")


class Game(ABC):
    """The rules of one game with its options."""

    name: ClassVar[str]
    version: ClassVar[int]  # changes when the rules' behaviour does; stored in checkpoints
    tensor_form: ClassVar[bool] = True  # whether the methods take torch tensors, as searches on GPUs need

    words: int  # of a state
    word_bits: int = 64  # that a word uses at most
    word_names: tuple[str, ...]  # what they are called as columns of a table
    shape: Shape
    most_moves: int  # no position has more legal moves
    ranks: int  # every rank is below
    symmetries: Symmetries

    def __init__(self, **options: int) -> None:
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
        unknown = [name for name in names.split() if name not in self._actions_by_name]
        if unknown:
            raise bad("moves", f"{where}: {names!r}", f"names of moves of {self.identity}", unknown[0])
        return [self._actions_by_name[name] for name in names.split()]

    @cached_property
    def _actions_by_name(self) -> dict[str, int]:
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


def list_moves(legal: Array, most: int) -> Array:
    """Return the legal actions [n, most] of rows legal [n, A] by rising action.

    Each row is filled up with its first, and is all zeros if it has none."""
    order = space(legal).argsort(cast(~legal, "int8"), axis=1, stable=True)[:, :most]
    real = count_up(legal, order.shape[1]) < legal.sum(1, keepdims=True)
    return space(legal).where(real, order, order[:, :1])
