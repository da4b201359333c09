"""UCT's estimate of a leaf: the result of one game of random moves from there, for all leaves at once."""

from __future__ import annotations

import torch

from probzero import wdl
from probzero.games.othello import Othello
from probzero.network.inference import Evaluation
from probzero.random_keys import key, uniform
from probzero.search.mcts import MctsSearch


def random_results(rules: Othello, own: torch.Tensor, opp: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """Return the results [n] (+1, 0, −1, for the players to move) of random games from positions [n].

    All games go on in step; keys [n] are their roots of randomness.
    """
    actions = torch.arange(rules.actions, device=own.device)
    sign = torch.ones_like(own)
    result = torch.zeros_like(own)
    rows = torch.arange(len(own), device=own.device)
    for ply in range(rules.longest_game + 1):
        legal = rules.legal(own, opp)
        over = ~legal.any(1)
        if over.any():
            result[rows[over]] = sign[over] * rules.result(own[over], opp[over])
            rows, own, opp, keys, sign, legal = (part[~over] for part in (rows, own, opp, keys, sign, legal))
        if not len(rows):
            break
        drawn = uniform((keys ^ key("playout", ply))[:, None], actions)
        action = torch.where(legal, drawn, -1.0).argmax(1)
        own, opp = rules.place(own, opp, action)
        sign = -sign
    return result


class UctSearch(MctsSearch):
    """MCTS with playouts in the place of a network."""

    def estimate(self, nodes: torch.Tensor, own: torch.Tensor, opp: torch.Tensor, legal: torch.Tensor) -> Evaluation:
        """Return the results of playouts; the priors are random: UCB1 takes from them only which move to try first."""
        keys = self.tree.key[nodes]
        value = wdl.from_result(random_results(self.tree.rules, own, opp, keys))
        drawn = uniform((keys ^ key("order"))[:, None], torch.arange(legal.shape[1], device=own.device))
        prior = torch.where(legal, drawn + 1e-3, 0.0)
        return Evaluation((prior / prior.sum(1, keepdim=True)).float(), value, value)
