"""Evaluators and set-up shared by the tests of the search."""

from __future__ import annotations

from typing import Any

import torch

from probzero import games as known_games
from probzero.arms import ARMS, load
from probzero.config import Search
from probzero.games.base import Game
from probzero.kernels.backup import reference as backup
from probzero.kernels.winner_prob import reference as winner_prob
from probzero.network.inference import Evaluation
from probzero.random_keys import key, mix, uniform
from probzero.search.backends.base import Backend
from probzero.search.backends.compiled import CompiledBackend
from probzero.search.backends.tensor import Kernels, TensorBackend
from probzero.search.choice import sample
from probzero.search.evaluation import CachedEvaluation, Evaluate
from probzero.search.graph import Graph

CPU = torch.device("cpu")
SYSTEMATIC = Search(splitting="systematic", temperature=1.0, cache=False)


def invented(rules: Game, sharpness: float = 3.0) -> Evaluate:
    """An evaluator whose numbers are a hash of the position: arbitrary, but the same wherever it is asked."""

    def evaluate(states: torch.Tensor, moves: torch.Tensor) -> Evaluation:
        column = torch.arange(rules.actions + 6)
        drawn = uniform(mix(*states.unbind(1))[:, None], column[None, :]).float() * sharpness
        legal = torch.zeros(len(states), rules.actions, dtype=torch.bool).scatter_(1, moves, True)
        prior = torch.where(legal, drawn[:, : rules.actions], -torch.inf).softmax(1).gather(1, moves)
        return Evaluation(prior, drawn[:, -6:-3].softmax(1), drawn[:, -3:].softmax(1))

    return evaluate


def reference_kernels() -> Kernels:
    """The plain forms of the kernels, for the tensor backend on a processor."""

    def run(graph: Any, nodes: torch.Tensor, games: torch.Tensor, temperature: float) -> None:
        levels = graph.rank[nodes].unique_consecutive(return_counts=True)[1].tolist()
        backup.backup(graph, nodes, levels, temperature)

    return Kernels(winner_prob.winner_prob, run)


def searching(
    size: int = 5,
    games: int = 3,
    evaluate: Evaluate | None = None,
    settings: Search = SYSTEMATIC,
    capacity: int = 40_000,
    keys: list[int] | None = None,
    in_step: bool = False,
    rules: Game | None = None,
) -> Any:
    """A search at the start of `games` games; `in_step` takes the tensor operations that other devices would take."""
    rules = rules or known_games.make("othello", size=size)
    backend: Backend = TensorBackend(rules, CPU, reference_kernels()) if in_step else CompiledBackend(rules)
    graph = Graph(backend, games, capacity, "capacity", settings.transpositions)
    graph.game_key[:] = torch.tensor(keys if keys is not None else [key("test", game) for game in range(games)])
    evaluate = evaluate or invented(rules)
    if settings.cache:
        evaluate = CachedEvaluation(evaluate, backend, capacity)
    search = load(ARMS[settings.algorithm].search)(graph, evaluate, settings)
    search.start(torch.arange(games), torch.from_numpy(rules.start()).repeat(games, 1))
    return search


def played(search: Any, games: torch.Tensor, exploration: float, ply: int) -> torch.Tensor:
    """Draw the moves [n] of games [n] as self-play does."""
    return sample(search.moves(games), search.graph.game_key[games], ply, exploration=exploration)
