"""Matches between two players that people name: paired openings, all games side by side."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd

from probzero.arena.match import play_match
from probzero.arena.openings import random_openings
from probzero.arena.players import Player
from probzero.front_ends.players import Contestant
from probzero.kinds import Array
from probzero.random_keys import key

OPENING_PLIES = 4  # random plies that every pair of games begins with
Tell = Callable[[int], None]  # is told how many games are over


class Watched:
    """A player who tells how many of its games are over."""

    def __init__(self, player: Player, tell: Tell) -> None:
        self.player, self.tell = player, tell

    def begin(self, states: Array, keys: Array) -> None:
        self.games = len(states)
        self.player.begin(states, keys)

    def choose(self, games: Array, ply: int) -> Array:
        return self.player.choose(games, ply)

    def observe(self, games: Array, action: Array) -> None:
        self.tell(self.games - len(games))
        self.player.observe(games, action)


def play(one: Contestant, other: Contestant, pairs: int, plies: int, seed: int, tell: Tell) -> pd.DataFrame:
    """Return the record (`arena.match.play_match`) of a match: each of `pairs` openings twice, with sides swapped."""
    game = one.game
    openings = random_openings(game, pairs, plies, key("match", seed, "openings", plies))
    lines = {
        state.tobytes(): game.move_names(moves) for state, moves in zip(openings.states, openings.moves, strict=True)
    }
    first, second = (player.make(lambda state: lines.get(state.tobytes())) for player in (one, other))
    named = (in_record(one.name), Watched(first, tell)), (in_record(other.name), second)
    return play_match(game, openings, *named, ("match", seed))


def in_record(name: str) -> str:
    """Return what a player is called in a record and in the name of its file."""
    return re.sub(r"[^\w.]+", "-", name).strip("-")
