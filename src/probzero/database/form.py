"""How a game's positions become keys: the compiled loops for a game, and which games have them."""

from __future__ import annotations

from functools import cached_property
from types import ModuleType

import numpy as np

from probzero import templates
from probzero.errors import bad
from probzero.games.base import Game
from probzero.truth.labels import check_solvable

LOOPS = "probzero.database.loops"
MOST_BITS = 31  # of a word, so that a key is a whole number of 62 bits


class Form:
    """The keys of a game's positions."""

    def __init__(self, game: Game) -> None:
        self.game = game
        check_solvable(game)
        if game.words != 2 or game.word_bits > MOST_BITS:
            found = f"{game.words} words of {game.word_bits}"
            raise bad("database", game.identity, f"a state of two words of at most {MOST_BITS} bits", found)

    @cached_property
    def loops(self) -> ModuleType:
        given = {"bits": self.game.word_bits, "symmetries": len(self.game.symmetries.squares)}
        return templates.load(LOOPS, self.game.identity, rules=self.game.rules, **given)

    @cached_property
    def turned(self) -> np.ndarray:
        """Uint32 [chunks, 2^CHUNK, S]: what the bits of a word's chunk become under each symmetry."""
        bits, chunk, chunks = self.game.word_bits, self.loops.CHUNK, self.loops.CHUNKS
        values = np.arange(1 << chunk)
        table = np.zeros((chunks, 1 << chunk, len(self.game.symmetries.squares)), dtype=np.uint32)
        for k, sources in enumerate(self.game.symmetries.squares):
            for new, old in enumerate(sources[:bits]):
                held = (values >> old % chunk & 1).astype(np.uint32)
                table[old // chunk, :, k] |= held << np.uint32(new)
        return table

    def keys(self, states: np.ndarray) -> np.ndarray:
        """Return the keys int64 [n] of states [n, 2]."""
        found = np.empty(len(states), dtype=np.int64)
        self.loops.keys_of(np.ascontiguousarray(states), self.turned, found)
        return found

    def states(self, keys: np.ndarray) -> np.ndarray:
        """Return the states [n, 2] whose keys these are: of all turned forms the one that comes first."""
        return np.stack([keys >> self.game.word_bits, keys & (1 << self.game.word_bits) - 1], axis=1)
