"""The perfect player, and games against it by a side that has the win."""

from __future__ import annotations

import numpy as np
import pandas as pd
import torch

from probzero.arena.match import play_out
from probzero.arena.openings import random_openings
from probzero.arena.players import Player
from probzero.arena.simple_players import Follower
from probzero.games.bits import popcount
from probzero.games.othello import Othello
from probzero.random_keys import key, uniform
from probzero.truth.labels import Solver, best_moves


class PerfectPlayer(Follower):
    """Plays a move that keeps the exact margin; equal ones are decided by the game's key. Needs a solvable board."""

    def __init__(self, rules: Othello, threads: int = 1) -> None:
        super().__init__(rules)
        self.solver = Solver(rules.size, threads=threads)

    def choose(self, games: torch.Tensor, ply: int) -> torch.Tensor:
        positions = torch.stack([self.own[games], self.opp[games]], dim=1)
        distinct, which = positions.unique(dim=0, return_inverse=True)
        labels = self.solver.label(distinct[:, 0].numpy(), distinct[:, 1].numpy(), progress=False)
        good = torch.from_numpy(best_moves(labels))[which]
        chance = uniform((self.keys[games] ^ key("perfect", ply))[:, None], torch.arange(self.rules.actions))
        return torch.where(good, chance, -1.0).argmax(1)


def games_from_wins(
    rules: Othello, player: Player, openings: int, plies: int, from_start: int, seed: int
) -> pd.DataFrame:
    """Let `player` defend won positions against the perfect player; return a row per game.

    `from_start` games begin at the start (the side that has the win plays it, with different keys), the rest at random
    openings of `plies` plies that are not drawn. Columns: opening (−1: the start), phase, moves_first, margin and
    result for the player.
    """
    chosen = random_openings(rules, openings, plies, seed)
    start = np.array(rules.start(), dtype=np.int64)
    own = torch.from_numpy(np.r_[np.full(from_start, start[0]), chosen.own])
    opp = torch.from_numpy(np.r_[np.full(from_start, start[1]), chosen.opp])
    number = torch.cat([torch.full((from_start,), -1), torch.arange(openings)])
    perfect = PerfectPlayer(rules)
    result = perfect.solver.label(own.numpy(), opp.numpy(), margins=False, progress=False).result
    won = torch.from_numpy(result.astype(np.int64))
    decided = won != 0
    own, opp, number, won = own[decided], opp[decided], number[decided], won[decided]
    turn = (won < 0).long()  # the player moves first where the mover has the win
    keys = torch.tensor([key(seed, "perfect", game) for game in range(len(own))])
    last_own, last_opp, played = play_out(rules, own, opp, turn, (player, perfect), keys)
    to_move = (turn + (played >= 0).sum(1)) % 2  # 0: the player would be to move at the end
    margin = rules.margin(last_own, last_opp) * (1 - 2 * to_move)
    return pd.DataFrame(
        {
            "opening": number.tolist(),
            "phase": popcount(own | opp).tolist(),
            "moves_first": (1 - turn).tolist(),
            "margin": margin.tolist(),
            "result": margin.sign().tolist(),
        }
    )
