"""The perfect player, and games against it by a side that has the win."""

from __future__ import annotations

import numpy as np
import pandas as pd

from probzero.arena.match import final_score, play_out
from probzero.arena.openings import random_openings
from probzero.arena.players import Player
from probzero.arena.simple_players import Follower
from probzero.games.base import Game
from probzero.kinds import Array, plain
from probzero.random_keys import key, uniform
from probzero.truth.labels import Lookup, Solver, best_moves, check_solvable


class PerfectPlayer(Follower):
    """Plays a move that keeps the exact margin, or wins soonest and loses latest, or keeps the exact result.

    Equal ones are decided by the game's key. Needs a game that can be solved.
    """

    def __init__(self, game: Game, threads: int = 1, lookup: Lookup | None = None) -> None:
        super().__init__(game)
        check_solvable(game)
        self.solver = Solver(game, threads=threads, lookup=lookup)

    def choose(self, games: Array, ply: int) -> Array:
        games = plain(games)
        distinct, which = np.unique(self.states[games], axis=0, return_inverse=True)
        labels = self.solver.label(distinct, margins=self.game.has_margin or self.game.entry.has_tables)
        good = best_moves(labels)[which]
        chance = uniform((self.keys[games] ^ key("perfect", ply))[:, None], np.arange(self.game.actions))
        return np.where(good, chance, -1.0).argmax(1)


def games_from_wins(
    game: Game, player: Player, openings: int, plies: int, from_start: int, seed: int, lookup: Lookup | None = None
) -> pd.DataFrame:
    """Let `player` defend won positions against the perfect player; return a row per game.

    `from_start` games begin at the start (the side that has the win plays it, with different keys), the rest at random
    openings of `plies` plies that are not drawn. Columns: opening (−1: the start), phase, moves_first, margin (if the
    game has one) and result for the player.
    """
    chosen = random_openings(game, openings, plies, seed)
    states = np.concatenate([np.tile(game.start(), (from_start, 1)), chosen.states])
    number = np.concatenate([np.full(from_start, -1), np.arange(openings)])
    perfect = PerfectPlayer(game, lookup=lookup)
    result = perfect.solver.label(states, margins=False).result
    won = result.astype(np.int64)
    decided = won != 0
    begun, number, won = states[decided], number[decided], won[decided]
    turn = (won < 0).astype(np.int64)  # the player moves first where the mover has the win
    keys = np.array([key(seed, "perfect", row) for row in range(len(begun))], np.int64)
    ended, played = play_out(game, begun, turn, (player, perfect), keys)
    to_move = (turn + (played >= 0).sum(1)) % 2  # 0: the player would be to move at the end
    table = {
        "opening": number.tolist(),
        "phase": game.phase(begun).tolist(),
        "moves_first": (1 - turn).tolist(),
        **final_score(game, ended, 1 - 2 * to_move),
    }
    return pd.DataFrame(table)
