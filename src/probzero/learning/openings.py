"""Where the games of self-play begin: after some random plies, or shortly before the end of a random game."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probzero.config import SelfPlay
from probzero.games.base import Game
from probzero.games.random_play import play_randomly
from probzero.kinds import cast
from probzero.random_keys import key, uniform

TRIES = 1000  # random games from an opening, for one that somebody wins


class Opening(NamedTuple):
    """Where games begin, seen by the player to move."""

    states: np.ndarray  # [G, W]
    moves: np.ndarray  # [G, plies] actions, those that are not −1


def openings(game: Game, settings: SelfPlay, keys: np.ndarray) -> Opening:
    """Return where the games with these keys [G] begin."""
    opening = after_random_plies(game, settings.random_plies, keys)
    return near_ends(game, opening, settings, keys) if settings.near_end > 0 else opening


def after_random_plies(game: Game, most: int, keys: np.ndarray) -> Opening:
    """Play between 0 and `most` random plies in each game, as its key says, stopping short of a finished game.

    The game's set-up is always played to its end."""
    actions = np.arange(game.actions)
    wanted = cast(uniform(keys ^ key("random plies")) * (most + 1), "int64")

    def draw(ply: int, part: range) -> np.ndarray:
        return uniform((keys[part] ^ key("random ply", ply))[:, None], actions)

    played = play_randomly(game, len(keys), most, draw)
    unfinished = ~game.finished(played.states.reshape(-1, game.words)).reshape(most + 1, -1)
    plies = np.minimum(np.maximum(wanted, game.set_up), unfinished.sum(0) - 1)
    states = played.states[plies, np.arange(len(keys))]
    moves = np.where(np.arange(most) < plies[:, None], played.action.T, -1)
    return Opening(states, moves)


def near_ends(game: Game, opening: Opening, settings: SelfPlay, keys: np.ndarray) -> Opening:
    """Let a share of the games begin near the end of a random game that somebody wins; leave the others as they are.

    From the opening random games are played until somebody wins one. Of that, 1 to `near_end_plies` plies are taken
    back, as the key says, but none of the opening, which also stays where all TRIES are drawn. So the first network
    meets ends that it could not bring about, and how to get there is learned from the end backwards.
    """
    chosen = np.flatnonzero(uniform(keys ^ key("near the end")) < settings.near_end)
    back = 1 + cast(uniform(keys[chosen] ^ key("plies back")) * settings.near_end_plies, "int64")
    states, longest = opening.states.copy(), game.longest_game
    moves, plies = np.full((len(keys), longest), -1, dtype=np.int64), np.empty(len(chosen), dtype=np.int64)
    found = np.empty((len(chosen), longest), dtype=np.int64)
    loops = game.loops("probzero.learning.random_wins")
    loops.first_won(states[chosen], keys[chosen] ^ key("random games"), TRIES, found, plies)
    kept = np.maximum(plies - back, 0)
    moves[chosen] = np.where(np.arange(longest) < kept[:, None], found, -1)
    for ply in range(kept.max(initial=0)):
        going = np.flatnonzero(moves[:, ply] >= 0)
        states[going] = game.play(states[going], moves[going, ply])
    return Opening(states, np.concatenate([opening.moves, moves[:, : kept.max(initial=0)]], axis=1))
