"""Matches between two players: each opening is played twice, with sides swapped, all games side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from probzero.arena.openings import Openings, random_openings
from probzero.arena.players import Player
from probzero.config import Config
from probzero.games import make
from probzero.games.base import Game
from probzero.kinds import Array, plain
from probzero.random_keys import key

Named = tuple[str, Player]


def play_matches(config: Config, seed: int, player: Named, against: Sequence[Named]) -> pd.DataFrame:
    """Play one player against each of the others; return a row per game (see `play_match`)."""
    game, arena = make(config.game.name, **config.game.options), config.arena
    openings = random_openings(
        game, arena.openings, arena.opening_plies, key(config.experiment, seed, "openings", arena.opening_plies)
    )
    frames = [play_match(game, openings, player, opponent, (config.experiment, seed)) for opponent in against]
    return pd.concat(frames, ignore_index=True)


def play_match(game: Game, openings: Openings, one: Named, other: Named, keys: tuple[str | int, ...]) -> pd.DataFrame:
    """Play every opening twice; `one` goes on from it in the first game of each pair, `other` in the second.

    Columns: first and second (who moved first and second from the start), opening, opening_moves, moves, plies, margin
    (if the game has one) and result for the first.
    """
    pairs, plies = openings.moves.shape
    numbers = np.arange(2 * pairs)
    game_keys = np.array([key(*keys, "match", one[0], other[0], int(number)) for number in numbers], np.int64)
    opening_turn = numbers % 2
    states = openings.states.repeat(2, axis=0)
    states, played = play_out(game, states, opening_turn, (one[1], other[1]), game_keys)
    count = (played >= 0).sum(1)
    view = np.where((count + plies) % 2 == 0, 1, -1)  # the first is to move at even plies
    ahead = (opening_turn == 0) == (plies % 2 == 0)
    table = {
        "first": [one[0] if yes else other[0] for yes in ahead.tolist()],
        "second": [other[0] if yes else one[0] for yes in ahead.tolist()],
        "opening": (numbers // 2).tolist(),
        "opening_moves": [game.move_names(openings.moves[number // 2]) for number in numbers.tolist()],
        "moves": [game.move_names(row[row >= 0]) for row in played],
        "plies": (count + plies).tolist(),
        **final_score(game, states, view),
    }
    return pd.DataFrame(table)


def final_score(game: Game, states: Array, view: Array) -> dict[str, list[int]]:
    """Return columns margin, if there is one, and result of finished games [G, words].

    They speak for the player to move where view [G] is 1, for the opponent where it is −1.
    """
    margin = {"margin": (game.margin(states) * view).tolist()} if game.has_margin else {}
    return {**margin, "result": (game.outcome(states) * view).tolist()}


def play_out(
    game: Game, states: Array, opening_turn: Array, players: tuple[Player, Player], keys: Array
) -> tuple[np.ndarray, np.ndarray]:
    """Play states [G, words] to their ends; opening_turn [G] says which of the two players moves first in each game.

    Returns the final states [G, words], seen by whoever would be to move, and the actions [G, plies], −1 after the end.
    """
    states, opening_turn, keys = plain(states).copy(), plain(opening_turn), plain(keys)
    for player in players:
        player.begin(states, keys)
    games = np.arange(len(states))
    moves: list[np.ndarray] = []
    going = games[~game.finished(states)]
    while len(going):
        action = np.full_like(games, -1)
        for side, player in enumerate(players):
            turn = going[(opening_turn[going] + len(moves)) % 2 == side]
            if len(turn):
                action[turn] = plain(player.choose(turn, len(moves)))
        for player in players:
            player.observe(going, action[going])
        states[going] = game.play(states[going], action[going])
        moves.append(action)
        going = going[~game.finished(states[going])]
    return states, np.stack(moves, axis=1) if moves else games[:, None][:, :0]
