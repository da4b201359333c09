"""Evaluators and set-up shared by the tests of the search."""

from __future__ import annotations

from typing import Any

import torch

from probzero.config import Search
from probzero.games.othello import Othello, othello
from probzero.network.inference import Evaluation
from probzero.random_keys import key, mix, uniform
from probzero.search.build import ALGORITHMS
from probzero.search.choice import sample
from probzero.search.evaluation import Evaluate, remembered
from probzero.search.tree import Tree

CPU = torch.device("cpu")
SYSTEMATIC = Search(splitting="systematic", temperature=1.0, cache=False)


def invented(rules: Othello, sharpness: float = 3.0) -> Evaluate:
    """An evaluator whose numbers are a hash of the position: arbitrary, but the same wherever it is asked."""

    def evaluate(own: torch.Tensor, opp: torch.Tensor, legal: torch.Tensor) -> Evaluation:
        column = torch.arange(rules.actions + 6)
        drawn = uniform(mix(own, opp)[:, None], column[None, :]).float() * sharpness
        prior = torch.where(legal, drawn[:, : rules.actions], -torch.inf).softmax(1)
        return Evaluation(prior, drawn[:, -6:-3].softmax(1), drawn[:, -3:].softmax(1))

    return evaluate


def searching(
    size: int = 5,
    games: int = 3,
    evaluate: Evaluate | None = None,
    settings: Search = SYSTEMATIC,
    capacity: int = 40_000,
    keys: list[int] | None = None,
    in_step: bool = False,
) -> Any:
    """A search at the start of `games` games; `in_step` takes the tensor operations that other devices would take."""
    rules = othello(size)
    tree = Tree(rules, games, capacity, "capacity", CPU, settings.transpositions, in_step)
    tree.game_key[:] = torch.tensor(keys if keys is not None else [key("test", game) for game in range(games)])
    evaluate = evaluate or invented(rules)
    evaluate = remembered(evaluate, settings, rules.actions, capacity, CPU)
    search = ALGORITHMS[settings.algorithm](tree, evaluate, settings)
    all_games = torch.arange(games)
    black, white = rules.start()
    search.start(all_games, torch.full_like(all_games, black), torch.full_like(all_games, white))
    return search


def played(search: Any, games: torch.Tensor, exploration: float, ply: int) -> torch.Tensor:
    """Draw the moves [n] of games [n] as self-play does."""
    return sample(search.moves(games), search.tree.game_key[games], ply, exploration=exploration)
